"""Who does it to whom? Two sentences in the same words, compared by their order.

"The dog bit the postman" and "The postman bit the dog" hold the same words. Around a
word that both have, who stands before it in one must not stand behind it in the other,
unless one is passive ("was bitten by") or says whose it is ("the dog's", "its"), or
has the opposite word ("smaller than"). In Japanese and Chinese a few forms are known.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from workbook.grounding.words import HAN, NO_NAMES, OPPOSITES, STOP, WORDS, fold, stem

SYMMETRIC = frozenset(map(stem, WORDS["symmetric"].split()))
_TOKEN = re.compile(r"[^\W\d_]+|['’]s\b|[,;]")
_TURNS = re.compile(WORDS["turning"].strip(), re.IGNORECASE)
_RUN = f"[{HAN}ァ-ヺー]{{2,10}}"
_JAPANESE = re.compile(f"({_RUN})[はが].{{0,6}}?({_RUN})(?:より|に|を)")
_CHINESE = re.compile(
    f"([{HAN}]{{2,6}}?)(?:比|打败|击败|战胜|征服)了?([{HAN}]{{2,6}}?)"
    "(?=[大小高低长短早晚多少重轻快慢年]|[，。]|$)"
)
_TWO = re.compile(f"^({_RUN})と({_RUN})[はが]|^([{HAN}]{{2,6}}?)[和与]([{HAN}]{{2}})")
_BE = frozenset(["is", "are", "was", "were", "be", "been", "being"])
_WHOSE = frozenset(["'s", "’s", "his", "her", "its", "their", "whose"])
_WITH = {("together", "with"), ("along", "with"), ("jointly", "with"), ("well", "as")}
_JOINED = {"and", "with", "or", "to", ",", "&", "both", "together", "as", "well"}


class Order(NamedTuple):
    """The words of a sentence in their order."""

    raw: tuple[str, ...]  # in small letters, with the little words
    stems: tuple[str, ...]  # "" for a little word
    names: frozenset[str]  # stems
    roles: dict[str, str]  # in Japanese and Chinese: who does it, and to whom
    text: str


def order_of(text: str) -> Order:
    """Return the words of a sentence in their order."""
    found = _TOKEN.findall(text)
    raw = tuple(fold(word) for word in found)
    stems = tuple("" if w in STOP or not w[0].isalpha() else stem(w) for w in raw)
    capital = {s for s, w, r in zip(stems, found, raw, strict=True)
               if w[0].isupper() and s and r not in NO_NAMES}  # fmt: skip
    return Order(raw, stems, frozenset(capital), _roles(text), text)


def _roles(text: str) -> dict[str, str]:
    """Return who does it (1) and to whom (2), where 比 or より and the like say so."""
    if found := _CHINESE.search(text):
        return {found[1]: "1", found[2]: "2"}
    found = _JAPANESE.search(text)
    return {found[1]: "1", found[2]: "2"} if found else {}


def is_turned_round(claim: Order, said: Order) -> str:
    """Return the word around which two sentences say the opposite; "" for none.

    >>> is_turned_round(order_of("Ann beat Bob."), order_of("Bob beat Ann."))
    'beat'
    >>> is_turned_round(order_of("Ann beat Bob."), order_of("Bob was beaten by Ann."))
    ''
    """
    shared = set(claim.stems) & set(said.stems) - {""}
    for here in set(claim.stems) & OPPOSITES.keys():
        for there in OPPOSITES[here].intersection(said.stems):
            if is_mirrored(claim, said, here, there):
                return ""
    for word, role in claim.roles.items():
        other = next((w for w, r in claim.roles.items() if r != role), "")
        if other and (said.roles.get(word), said.roles.get(other)) == (
            claim.roles[other],
            role,
        ):
            return word
    for i, verb in enumerate(claim.stems if len(shared) > 2 else ()):
        if verb not in shared or verb in claim.names or verb in SYMMETRIC:
            continue
        than = "than" in claim.raw[i : i + 6]
        if not than and not _TURNS.fullmatch(claim.raw[i]):
            continue
        for j in (j for j, its in enumerate(said.stems) if its == verb):
            if than and "than" not in said.raw[j : j + 6]:
                continue
            before, behind = _sides(claim, i, shared)
            was_before, was_behind = _sides(said, j, shared)
            crossed = before & was_behind and behind & was_before
            same = before & was_before and behind & was_behind
            by, was_by = _is_by(claim, i), _is_by(said, j)
            flips = (by or _is_owned(claim, i)) != (was_by or _is_owned(said, j))
            if crossed and not flips:
                return claim.raw[i]
            active = _is_active(said, j) if by else _is_active(claim, i)
            if same and by != was_by and active:
                return claim.raw[i]
    return ""


def is_mirrored(claim: Order, said: Order, here: str, there: str) -> bool:
    """Return whether one says "a before b", and the other one "b after a"."""
    if here not in claim.stems or there not in said.stems:
        return False
    shared = set(claim.stems) & set(said.stems) - {""}
    before, behind = _sides(claim, claim.stems.index(here), shared)
    was_before, was_behind = _sides(said, said.stems.index(there), shared)
    return bool(before & was_behind and behind & was_before)


def _sides(order: Order, at: int, shared: set[str]) -> tuple[set[str], set[str]]:
    """Return which of the shared words stand before a place, and which behind it."""
    before, behind = set(order.stems[:at]), set(order.stems[at + 1 :])
    return (before - behind) & shared, (behind - before) & shared


def _is_by(order: Order, at: int) -> bool:
    made = bool(_BE & set(order.raw[max(0, at - 1) : at]))
    return "by" in order.raw[at + 1 : at + 4] or (
        made and "by" in order.raw[max(0, at - 6) : at]
    )


def _is_owned(order: Order, at: int) -> bool:
    return bool(_WHOSE & set(order.raw[max(0, at - 2) : at]))


def _is_active(order: Order, at: int) -> bool:
    around = order.raw[max(0, at - 1) : at] + order.raw[at + 1 : at + 2]
    return not set(around) & (_BE | _WHOSE | {"the", "a", "an", "of", ",", "by"})


def apart(claim: Order, said: Order) -> str:
    """Return a name that a claim joins to another one, and the other sentence does not.

    "Ann and Bob invented it" needs a sentence that has both side by side, or a "they".

    >>> apart(order_of("Ann and Bob invented it."), order_of("Ann invented it in Bob."))
    'bob'
    """
    if {"they", "both", "two", "2", "their"} & set(said.raw):
        return ""
    if found := _TWO.search(claim.text):
        one, other = (found[1] or found[3])[-2:], (found[2] or found[4])[:2]
        both = (
            rf"{one}.{{0,3}}[と和与、].{{0,8}}{other}|{other}.*[と和与、].{{0,8}}{one}"
        )
        return "" if re.search(both, said.text) else other
    for i in range(1, len(claim.raw) - 1):
        one, other = claim.stems[i - 1], claim.stems[i + 1]
        if not other or other not in claim.names:
            continue
        if claim.raw[i - 1 : i + 1] in _WITH:
            one = next((each for each in claim.stems if each in claim.names), "")
        elif claim.raw[i] != "and" or one not in claim.names or not _acts(claim, i):
            continue
        places = [k for k, each in enumerate(said.stems) if each in (one, other)]
        two = ((a, b) for a in places for b in places if a < b)
        joined = (
            said.stems[a] != said.stems[b] and _is_list(said, a, b) for a, b in two
        )
        with_it = any(_is_added(said, k) for k in places)
        if not with_it and not any(joined):
            return claim.raw[i + 1]
    return ""


def _acts(order: Order, at: int) -> bool:
    """Return whether the names around an "and" are who does it, or by whom it is."""
    start = next((k for k in range(at, -1, -1) if not _is_joined(order, k)), -1)
    return start < 0 or order.raw[start] == "by" or not any(order.stems[: start + 1])


def _is_joined(order: Order, at: int) -> bool:
    return order.stems[at] in order.names or order.raw[at] in _JOINED


def _is_added(order: Order, at: int) -> bool:
    """Return whether a name is added: "… with Bob", "… and Bob in 1827"."""
    start = at
    while start and (
        order.stems[start - 1] in order.names or order.raw[start - 1] == "van"
    ):
        start -= 1
    then = order.raw[at + 1 : at + 2]
    ends = not then or (then[0] in STOP and then[0] not in _BE | {"had", "has"})
    before = order.raw[start - 1] if start else ""
    return before == "with" or (before == "and" and ends)


def _is_list(order: Order, start: int, end: int) -> bool:
    """Return whether only names and what joins them stand between two places."""
    between = range(start + 1, end)
    words = [order.raw[k] for k in between if order.stems[k] not in order.names]
    return bool(_JOINED & set(words)) and all(
        word in _JOINED or word in STOP for word in words
    )
