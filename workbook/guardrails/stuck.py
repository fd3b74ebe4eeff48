"""Stuck: what a run did, seen as calls with what came of them, and a cycle in it.

It looks at the last calls alone, so the ten-thousandth costs what the hundredth did. It
knows no machine: who looks, and what follows, is said elsewhere.
"""

from __future__ import annotations

import hashlib
import json
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from workbook.models.prompts import TOKEN, clip
from workbook.tools.calls import Observation, ToolCall, result_text, to_json


class StepSeen(NamedTuple):
    """One thing that a run did, and what came of it.

    A turn that could not be read has no tool and its own text for an argument; a final
    answer that was refused is a call of "Final Answer".
    """

    tool: str
    arguments: Mapping[str, Any]
    digest: str  # of the observation; see `digest_of`


class Cycle(NamedTuple):
    """Calls that were made one after the other, so many times in a row."""

    calls: tuple[StepSeen, ...]
    times: int

    def words(self) -> str:
        """Return what was repeated and how often, as a sentence for the model."""
        shown = ", then ".join(map(_in_words, self.calls))
        what = "The same step" if len(self.calls) == 1 else "The same steps"
        return f"{what}, {self.times} times, with nothing new: {shown}."


def _in_words(step: StepSeen) -> str:
    if not step.tool:
        return "a turn that could not be read"
    return f"{step.tool} {clip(to_json(step.arguments), 120)}"


def seen(call: ToolCall, observation: Observation) -> StepSeen:
    """Return a call with what came of it; the notes are ours, and are left out."""
    error = observation.error
    came = error.text() if error else result_text(observation.result)
    return StepSeen(call.name, call.arguments, digest_of(came))


def digest_of(text: str) -> str:
    """Return 16 characters that stand for a text: the same ones for the same text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def same_search(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two calls' arguments ask for the same, however the search is worded.

    In a text, case, spacing, width and the order of words don't count; each Japanese,
    Chinese or Korean character is a word, as no space says where a word ends. An
    argument's name doesn't count where only one of the two has it. All else is exact.

    It can't see a synonym, and takes "man bites dog" for "dog bites man": so nothing
    is stopped for it alone, but for the answers that stay the same as well.

    >>> same_search({"query": "population of Tokyo"}, {"q": "TOKYO  population of"})
    True
    """
    for name in one:
        if name in other and _plain(one[name]) != _plain(other[name]):
            return False
    return Counter(map(_plain, one.values())) == Counter(map(_plain, other.values()))


def _plain(value: Any) -> tuple[str, ...]:
    """Return a text's words in alphabetical order; anything else as its JSON."""
    if not isinstance(value, str):
        return ("", json.dumps(value, sort_keys=True))  # no word is ""
    narrow = unicodedata.normalize("NFKC", value)
    return tuple(sorted(TOKEN.findall(narrow.casefold())))


def find_cycle(
    calls: Sequence[StepSeen],
    *,
    lengths: Iterable[int] = range(1, 6),
    repeats: int = 3,
    same: Callable[[Mapping[str, Any], Mapping[str, Any]], bool] = same_search,
) -> Cycle | None:
    """Return the cycle with which the calls end, the shortest one, or None.

    A cycle is `length` calls that were made `repeats` times in a row: each time the
    same tools, arguments that are the `same`, and the same digests. Polling, whose
    answers change, is none.
    """

    def alike(one: StepSeen, other: StepSeen) -> bool:
        came = one.tool == other.tool and one.digest == other.digest
        return came and same(one.arguments, other.arguments)

    for length in sorted(lengths):
        tail = calls[-length * repeats :]
        whole = len(tail) == length * repeats
        if whole and all(map(alike, tail, tail[length:])):  # and one round later
            return Cycle(tuple(tail[:length]), repeats)
    return None
