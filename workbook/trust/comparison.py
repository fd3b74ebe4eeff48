"""Does a sentence say what a claim says? Numbers, names, negations, key words.

No model is asked, so nothing here understands: it counts. `data/evidence.toml` holds
what it knows about words, in English, and about Japanese and Chinese characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import NamedTuple

from workbook.trust.claims import WORDS

SHARE = 0.5  # of a claim's key words and numbers that a sentence must hold
HAN_SHARE = 0.65  # where the words are pairs of characters: a name has several


def _first_of_line(name: str) -> dict[str, str]:
    lines = [line.split() for line in WORDS[name].splitlines() if line]
    return {word: line[0] for line in lines for word in line}


STOP, _NOT = (frozenset(WORDS[name].split()) for name in ("stop_words", "negations"))
_UNITS, _SAME = _first_of_line("units"), _first_of_line("same")
_OPPOSITES = [pair for a, b in map(str.split, WORDS["opposites"].strip().splitlines())
              for pair in ((a, b), (b, a))]  # fmt: skip
_DIGITS = dict(pair.split("=") for pair in WORDS["numbers"].split())
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_DIGITS)})\b", re.IGNORECASE)
_UNIT = "|".join(sorted(map(re.escape, _UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(\d+(?:,\d{{3}})*(?:\.\d+)?)[\s-]?(?:({_UNIT})(?![a-z]))?", re.IGNORECASE
)
HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff"
_WORD = re.compile(rf"[{HAN}]+|[ァ-ヺー]+|(?:(?![{HAN}\u3040-\u30ff])[^\W\d_])+")
_BETWEEN = re.compile("|".join(WORDS["chinese_between"].split()))
_DENIED_IN_HAN = re.compile(WORDS["negated_in_han"])


class Facts(NamedTuple):
    """What of a sentence can be compared."""

    words: set[str]  # their stems; of Japanese and Chinese, pairs of characters
    spelled: set[str]  # the words as they are
    names: set[str]
    numbers: set[tuple[float, str]]  # each with its unit, "" where it has none
    denied: set[str]  # those of the words that a "not" turns round


@lru_cache(maxsize=2000)
def facts(sentence: str) -> Facts:
    """Return what of a sentence can be compared with another one's.

    >>> facts("It is not 3,776 m high.").numbers
    {(3776.0, 'm')}
    """
    text = unicodedata.normalize("NFKC", sentence)
    text = _NUMBER_WORD.sub(lambda word: _DIGITS[word[0].lower()], text)
    found = Facts(set(), set(), set(), set(), set())
    for number, unit in _NUMBER.findall(text):
        found.numbers.add(
            (float(number.replace(",", "")), _UNITS.get(unit.lower(), ""))
        )
    text = re.sub(r"[’']s?\b", " ", re.sub(r"n[’']t\b", " not", _NUMBER.sub(" ", text)))
    behind_not, is_denied = False, _DENIED_IN_HAN.search(text)
    for word in _WORD.findall(text):
        if word[0] >= "\u3005":
            found.words.update(pairs(word))
            found.denied.update(pairs(word) if is_denied else ())
            continue
        small = fold(word)
        found.spelled.update(_spellings(small))
        if small in _NOT:
            behind_not = True
        elif small not in STOP:
            found.words.add(stem(small))
            if word[0].isupper():  # as the first of a sentence too: so it is compared
                found.names.add(small)
            if behind_not:
                found.denied.add(stem(small))
            behind_not = False
    return found


def compared(claim: Facts, said: Facts, title: Facts) -> tuple[int, list[str]]:
    """Return how much of a claim a sentence holds, and what is wrong with it, in words.

    All numbers and names of the claim must be there, what one denies the other must
    deny, and at least `SHARE` of the key words and numbers must be found. The title of
    the document counts as said in each of its sentences, where it may stand as "it".
    """
    numbers = {n for n in claim.numbers if not _has_number(n, said.numbers)}
    names = {name for name in claim.names if not _spellings(name) & said.spelled}
    turned = claim.denied & said.words - said.denied
    turned |= said.denied & claim.words - claim.denied
    turned |= claim.denied if not said.denied else set()
    words = claim.words - title.words - {stem(name) for name in claim.names}
    total = len(words) + len(claim.numbers)
    known = len(words & said.words) + len(claim.numbers) - len(numbers)
    wrong = [f"not {n:.12g} {unit}".rstrip() for n, unit in sorted(numbers)]
    wrong += [f"no {name.title()} in it" for name in sorted(names)]
    wrong += ["one says “not” where the other does not"] if turned else []
    wrong += [
        f"“{there}”, not “{here}”"
        for here, there in _OPPOSITES
        if stem(here) in claim.words - said.words and stem(there) in said.words
    ]
    is_han = any(word[0] >= "\u3005" for word in words)
    if known < (HAN_SHARE if is_han else SHARE) * total:
        wrong.append(f"{known} of {total} key words and numbers")
    return known + len(claim.names) - len(names), wrong


def _has_number(number: tuple[float, str], said: set[tuple[float, str]]) -> bool:
    value, unit = number
    return any(value == n and (unit == u or not unit or not u) for n, u in said)


def fold(word: str) -> str:
    """Return a word in small letters without accents, in the dress that is compared."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return _SAME.get(plain, plain)


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return the beginning of a word: discovers, discoverer and discovery are one."""
    return re.sub("(?<=...)(?:ing|ed|es|s|e)$", "", word)[:5]


def _spellings(word: str) -> set[str]:
    return {word, word.removesuffix("s")}


def pairs(run: str) -> list[str]:
    """Return the pairs of neighbouring characters of Japanese or Chinese, in order."""
    parts = [part for part in _BETWEEN.split(run) if part]
    return [p[i : i + 2] for p in parts for i in range(max(1, len(p) - 1))]
