"""Secrets taken out of what is written, however JSON may spell them.

A tool's text is often the JSON of its result, and a model quotes both: so a key that is
"sk-…" in one event is "\\u0073k-…" in another. What is encoded otherwise is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

_SECRET_NAMES = re.compile(
    r"SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_KEY"
    r"|(?:^|_)(?:KEY|TOKEN|PASS|PAT)S?(?:_?\d+)?$|_PWD$",
    re.IGNORECASE,
)


HIDDEN = "[secret]"
"""What stands where a secret was."""


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that must never be written: keys, tokens, passwords."""
    return tuple(
        value.strip()
        for name, value in environ.items()
        if _SECRET_NAMES.search(name) and len(value.strip()) >= 8
    )


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace every secret, and what is shaped like an API key.

    Where there is a backslash, the text may be JSON, or JSON in JSON: there a secret is
    found in whatever way its characters are escaped.
    """
    known = tuple(secrets)
    if "\\" in text:
        for pattern in _patterns(known):
            text = pattern.sub(HIDDEN, text)
    else:
        for secret in _longest_first(known):
            text = text.replace(secret, HIDDEN)
    return _KEY_SHAPES.sub(HIDDEN, text) if may_hold_a_key(text) else text


def may_hold_a_key(text: str) -> bool:
    """Say whether a text has one of the signs without which there is no key."""
    return "k-" in text or "Bearer " in text or "\\u" in text


@lru_cache
def _longest_first(secrets: tuple[str, ...]) -> list[str]:
    """Return secrets without an empty one; the longest may hold another."""
    return sorted(filter(None, secrets), key=len, reverse=True)


@lru_cache
def _patterns(secrets: tuple[str, ...]) -> list[re.Pattern[str]]:
    """Return what finds each secret, its characters escaped or not."""
    return [
        re.compile("|".join(first + _spelled(secret[1:]) for first in _ways(secret[0])))
        for secret in _longest_first(secrets)
    ]


def _ways(char: str) -> list[str]:
    """Return patterns of one character: as it is, as `\\u0041`, perhaps as `\\n`.

    JSON in JSON has a backslash three times, or seven; up to 15 are looked for.
    """
    units = char.encode("utf-16-be", "surrogatepass").hex()
    codes = [units[at : at + 4] for at in range(0, len(units), 4)]
    ways = ["".join(rf"\\\\{{0,14}}u(?i:{code})" for code in codes), re.escape(char)]
    if char in '"\\/':
        ways.append(r"\\\\{0,14}" + ways[1])
    if char in _SHORT:
        ways.append(r"\\\\{0,14}" + _SHORT[char])
    return ways


def _spelled(text: str) -> str:
    return "".join(f"(?:{'|'.join(_ways(char))})" for char in text)


_SHORT = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f"}
_EDGE = r"(?:\b|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"  # "…\nsk-…" has one too
_CODE = r"\\{1,15}u00(?i:2d|3\d|[4-7][0-9a-f])"
_KEY_SHAPES = re.compile(
    rf"(?:{_EDGE}[spr]|\\{{1,15}}u007[023]){_spelled('k-')}(?:[\w-]|{_CODE}){{16,}}"
    rf"|(?:{_EDGE}B|\\{{1,15}}u0042){_spelled('earer ')}"
    rf"(?:[\w.~+/-]|\\{{1,15}}/|{_CODE}){{12,}}=*",
    re.ASCII,
)


def redacted(value: Any, secrets: Iterable[str]) -> Any:
    """Return JSON data without the secrets in its names, texts and numbers."""
    if isinstance(value, dict):
        return {redact(k, secrets): redacted(v, secrets) for k, v in value.items()}
    if isinstance(value, list):
        return [redacted(each, secrets) for each in value]
    safe = redact(str(value), secrets)
    return value if safe == str(value) else safe
