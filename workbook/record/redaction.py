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


class Secrets(tuple[str, ...]):
    """Texts that must never be written, and where in a text they may be.

    Most texts hold no secret, and show it: they have none of the `signs`.
    """

    def __new__(cls, secrets: Iterable[str] = ()) -> Secrets:
        return super().__new__(cls, _longest_first(tuple(secrets)))

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self.signs = ("k-", "Bearer ", "\\u", *dict.fromkeys(map(_sign_of, self)))
        several = [secret for secret in self if len(secret.split()) > 1]
        self._heads = tuple(s[:end] for s in several for end in range(1, len(s)))
        self._lines = tuple(head for head in self._heads if head.endswith("\n"))

    def may_be_in(self, text: str) -> bool:
        """Say whether a text has one of the signs without which there is no secret."""
        return any(map(text.__contains__, self.signs))  # asked of each event

    def out_of(self, text: str) -> str:
        """Return a text without them."""
        return redact(text, self) if self.may_be_in(text) else text

    def out_of_data(self, value: Any) -> Any:
        """Return JSON data without them, in its names, texts and numbers."""
        if isinstance(value, dict):
            return {
                redact(name, self): self.out_of_data(each)
                for name, each in value.items()
            }
        if isinstance(value, list):
            return [self.out_of_data(each) for each in value]
        safe = redact(str(value), self)
        return value if safe == str(value) else safe

    def begun_in(self, text: str) -> str:
        """Return the end of a text in which one may have begun that is not whole yet.

        Behind the end of a line, that is one of several lines; otherwise it is the last
        two words ("Bearer …"), or more, where one of several words began before them.
        """
        ends_a_line = text.endswith("\n")
        if ends_a_line and not text.endswith(self._lines):
            return ""
        heads = [head for head in self._heads if text.endswith(head)]
        words = 0 if ends_a_line else len(" ".join(text.rsplit(" ", 2)[-2:]))
        begin = len(text) - max([words, *map(len, heads)])
        apart = self.out_of(text[:begin]) + self.out_of(text[begin:])
        return text[begin:] if apart == self.out_of(text) else text  # one ends in it


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
    return _KEY_SHAPES.sub(HIDDEN, text)


def _sign_of(secret: str) -> str:
    """Return the longest part of a secret that JSON writes in one way, or a code."""
    return max(_ONE_WAY.findall(secret), key=len, default="")


_ONE_WAY = re.compile(r'[^"\\/\x00-\x1f\x7f-\U0010ffff]+')


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
