"""Secrets taken out of what is written, however JSON may spell them.

A tool's text is often the JSON of its result, and a model quotes both: so a key that is
"sk-…" in one event is "\\u0073k-…" in another. What is encoded otherwise is not found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

HIDDEN = "[secret]"
"""What is written in place of a secret."""

_SECRET_NAMES = re.compile(
    r"SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_KEY"
    r"|(?:^|_)(?:KEY|TOKEN|PASS|PAT)S?(?:_?\d+)?$|_PWD$",
    re.IGNORECASE,
)


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that must never be written: keys, tokens, passwords."""
    return tuple(
        value.strip()
        for name, value in environ.items()
        if _SECRET_NAMES.search(name) and len(value.strip()) >= 8
    )


class Secrets(tuple[str, ...]):
    """Texts that must never be written; the longest first, for it may hold another.

    Most texts hold no secret, and show it: they have none of the signs. A sign is the
    longest part of a secret that JSON spells in one way.
    """

    def __new__(cls, secrets: Iterable[str] = ()) -> Secrets:
        by_length = sorted(filter(None, secrets), key=len, reverse=True)
        return super().__new__(cls, by_length)

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        parts = [_ONE_WAY.findall(secret) for secret in self]
        signs = [max(each, key=len, default="") for each in parts]
        self._signs = ["k-", "Bearer ", "\\u", *signs]
        self._first_lines = tuple(
            secret[: end.end()] for secret in self for end in re.finditer("\n", secret)
        )

    def may_be_in(self, text: str) -> bool:
        """Say whether a text has one of the signs without which there is no secret."""
        return any(map(text.__contains__, self._signs))

    def out_of(self, text: str) -> str:
        """Return a text without them, and without what is shaped like an API key.

        Where there is a backslash, the text may be JSON, or JSON in JSON: there a
        secret is found in whatever way its characters are escaped.
        """
        if not self.may_be_in(text):
            return text
        if "\\" in text:
            for pattern in _patterns(self):
                text = pattern.sub(HIDDEN, text)
        else:
            for secret in self:
                text = text.replace(secret, HIDDEN)
        return _KEY_SHAPES.sub(HIDDEN, text)

    def out_of_data(self, value: Any) -> Any:
        """Return JSON data without them, in its names, texts and numbers."""
        if isinstance(value, dict):
            return {self.out_of(n): self.out_of_data(v) for n, v in value.items()}
        if isinstance(value, list):
            return [self.out_of_data(each) for each in value]
        safe = self.out_of(str(value))
        return value if safe == str(value) else safe

    def begun_in(self, text: str) -> str:
        """Return the end of a text in which one may have begun that is not whole yet.

        That is its last line, with those before it that begin one of several lines.
        """
        line = text.rfind("\n") + 1
        lines = [s for s in self._first_lines if text.endswith(s, 0, line)]
        begin = line - max(map(len, lines), default=0)
        apart = self.out_of(text[:begin]) + self.out_of(text[begin:])
        return text[begin:] if apart == self.out_of(text) else text  # one ends in it


_ONE_WAY = re.compile(r'[^"\\/\x00-\x1f\x7f-\U0010ffff]+')  # in JSON, or else a code
_SHORT = {"\n": "n", "\t": "t", "\r": "r", "\b": "b", "\f": "f"}


@lru_cache
def _patterns(secrets: Secrets) -> list[re.Pattern[str]]:
    """Return what finds each secret, its characters escaped or not."""
    return [re.compile(_spelled(secret)) for secret in secrets]


def _spelled(text: str) -> str:
    return "".join(f"(?:{'|'.join(_ways(char))})" for char in text)


def _ways(char: str) -> Iterator[str]:
    """Yield patterns of one character: as it is, as `\\u0041`, perhaps as `\\n`.

    JSON in JSON has a backslash three times, or seven; up to 15 are looked for.
    """
    units = re.findall("....", char.encode("utf-16-be", "surrogatepass").hex())
    yield "".join(rf"\\{{1,15}}u(?i:{unit})" for unit in units)
    yield r"\\{0,15}" * (char in '"\\/') + re.escape(char)
    if char in _SHORT:
        yield rf"\\{{1,15}}{_SHORT[char]}"


_EDGE = r"(?:\b|(?<=\\[bfnrt])|(?<=\\u[0-9a-fA-F]{4}))"  # "…\nsk-…" has one too
_CODE = r"\\{1,15}u00(?i:2d|3\d|[4-7][0-9a-f])"
_KEY_SHAPES = re.compile(
    rf"(?:{_EDGE}[spr]|\\{{1,15}}u007[023]){_spelled('k-')}(?:[\w-]|{_CODE}){{16,}}"
    rf"|(?:{_EDGE}B|\\{{1,15}}u0042){_spelled('earer ')}"
    rf"(?:[\w.~+/-]|\\{{1,15}}/|{_CODE}){{12,}}=*",
    re.ASCII,
)
