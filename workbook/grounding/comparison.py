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

from workbook.grounding.direction import (
    SYMMETRIC,
    Order,
    apart,
    is_mirrored,
    is_turned_round,
    order_of,
)
from workbook.grounding.words import (
    HAN,
    NO_NAMES,
    OPPOSITES,
    STOP,
    WHOLE,
    WORDS,
    first_of_line,
    fold,
    pairs,
    stem,
)

SHARE = 0.4  # of a claim's key words and numbers that a sentence must hold
APART = "it does not join the other one to"
HAN_SHARE = 0.6  # where the words are pairs of characters: a name has several

_NOT = frozenset(WORDS["negations"].split())
UNITS = first_of_line("units")
_DIGITS = dict(pair.split("=") for pair in WORDS["numbers"].split())
_NUMBER_WORD = re.compile(rf"\b(?:{'|'.join(_DIGITS)})\b", re.IGNORECASE)
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_EDGE = re.compile(
    r"\b(?:([Ff]rom|[Ss]ince|[Aa]fter)|([Uu]ntil|till|to|[Bb]efore))"
    r" (?:[A-Z][a-z]+ )?(\d{4})\b"
    r"|(\d{4})年?(?:\d+月)?(?:\d+日)?(?:(から|以来|起|后)|(まで|为止|之前|以前))"
)  # the year in which something begins, or ends
_BOUND = re.compile(
    r"\b(?:(more than|over|at least|above)"
    r"|(less than|fewer than|under|below|at most|up to)) (?=\d)", re.IGNORECASE,
)  # fmt: skip
_NUMBER = re.compile(
    rf"([<>]?)(\d+(?:,\d{{3}})*(?:\.\d+)?)(?:st|nd|rd|th)?[\s-]?(?:({_UNIT})(?![a-z]))?",
    re.IGNORECASE,
)
_TENS = re.compile(r"\b([2-9]0)[- ]([1-9])\b")  # forty-two
_DATE = re.compile(r"\b(\d{4})-(\d\d)-(\d\d)\b")
_MONTHS = WORDS["months"].split()
_HAN_NUMBER = re.compile("[一二三四五六七八九十百千]{2,}")
_WORD = re.compile(rf"[{HAN}]+|[ァ-ヺー]+|(?:(?![{HAN}\u3040-\u30ff])[^\W\d_])+")
_SUBJECT = re.compile(
    r"(?:(?:In|On|From|Since) [^,]{0,40}?\d{4},? )?(?:The |Only the )?"
    r"(?!His|Her|Its|Their)"
    r"(?P<who>(?:[A-Z]\S* (?:of |the |da |de |van |von )*)+)(?P<does>[a-z]+)"
)
_EITHER_WAY = SYMMETRIC | {"is", "are", "was", "were", "has", "have", "had"}
_DENIED_IN_HAN = re.compile(WORDS["negated_in_han"])
_PHRASES = [
    (re.compile(old, re.IGNORECASE), new)
    for old, new in (line.split(" => ") for line in WORDS["phrases"].splitlines())
]
_SCALES = {
    unit: (kind, float(factor))
    for kind, *units in map(str.split, WORDS["scales"].splitlines())
    for unit, factor in (each.split("=") for each in units)
}


class Facts(NamedTuple):
    """What of a sentence can be compared."""

    words: set[str]  # their stems; of Japanese and Chinese, pairs of characters
    spelled: set[str]  # the words as they are; of Japanese and Chinese, characters
    names: set[str]
    numbers: set[tuple[float, str]]  # each with its unit, "" where it has none
    bounds: dict[
        float, str
    ]  # those that are "more than" (>) or "less than" (<) so many
    edges: set[tuple[str, bool]]  # years, and whether something begins in it
    denied: set[str]  # those of the words that a "not" turns round
    order: Order
    subject: tuple[frozenset[str], str]  # who begins it, and the word behind


