"""Lesson 09's matcher: what a sentence says, as words, names and numbers to compare.

It asks no model: it counts words, by the tables in data/lessons/09/words.toml. It knows
nothing of answers, documents or runs.
"""

import html
import math
import re
import tomllib
import unicodedata
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

from workbook.paths import DATA

WORDS = tomllib.loads((DATA / "lessons/09/words.toml").read_text("utf-8"))
BRACKETS = re.compile(r"[\[【［]\^?([^\[\]【】［］\n]{1,200})[\]】］]")
"""Square brackets; its group 1 is the text in them."""
SHARE, HAN_SHARE = 0.45, 0.6  # of a claim's words and numbers, found in a sentence
_HAN = "\u3005\u3400-\u4dbf\u4e00-\u9fff"


def _groups(name: str) -> list[list[str]]:
    return [group.split() for group in WORDS[name].split(";")]


def _first_of_group(name: str) -> dict[str, str]:
    return {word: group[0] for group in _groups(name) for word in group}


STOP, NOT, NO_NAMES, QUANTITIES = (
    frozenset(WORDS[name].split())
    for name in ("stop_words", "negations", "starters", "quantities")
)
SAME, UNITS, NUMBERS = map(_first_of_group, ("same", "units", "numbers"))
SCALES = {unit: (kind, float(size)) for unit, kind, size in _groups("scales")}

_HEADING = re.compile(r"^(#+ *)(?:\d{1,3}[.)] )?(.*)$", re.MULTILINE)
_BULLET = re.compile(r"^[ \t]*(?:(?:[-*•・+>]|\d{1,3}[.)])\s+|・)", re.MULTILINE)
_QUOTED = r"[\"“「『(（][^\"“”「」『』()（）]{0,300}[\"”」』)）]"
_CITED = rf"(?:\s*{BRACKETS.pattern})*"  # after a full stop, they are its sentence's
_STOP = re.compile(
    rf"(?P<end>(?:{_QUOTED}(?<=[.!?。！？].)|[.!?…]+[\"'”’)\]]*)"
    rf"(?=\s+[^a-z\s]|\s*\Z|\s*[\[【［]){_CITED}|[。！？]+{_CITED})"
    rf"|{_QUOTED}|\b(?:(?i:dr|mr|mrs|ms|prof|st|mt|no|vs|approx|ca)|[A-Za-z])\."
    rf"(?!\s+(?:{WORDS['openers']})\b)"
)
_UNIT = "|".join(sorted(map(re.escape, UNITS), key=len, reverse=True))
_NUMBER = re.compile(
    rf"(\d+(?:,\d{{3}})*(?:\.\d+)?)(?:st|nd|rd|th)?[\s-]?(?:({_UNIT})(?![a-z]))?",
    re.IGNORECASE,
)
_ADDRESS = re.compile("(?im)" + WORDS["addresses"].replace("\n", "|"))
WORD = re.compile(rf"[{_HAN}]+|[ァ-ヺー]+|(?:(?![{_HAN}\u3040-\u30ff])[^\W_])+")
_SUBJECT = re.compile(
    r"(?:(?:In|On|From|Since) [^,]{0,40}?\d{4},? )?(?:The |Only the )?"
    r"(?!His|Her|Its|Their)((?:[A-Z]\S* (?:of |the |da |de |van |von )*)+)([a-z]+)"
)


def sentences(text: str) -> list[str]:
    """Split a text into sentences; items of a list and headings are their own."""
    text = _BULLET.sub("\n\n", _HEADING.sub(r"\n\1\2\n", text))
    found = []
    for block in re.split(r"\n\s*\n", text):
        line, start = " ".join(block.split()), 0
        for stop in _STOP.finditer(line):
            if stop["end"]:
                found.append(line[start : stop.end()].strip())
                start = stop.end()
        found.append(line[start:].strip())
    return [each for each in found if each]


def without_citations(text: str) -> str:
    """Return a text without brackets and their content, and without marks around it."""
    return " ".join(BRACKETS.sub(" ", text).split()).strip(" \"'“”*_|")


def addresses_in(text: str) -> list[str]:
    """Return the addresses in a text (links, images, mail), each up to a blank."""
    seen = unicodedata.normalize("NFKC", html.unescape(text))
    found = [each for as_is in (text, seen) for each in _ADDRESS.findall(as_is)]
    ends, starts = WORDS["after_an_address"], "]( \t\n<"
    return list(dict.fromkeys(re.sub(ends, "", each.lstrip(starts)) for each in found))


def is_han(word: str) -> bool:
    """Return whether a word is of Japanese or Chinese characters."""
    return word[0] >= "\u3005"


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """Return a word's beginning: discovers, discoverer and discovery are one."""
    letters = unicodedata.normalize("NFKD", word.casefold())
    plain = "".join(each for each in letters if not unicodedata.combining(each))
    return re.sub("(?<=...)(?:ing|ed|es|s|e)$", "", SAME.get(plain, plain))[:5]


def pairs(word: str) -> list[str]:
    """Return the pairs of neighbouring characters of Japanese or Chinese, in order."""
    parts = filter(None, re.split(WORDS["between_in_chinese"], word))
    return [p[i : i + 2] for p in parts for i in range(max(1, len(p) - 1))]


OPPOSITES: dict[str, set[str]] = {}
for _group in (set(map(stem, group)) for group in _groups("opposites")):
    for _each in _group:
        OPPOSITES.setdefault(_each, set()).update(_group - {_each})


