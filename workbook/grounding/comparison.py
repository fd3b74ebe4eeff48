"""Does a sentence say what a claim says? Numbers, names, negations, key words.

No model is asked, so nothing here understands: it counts. `data/evidence.toml` holds
what it knows about words, in English, and about Japanese and Chinese characters.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from itertools import combinations
from math import isclose
from typing import NamedTuple

from workbook.grounding.words import (
    HAN,
    NO_NAMES,
    OPPOSITES,
    STOP,
    WHOLE,
    WORDS,
    first_of_line,
    fold,
    is_han,
    pairs,
    stem,
)

SHARE = 0.45  # of a claim's key words and numbers that a sentence must hold
HAN_SHARE = 0.6  # where the words are pairs of characters: a name has several

_NOT = frozenset(WORDS["negations"].split())
UNITS = first_of_line("units")
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(\d+(?:,\d{{3}})*(?:\.\d+)?)(?:st|nd|rd|th)?[\s-]?(?:({_UNIT})(?![a-z]))?",
    re.IGNORECASE,
)
_HAN_NUMBER = re.compile("[一二三四五六七八九十百千]{2,}")
_WORD = re.compile(rf"[{HAN}]+|[ァ-ヺー]+|(?:(?![{HAN}\u3040-\u30ff])[^\W\d_])+")
_SUBJECT = re.compile(
    r"(?:(?:In|On|From|Since) [^,]{0,40}?\d{4},? )?(?:The |Only the )?"
    r"(?!His|Her|Its|Their)"
    r"(?P<who>(?:[A-Z]\S* (?:of |the |da |de |van |von )*)+)(?P<does>[a-z]+)"
)
_HOW_MANY = {"every", "each", "any", "many", "several"}
_DENIED_IN_HAN = re.compile(WORDS["negated_in_han"])
_PHRASES = [
    (re.compile(old, re.IGNORECASE), new)
    for old, new in (line.split(" => ") for line in WORDS["phrases"].splitlines())
]
_SCALES: dict[str, tuple[str, float]] = WORDS["scales"]


class Facts(NamedTuple):
    """What of a sentence can be compared."""

    words: set[str]  # their stems; of Japanese and Chinese, pairs of characters
    spelled: set[str]  # the words as they are; of Japanese and Chinese, characters
    names: set[str]
    numbers: set[tuple[float, str]]  # each with its unit, "" where it has none
    denied: set[str]  # those of the words that a "not" turns round
    subject: tuple[frozenset[str], str]  # who begins it, and the word behind


@lru_cache(maxsize=2000)
def facts(sentence: str) -> Facts:
    """Return what of a sentence can be compared with another one's.

    >>> facts("It is not 3,776 m high.").numbers
    {(3776.0, 'm')}
    """
    text = unicodedata.normalize("NFKC", sentence)
    for phrase, plain in _PHRASES:
        text = phrase.sub(plain, text)
    text = _HAN_NUMBER.sub(lambda number: str(_han_number(number[0])), text)
    found = Facts(set(), set(), set(), set(), set(), _subject(text))
    for number, unit in _NUMBER.findall(text):
        value = float(number.replace(",", ""))
        found.numbers.add((value, UNITS.get(unit.lower(), "")))
    text = re.sub(r"[’']s?\b", " ", _NUMBER.sub(" ", text))
    behind_not, denied_in_han = False, _DENIED_IN_HAN.search(text)
    for word in _WORD.findall(text):
        if is_han(word):
            found.words.update(pairs(word))
            found.spelled.update(word)
            found.denied.update(pairs(word) if denied_in_han else ())
            continue
        small = fold(word)
        found.spelled.add(small)
        if small in _NOT:
            behind_not = True
        elif small not in STOP:
            found.words.add(stem(small))
            if word[0].isupper() and small not in NO_NAMES:  # as the first word too
                found.names.add(small)
            if behind_not:
                found.denied.add(stem(small))
            behind_not = False
    return found


def compared(
    claim: Facts, said: Facts, title: Facts
) -> tuple[tuple[int, int], list[str]]:
    """Return how near a sentence is to a claim, and what is wrong with it, in words.

    Hard conditions: all numbers and names of the claim are there, and words such as
    "every"; one denies what the other denies; no word has its opposite in the other;
    where both begin with a name and the same verb, it is the same name. Of the key
    words, those of the title apart, and the numbers at least `SHARE` must be found.
    Who does it to whom is not looked at otherwise: that takes grammar.
    """
    numbers = {each for each in claim.numbers if not _has_number(each, said.numbers)}
    numbers -= _spans(said.numbers | claim.numbers)
    names = {name for name in claim.names if not _is_spelled(name, said.spelled)}
    wrong = [f"not {n:.12g} {unit}".rstrip() for n, unit in sorted(numbers)]
    wrong += [f"no {name.title()} in it" for name in sorted(names)]
    missing = claim.spelled & _HOW_MANY - said.spelled
    wrong += [f"it does not say “{word}”" for word in sorted(missing)]
    turned = claim.denied & said.words - said.denied
    turned |= said.denied & claim.words - claim.denied
    turned |= claim.denied if not said.denied else set()
    wrong += ["one says “not” where the other does not"] if turned else []
    contrary = _contrary(claim, said)
    wrong += contrary
    words = claim.words - title.words
    found = words & said.words
    found |= {pair for pair in words if is_han(pair) and set(pair) <= said.spelled}
    total = len(words) + len(claim.numbers)
    right = len(claim.numbers) - len(numbers)
    known = len(found) + right
    share = HAN_SHARE if any(map(is_han, words)) else SHARE
    if known < share * total:
        wrong.append(f"{known} of {total} key words and numbers")
    plain = found - {stem(name) for name in claim.names}
    return (known + right + len(contrary), len(plain)), wrong


def _contrary(claim: Facts, said: Facts) -> list[str]:
    """Return what cannot both be so: an opposite, or another one who does it."""
    mine, its = claim.words | claim.spelled, said.words | said.spelled
    found = [
        f"“{WHOLE[there]}”, not “{WHOLE[here]}”"
        for here in sorted((mine - its) & OPPOSITES.keys())
        for there in sorted((its - mine) & OPPOSITES[here])
    ]
    (who, does), (whom, did) = claim.subject, said.subject
    others = whom or said.spelled
    if who and does == did and not any(_is_spelled(name, others) for name in who):
        found.append(f"it is not {' '.join(sorted(who)).title()} who {does}…")
    return found


def _spans(numbers: set[tuple[float, str]]) -> set[tuple[float, str]]:
    """Return the years between any two years: from 1855 to 1870 are 15."""
    years = sorted(n for n, unit in numbers if not unit and 1000 <= n < 2100)
    return {(b - a, "year") for a, b in combinations(years, 2)}


def _has_number(number: tuple[float, str], said: set[tuple[float, str]]) -> bool:
    """Return whether a number was said, perhaps with a fraction or in another unit."""
    value, unit = number
    kind, size = _SCALES.get(unit, (unit or "count", 1))
    for n, u in said:
        its_kind, its_size = _SCALES.get(u, (u or "count", 1))
        is_near = isclose(value * size, n * its_size, rel_tol=0.01)
        is_whole = value.is_integer() and abs(value - n) < 0.5
        if (value == n or is_whole) and (unit == u or not unit or not u):
            return True
        if is_near and kind == its_kind and unit != u:
            return True
    return False


def _han_number(digits: str) -> int:
    """Return a number that is written in characters: 120 of 一百二十."""
    total, digit = 0, 0
    for value in (int(unicodedata.numeric(each)) for each in digits):
        total += max(digit, 1) * value if value > 9 else 0
        digit = value if value < 10 else 0
    return total + digit


def _is_spelled(name: str, said: Iterable[str]) -> bool:
    """Return whether a name was said, or what it is made of: Iceland, Icelandic."""
    return any(
        name == each
        or (min(len(name), len(each)) > 3 and (each in name or name in each))
        for each in said
    )


def _subject(text: str) -> tuple[frozenset[str], str]:
    """Return who is told of at the beginning of a sentence, and the word behind.

    >>> who, does = _subject("In 1843 Ada Lovelace wrote notes.")
    >>> sorted(who), does
    (['ada', 'lovelace'], 'writ')
    """
    if not (found := _SUBJECT.match(text)):
        return frozenset(), ""
    who = map(fold, _WORD.findall(found["who"]))
    return frozenset(who) - STOP, stem(fold(found["does"]))