@lru_cache(maxsize=2000)
def facts(sentence: str) -> Facts:
    """Return what of a sentence can be compared with another one's.

    >>> facts("It is not 3,776 m high.").numbers
    {(3776.0, 'm')}
    """
    text = unicodedata.normalize("NFKC", sentence)
    text = _DATE.sub(_day_month_year, text)
    for phrase, plain in _PHRASES:
        text = phrase.sub(plain, text)
    text = _HAN_NUMBER.sub(lambda number: str(_han_number(number[0])), text)
    text = _NUMBER_WORD.sub(lambda word: _DIGITS[word[0].lower()], text)
    text = _TENS.sub(lambda found: str(int(found[1]) + int(found[2])), text)
    edges = {
        (a or b, bool(since or kara)) for since, _, a, b, kara, _ in _EDGE.findall(text)
    }
    found = Facts(
        set(), set(), set(), set(), {}, edges, set(), order_of(text), _subject(text)
    )
    text = _BOUND.sub(lambda bound: ">" if bound[1] else "<", text)
    for sign, number, unit in _NUMBER.findall(text):
        value = float(number.replace(",", ""))
        found.numbers.add((value, UNITS.get(unit.lower(), "")))
        found.bounds.update({value: sign} if sign else {})
    text = re.sub(r"[’']s?\b", " ", re.sub(r"n[’']t\b", " not", _NUMBER.sub(" ", text)))
    behind_not, is_denied = False, _DENIED_IN_HAN.search(text)
    for word in _WORD.findall(text):
        if word[0] >= "\u3005":
            found.words.update(pairs(word))
            found.spelled.update(word)
            found.denied.update(pairs(word) if is_denied else ())
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

    All numbers and names of the claim must be there, what one denies the other must
    deny, nobody may do what is done to him, and at least `SHARE` of the key words and
    numbers must be found, one of them no name. The title of the document counts as said
    in each of its sentences.
    """
    all_numbers = said.numbers | _spans(said.numbers | claim.numbers)
    bounds = claim.bounds
    numbers = {
        each
        for each in claim.numbers
        if not _has_number(each, all_numbers, bounds.get(each[0], ""))
    }
    names = {name for name in claim.names if not _is_spelled(name, said.spelled)}
    turned = claim.denied & said.words - said.denied
    turned |= said.denied & claim.words - claim.denied
    turned |= claim.denied if not said.denied else set()
    words = claim.words - title.words
    total = len(words) + len(claim.numbers)
    found = words & said.words
    found |= {w for w in words - found if w[0] >= "\u3005" and set(w) <= said.spelled}
    known = len(found) + len(claim.numbers) - len(numbers)
    mine, its = claim.words | claim.spelled, said.words | said.spelled
    mine, its = mine - its, its - mine
    around = is_turned_round(claim.order, said.order)
    others = [
        (here, there)
        for here in sorted(mine & OPPOSITES.keys())
        for there in sorted(its & OPPOSITES[here])
    ]
    mirrored = [two for two in others if is_mirrored(claim.order, said.order, *two)]
    contrary = [
        f"“{WHOLE[there]}”, not “{WHOLE[here]}”"
        for here, there in others
        if (here, there) not in mirrored
    ]
    contrary += [f"the other way round: “{around}”"] if around else []
    other_end = {(year, not begins) for year, begins in claim.edges - said.edges}
    contrary += [f"another side of {year}" for year, _ in other_end & said.edges]
    (who, does), (whom, did) = claim.subject, said.subject
    either = does in _EITHER_WAY or not whom
    is_same = any(_is_spelled(n, said.order.raw if either else whom) for n in who)
    if who and does == did and not is_same:
        contrary.append(f"it is not {' '.join(sorted(who)).title()} who {does}…")
    wrong = [f"not {n:.12g} {unit}".rstrip() for n, unit in sorted(numbers)]
    wrong += [f"no {name.title()} in it" for name in sorted(names)]
    wrong += ["one says “not” where the other does not"] if turned else []
    wrong += contrary
    if alone := apart(claim.order, said.order):
        wrong.append(f"{APART} {alone.title()}")
    is_han = any(word[0] >= "\u3005" for word in words)
    no_names = words - {stem(name) for name in claim.names}
    plain, right = no_names & said.words, len(claim.numbers) - len(numbers)
    if known < (HAN_SHARE if is_han else SHARE) * total:
        wrong.append(f"{known} of {total} key words and numbers")
    elif no_names and not (is_han or plain or right or mirrored):
        wrong.append(f"none of its words but names: {', '.join(sorted(no_names))}")
    nearness = known + right + len(contrary)
    return (nearness, len(plain)), wrong


def _spans(numbers: set[tuple[float, str]]) -> set[tuple[float, str]]:
    """Return the years between any two years: from 1855 to 1870 are 15."""
    years = sorted(n for n, unit in numbers if not unit and 1000 <= n < 2100)
    return {(b - a, "year") for a, b in combinations(years, 2)}


def _has_number(
    number: tuple[float, str], said: set[tuple[float, str]], bound: str = ""
) -> bool:
    """Return whether a number was said, perhaps with a fraction or in another unit.

    "More than" so many are up to twice as many, "less than" so many down to a half.
    """
    value, unit = number
    kind, size = _SCALES.get(unit, (unit or "count", 1))
    for n, u in said:
        if unit == "century" and not u and (n + 99) // 100 == value:
            return True
        its_kind, its_size = _SCALES.get(u, (u or "count", 1))
        ratio = n * its_size / (value * size or 1)
        if kind == its_kind and (
            (bound == ">" and 1 < ratio < 2) or (bound == "<" and 0.5 < ratio < 1)
        ):
            return True
        is_near = isclose(value * size, n * its_size, rel_tol=0.01)
        is_whole = value.is_integer() and abs(value - n) < 0.5
        if (value == n or is_whole) and (unit == u or not unit or not u):
            return True
        if is_near and kind == its_kind and unit != u:
            return True
    return False


def _day_month_year(date: re.Match[str]) -> str:
    month = int(date[2])
    name = _MONTHS[month - 1].title() if 1 <= month <= 12 else date[2]
    return f"{int(date[3])} {name} {date[1]}"


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