class Facts(NamedTuple):
    """What of a sentence is compared."""

    words: dict[str, str]  # by stem; of Japanese and Chinese, pairs of characters
    names: set[str]  # of a document's sentence: the words among which a name may be
    numbers: set[tuple[float, str]]  # each with its unit, "" where it has none
    denied: set[str]  # the words that a "not" turns round
    subject: tuple[set[str], str]  # the names that begin it, and the word after them


@lru_cache(maxsize=5000)
def facts(sentence: str) -> Facts:
    """Return what of a sentence is compared."""
    text = unicodedata.normalize("NFKC", sentence)
    for pattern, plain in WORDS["phrases"].items():
        text = re.sub(pattern, plain, text, flags=re.IGNORECASE)
    subject = _SUBJECT.match(text)
    who = {stem(w) for w in WORD.findall(subject[1])} if subject else set()
    does = stem(subject[2]) if subject else ""
    han_digits = "[一二三四五六七八九十百千]{2,}"
    text = re.sub(han_digits, lambda m: str(_han_number(m[0])), text)
    text = re.sub("[A-Za-z]+", lambda m: NUMBERS.get(m[0].lower(), m[0]), text)
    text = re.sub(r"\b([2-9])0[ -]([1-9])\b", r"\1\2", text)  # twenty-five
    found = Facts({}, set(), set(), set(), (who - STOP, does))
    for digits, word in _NUMBER.findall(text):
        value = float(digits.replace(",", ""))
        found.numbers.add((value, UNITS.get(word.lower(), "")))
    not_before, han_denied = False, re.search(WORDS["negated_in_han"], text)
    for word in WORD.findall(re.sub(r"[’']s?\b", " ", _NUMBER.sub(" ", text))):
        small = word.lower()
        if is_han(word):
            found.words.update((pair, pair) for pair in pairs(word))
            found.denied.update(pairs(word) if han_denied else ())
        elif small in NOT:
            not_before = True
        elif small not in STOP:
            found.words[stem(word)] = word
            if small in QUANTITIES or (word[0].isupper() and small not in NO_NAMES):
                found.names.add(stem(word))
            found.denied.update([stem(word)] if not_before else [])
            not_before = False
    return found


def _han_number(digits: str) -> int:
    """Return 120 for 一百二十."""
    total, digit = 0, 0
    for value in (int(unicodedata.numeric(each)) for each in digits):
        total += max(digit, 1) * value if value > 9 else 0
        digit = value if value < 10 else 0
    return total + digit


def _is_said(number: tuple[float, str], said: set[tuple[float, str]]) -> bool:
    """Return whether a number was said, perhaps with a fraction or in another unit."""
    (value, unit), whole = number, number[0].is_integer()
    kind, size = SCALES.get(unit, (unit or "count", 1.0))
    for n, u in said:
        its_kind, its_size = SCALES.get(u, (u or "count", 1.0))
        if (n == value or (whole and abs(n - value) < 0.5)) and not (
            unit and u and unit != u
        ):
            return True
        near = math.isclose(value * size, n * its_size, rel_tol=0.01)
        if near and kind == its_kind and unit != u:
            return True
    return False


def is_year(number: tuple[float, str]) -> bool:
    """Return whether a number may be a year, which often stands a sentence before."""
    return 1000 <= number[0] < 2100 and not number[1]


def compared(
    claim: Facts, said: Facts, title: dict[str, str]
) -> tuple[tuple[int, int], list[str]]:
    """Return how near a sentence is to a claim, and what is wrong with it, in words."""
    numbers = {each for each in claim.numbers if not _is_said(each, said.numbers)}
    years = sorted(filter(is_year, said.numbers | claim.numbers))
    numbers -= {(b[0] - a[0], "year") for a, b in combinations(years, 2)}
    wrong = [f"not {n:.12g} {unit}".rstrip() for n, unit in sorted(numbers)]
    missing = sorted(claim.words[each] for each in claim.names - said.names)
    wrong += [f"no {word} in it" for word in missing]
    turned = claim.denied & said.words.keys() - said.denied
    turned |= said.denied & claim.words.keys() - claim.denied
    if turned or (claim.denied and not said.denied):
        wrong.append("one says “not” where the other does not")
    (who, does), (whom, did), its = claim.subject, said.subject, title | said.words
    mine, letters = (  # of Japanese and Chinese the single characters as well
        {c: c for word in words if is_han(word) for c in word} | words
        for words in (claim.words, its)
    )
    contrary = [
        f"“{letters[there]}”, not “{mine[here]}”"
        for here in sorted((mine.keys() - letters) & OPPOSITES.keys())
        for there in sorted((letters.keys() - mine) & OPPOSITES[here])
    ]
    if who and does == did and not who & (whom or its.keys()):
        contrary.append(f"it is not {' '.join(sorted(who)).title()} who {does}…")
    words = claim.words.keys() - title
    found = {w for w in words if w in its or (is_han(w) and letters.keys() >= set(w))}
    right, total = len(claim.numbers - numbers), len(words) + len(claim.numbers)
    known = len(found) + right
    if known < (HAN_SHARE if any(map(is_han, words)) else SHARE) * total:
        wrong.append(f"{known} of {total} key words and numbers")
    near = known + right + len(contrary), len(found - claim.names)
    return near, wrong + contrary
