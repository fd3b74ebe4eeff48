"""Where two runs part: the first event in which they differ, times apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from workbook.traces.events import ENVELOPE, TraceError, TraceEvent

TIMES = frozenset(
    {"at_s", "elapsed_s", "schema", "started_unix_s", "trace_id", "what_if"}
)
"""What differs between two runs that are the same: times, and which file it is."""

SOME_LACK = frozenset({*ENVELOPE, "short_of"})
"""What counts only where both have it: older traces say it in words, or not at all."""


def first_divergence(
    recorded: Sequence[TraceEvent], told: Sequence[TraceEvent]
) -> int | None:
    """Return the number of the first event in which two runs differ, times apart.

    Where one of them is longer, that is its first event behind the other's end. None:
    they are the same run. What stands in the envelope of one alone does not count.
    """
    for seq, (one, other) in enumerate(zip(recorded, told, strict=False)):
        if not alike(one, other):
            return seq
    return None if len(recorded) == len(told) else min(len(recorded), len(told))


class Divergence(TraceError):  # noqa: N818 - what happened, not an error's name
    """The code did something else than a record says.

    `seq` is the first such event, `expected` what the record has there and `found` what
    the code told; None where one of them had come to its end.
    """

    def __init__(
        self, seq: int, expected: TraceEvent | None, found: TraceEvent | None
    ) -> None:
        self.seq, self.expected, self.found = seq, expected, found
        recorded = _told(expected, found) if expected else "not there"
        told = f"came to {_told(found, expected)}" if found else "was at its end"
        words = f"event {seq} of the record is {recorded}; this machine {told}"
        super().__init__(words)


def alike(one: TraceEvent, other: TraceEvent, apart: frozenset[str] = TIMES) -> bool:
    """Return whether two events are the same, but for the fields that are `apart`.

    A field of `SOME_LACK` does not count where one alone has it.
    """
    names = (one.keys() | other.keys()) - apart
    names -= {name for name in SOME_LACK if name not in one or name not in other}
    return all(_field(one, name) == _field(other, name) for name in names)


def _field(event: TraceEvent, name: str) -> Any:
    """Return a field as it is compared; the time that was spent is no difference."""
    value = event.get(name)
    if name == "spent" and isinstance(value, dict):
        value = {**value, "wall_s": None}
    return _plain(value)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a tuple is a list."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return (
        [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
    )


def _told(event: TraceEvent, other: TraceEvent | None) -> str:
    other = other or {}
    apart = TIMES | {"seq", "kind"}
    told = {n: event[n] for n in event if n not in apart and event[n] != other.get(n)}
    return f"{event['kind']} {told}"[:300] if told else f"{event['kind']}"
