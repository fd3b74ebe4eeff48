"""Words, as they are compared: `data/evidence.toml` holds the tables."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from functools import lru_cache
from typing import Any

from workbook.paths import DATA

WORDS: dict[str, Any] = tomllib.loads((DATA / "evidence.toml").read_text("utf-8"))


def first_of_line(name: str) -> dict[str, str]:
    """Return the first word of its line for each word of a table."""
    lines = [line.split() for line in WORDS[name].splitlines() if line]
    return {word: line[0] for line in lines for word in line}


STOP = frozenset(WORDS["stop_words"].split())
_SAME = first_of_line("same")
NO_NAMES = frozenset((WORDS["starters"] + WORDS["opposites"]).split())
HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff"
_BETWEEN = re.compile("|".join(WORDS["chinese_between"].split()))


def fold(word: str) -> str:
    """Return a word in small letters without accents, or the one that stands for it."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return _SAME.get(plain, plain)


def is_han(word: str) -> bool:
    """Return whether a word is of Japanese or Chinese characters."""
    return word[0] >= "\u3005"


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the beginning of a word: discovers, discoverer and discovery are one."""
    return re.sub("(?<=...)(?:ing|ed|es|s|e)$", "", word)[:5]


def pairs(run: str) -> list[str]:
    """Return the pairs of neighbouring characters of Japanese or Chinese, in order."""
    parts = [part for part in _BETWEEN.split(run) if part]
    return [p[i : i + 2] for p in parts for i in range(max(1, len(p) - 1))]


OPPOSITES: dict[str, set[str]] = {}
"""Of the stem of a word those of its kind, of which only one can be so."""
for _line in WORDS["opposites"].strip().splitlines():
    _kind = {stem(word) for word in _line.split()}
    for _each in _kind:
        OPPOSITES.setdefault(_each, set()).update(_kind - {_each})
WHOLE = {stem(word): word for word in WORDS["opposites"].split()}
"""The word that a stem there is of."""
