"""A recorded run, played again: its model and tools answer as they did, then live.

The code runs again from the question on; what it tells is held against the record,
event for event, times apart. So nothing of a run's state needs to be stored: it is what
the same code makes of the same answers. Behind the last event the run goes on, in the
same file.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial, wraps
from itertools import islice
from pathlib import Path
from typing import Any

from workbook.models.base import Completion, ToolRequest, Usage
from workbook.record.events import Kind, TraceError, TraceEvent
from workbook.record.trace import read_events
from workbook.record.writer import TraceWriter
from workbook.tools.calls import Observation, ToolCall, ToolError
from workbook.tools.timeouts import TimedOut

SUSPENDED = "suspended"
"""The event after which a run waits in its file; the one that goes on skips it."""

OWN = {"at_s", "elapsed_s", "spent", "limits", "schema", "started_unix_s"}
"""What may differ between a run and its replay: times, and what the machine may do."""


class Divergence(TraceError):  # noqa: N818 - what happened, not an error's name
    """The code did something else than a record says; `seq` is the first such event."""

    def __init__(self, expected: TraceEvent, found: TraceEvent) -> None:
        self.seq, self.expected, self.found = expected["seq"], expected, found
        super().__init__(
            f"event {self.seq} of the record is {_told(expected, found)}; "
            f"this machine came to {_told(found, expected)}"
        )


class Recording(TraceWriter):
    """The events of a run in a JSONL file, and a hook that goes on where they end.

    The file is locked, and only what is new is written. A last line that is half there
    goes with the first new one.

    Raises:
        TraceError: there is no whole event, one is damaged, or a process writes it.
        FileNotFoundError: there is no such file.
    """

    def __init__(self, path: Path | str) -> None:
        path = Path(path)
        if not path.is_file():
            raise FileNotFoundError(f"there is no trace {path}")
        super().__init__(path, keep=True)
        try:
            self.recorded = _whole_events(path, self._end)
            if not self.recorded or self.recorded[0]["kind"] != Kind.RUN_STARTED:
                raise TraceError(f"{path} does not begin with a run_started")
        except BaseException:
            self.close()
            raise
        self.trace_id = self.recorded[0]["trace_id"]
        self._clock, self._started_at = self.now, 0.0
        self._live_at: float | None = None  # the real time at which the record ended
        self.diverged: Divergence | None = None

    @property
    def question(self) -> str:
        """The question of the run."""
        return str(self.recorded[0]["question"])

    @property
    def ended(self) -> bool:
        """Whether the recorded run has come to its end."""
        return bool(self.recorded[-1]["kind"] == Kind.RUN_FINISHED)

    def coming(self) -> TraceEvent | None:
        """Return what the record tells next; None behind its end."""
        if len(self.events) < len(self.recorded):
            return self.recorded[len(self.events)]
        return None

    def after(self, event: TraceEvent) -> TraceEvent | None:
        """Return what the record tells next after an event."""
        rest = self.recorded[event["seq"] + 1 :]
        return rest[0] if rest else None

    def now(self) -> float:
        """Return the seconds of the run: the record's, and behind its end our own."""
        if coming := self.coming():
            return float(coming["at_s"])
        real = time.perf_counter()
        if self._live_at is None:
            self._live_at = real
        return float(self.recorded[-1]["at_s"]) + real - self._live_at

    def __enter__(self) -> Recording:
        return self

    def __call__(self, kind: str, /, **fields: Any) -> int:
        """Hold an event against the record; behind its end write it."""
        with self._lock:
            if self.diverged is not None:
                raise self.diverged
            if fields.get("event") != SUSPENDED:
                self._skip_suspensions()
            expected = self.coming()
            if expected is None:
                return super().__call__(kind, **fields)
            found, _ = self._event(kind, fields)
            if not _alike(expected, found):
                self.diverged = Divergence(expected, found)
                raise self.diverged
            self.events.append(expected)
            if self.coming() is None:
                self.now()
            return len(self.events) - 1

    def _skip_suspensions(self) -> None:
        while (coming := self.coming()) and coming.get("event") == SUSPENDED:
            self.events.append(coming)

    def model(self, live: Any) -> Any:
        """Return a model that says what was said, and then asks the live one."""
        return _PlayedAgain(live, self)

    def make(
        self, live: Callable[[ToolCall], Observation]
    ) -> Callable[[ToolCall], Observation]:
        """Return what makes a call: as it was observed, and then the live one."""

        def made(call: ToolCall) -> Observation:
            coming = self.coming()
            if coming is None:
                return live(call)
            if coming["kind"] == Kind.OBSERVATION:
                return as_observation(coming)
            raise _stopped(coming)

        return made


def _whole_events(path: Path, end: int) -> tuple[TraceEvent, ...]:
    """Return the events of a file's first `end` bytes; damage among them is raised."""
    lines = [line for line in path.read_bytes()[:end].splitlines() if line.strip()]
    return tuple(islice(read_events(path), len(lines)))


class _PlayedAgain:
    """A model whose answers are in a record; whatever else it has is the live one's."""

    def __init__(self, live: Any, recording: Recording) -> None:
        self._live, self._recording = live, recording

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._live, name)
        if name not in ("complete", "chat"):
            return found
        return wraps(found)(partial(self._answer, found))

    def _answer(self, ask: Callable[..., Completion], *args: Any, **more: Any) -> Any:
        coming = self._recording.coming()
        if coming is None:
            return ask(*args, **more)
        if coming["kind"] == Kind.MODEL_TURN:
            return as_completion(coming)
        raise _stopped(coming)


def as_completion(event: TraceEvent) -> Completion:
    """Return what the model said in a `model_turn`."""
    turn, usage = event["turn"] or {}, event["usage"] or {}
    said = turn["calls"] if turn.get("kind") == "calls" else ()
    requests = tuple(
        ToolRequest(c["tool"], c["arguments"], c.get("said_id", c["call_id"]))
        for c in said
    )
    reason = "length" if "cut" in turn else "tool_calls" if requests else "stop"
    counted = {name: usage.get(name, 0) for name in ("input", "output", "cached")}
    if usage.get("estimated"):
        counted = {}  # it is estimated again
    return Completion(event["text"], Usage(**counted), requests, reason)


def as_observation(event: TraceEvent) -> Observation:
    """Return what an `observation` tells."""
    error = ToolError(**event["error"]) if "error" in event else None
    notes = tuple(event.get("notes", ()))
    about = event["call_id"] or "", event["ok"], event.get("result"), error
    return Observation(*about, event["tool"] or "", notes)


def _stopped(coming: TraceEvent) -> BaseException:
    """Return what a call was ended by that got no answer."""
    if coming.get("event") == "cancel":
        return KeyboardInterrupt()
    if coming.get("event") == "out_of_time":
        return TimedOut("no answer in time")
    return RuntimeError(f"the record has no answer here, but a {coming['kind']}")


def _alike(one: TraceEvent, other: TraceEvent) -> bool:
    names = (one.keys() | other.keys()) - OWN
    return all(_plain(one.get(name)) == _plain(other.get(name)) for name in names)


def _plain(value: Any) -> Any:
    """Return a value as JSON has it: a tuple is a list."""
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    return (
        [_plain(each) for each in value] if isinstance(value, (list, tuple)) else value
    )


def _told(event: TraceEvent, other: TraceEvent) -> str:
    names = [n for n in event if n not in OWN and event.get(n) != other.get(n)]
    told = {n: event[n] for n in names if n not in ("seq", "kind", "trace_id", "step")}
    return f"{event['kind']} {told}"[:300] if told else f"{event['kind']}"
