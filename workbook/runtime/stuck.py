"""Stuck: the same calls with the same results, again and again; a warning, then an end.

It looks at the last calls alone, so the ten-thousandth costs what the hundredth did.
"""

import hashlib
import json
import re
import unicodedata
from collections import Counter, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from .calls import Observation, ToolCall, clip, to_json
from .guard import Guard
from .table import Transition

LOOK_BACK = 15  # calls: three times a cycle of five

# A word: one CJK character, or a run of anything else that is not white space.
_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
TOKEN = re.compile(rf"[{_CJK}]|[^\s{_CJK}]+")


class StepSeen(NamedTuple):
    """One thing that a run did, and what came of it; an unreadable turn has no tool."""

    tool: str
    arguments: Mapping[str, Any]
    digest: str  # of the observation; see `digest_of`

    def words(self) -> str:
        """Return it for a sentence."""
        if not self.tool:
            return "a turn that could not be read"
        return f"{self.tool} {clip(to_json(self.arguments), 120)}"


class Cycle(NamedTuple):
    """Calls that came several times in a row, as they were the last time."""

    calls: tuple[StepSeen, ...]
    times: int

    def words(self) -> str:
        """Return what was repeated, and how many times, for the model."""
        shown = ", then ".join(step.words() for step in self.calls)
        what = "The same step" if len(self.calls) == 1 else "The same steps"
        return f"{what}, {self.times} times, with nothing new: {shown}."


def step_seen(call: ToolCall, seen: Observation) -> StepSeen:
    """Return a call with what came of it; the notes are ours, and are left out."""
    digest = digest_of(replace(seen, notes=()).text())
    return StepSeen(call.name, call.arguments, digest)


def digest_of(text: str) -> str:
    """Return 16 characters that stand for a text: the same ones for the same text."""
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:16]


def same_search(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether two calls' arguments ask for the same, however the search is worded."""
    ours, theirs = ({n: _plain(each[n]) for n in each} for each in (one, other))
    if any(ours[name] != theirs[name] for name in ours.keys() & theirs.keys()):
        return False
    return Counter(ours.values()) == Counter(theirs.values())


def _plain(value: Any) -> tuple[str, ...]:
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
    """Return the shortest cycle that ends the calls, made `repeats` times, or None."""

    def alike(one: StepSeen, other: StepSeen) -> bool:
        is_same = one.tool == other.tool and one.digest == other.digest
        return is_same and same(one.arguments, other.arguments)

    for length in sorted(lengths):
        tail = calls[-length * repeats :]
        whole = len(tail) == length * repeats
        if whole and all(map(alike, tail, tail[length:])):  # and one round later
            return Cycle(tuple(tail[-length:]), repeats)
    return None


def stuck() -> Guard:
    """Return the guard: the first cycle is a warning, the next one an end."""
    row = Transition("OBSERVE", "repeated", "STUCK", "it went on repeating itself")
    return Guard("stuck", {"OBSERVE": _look}, [row], ends=["STUCK"])


def _look(run: Any) -> str | None:
    steps = run.notes.setdefault("seen", deque(maxlen=LOOK_BACK))
    new = len(run.observed) - run.notes.get("looked", 0)
    run.notes["looked"] = len(run.observed)
    for number in range(len(run.unread) - new, len(run.unread)):
        seen = run.unread[number]
        call = run.calls.get(seen.call_id)
        step = step_seen(call, seen) if call else StepSeen("", {"turn": run.text}, "")
        steps.append(step)
        cycle = run.part(find_cycle)(tuple(steps), same=run.part(same_search))
        if cycle is None:
            continue
        warned, run.notes["warned"] = run.notes.get("warned", False), True
        what = "stuck" if warned else "warning"
        run.journal.emit("decision", who="stuck", what=what, why=cycle.words())
        if warned:
            return "repeated"
        notes = (*seen.notes, f"{cycle.words()} Do something else.")
        run.unread[number] = replace(seen, notes=notes)
    return None
