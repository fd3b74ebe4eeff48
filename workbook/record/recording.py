"""The events of a run, as the hook and the answers of a machine that runs it again.

The code runs again from the question on; what it tells is held against the record,
event for event, times apart. So nothing of a run's state needs to be stored: it is what
the same code makes of the same answers.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from workbook.models.base import Completion
from workbook.record.answers import (
    OUT_OF_TIME,
    Answering,
    Cancels,
    as_completion,
    as_observation,
    stopped_by,
)
from workbook.record.divergence import TIMES, Divergence, alike
from workbook.record.events import Kind, TraceError, TraceEvent
from workbook.record.redaction import HIDDEN
from workbook.record.trace import Trace, read_events
from workbook.record.writer import TraceWriter
from workbook.tools.calls import (
    Effect,
    ErrorKind,
    Observation,
    ToolCall,
    ToolError,
    to_json,
)
from workbook.tools.registry import ToolRegistry

SUSPENDED = "suspended"
ASKED_AGAIN = "asked again"
"""What a record says of itself, where an answer was lost."""

MAY_CHANGE = frozenset({"limits", "spent"})
"""What may differ besides when a run is gone on with: its limits."""

LATE = 1e300  # seconds: later than any limit


class Recording(TraceWriter):
    """The events of a run, and a hook and answers that play it again.

    Of a trace in a file, whoever goes on writes there. The file is locked, and a last
    line that is half there goes with the first new one.

    Args:
        source: a trace, or the path of its file.
        exact: limits are compared as well, and nothing may come behind the end.
        instead: what is answered first behind the end.
        secrets: as for a `TraceWriter`; those of the first one.

    Raises:
        TraceError: there is no whole event, one is damaged, or a process writes it.
        FileNotFoundError: there is no such file.
    """

    def __init__(
        self,
        source: Trace | Path | str,
        *,
        exact: bool = False,
        instead: Completion | Observation | None = None,
        secrets: Iterable[str] | None = None,
    ) -> None:
        path = None if isinstance(source, Trace) else Path(source)
        if path is not None and not path.is_file():
            raise FileNotFoundError(f"there is no trace {path}")
        super().__init__(path, keep=True, secrets=secrets)
        try:
            end = self._file.end if self._file else 0
            self.recorded, lost = _whole_events(source, end)
            if exact and lost:
                raise TraceError(lost)
            if not self.recorded or self.recorded[0]["kind"] != Kind.RUN_STARTED:
                raise TraceError(f"{path or 'it'} does not begin with a run_started")
        except BaseException:
            self.close()
            raise
        self.trace_id = self.recorded[0]["trace_id"]
        self._clock, self._started_at = self.now, 0.0
        self._live_at: float | None = None  # the real time at which the record ended
        self._apart = TIMES if exact else TIMES | MAY_CHANGE
        self.exact, self.instead = exact, instead
        self.is_what_if = "what_if" in self.recorded[0]
        self.diverged: TraceError | None = None

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
        """Return the seconds of the run: the record's, and behind its end our own.

        Between two events it is as early as the first of them. Only where a clock has
        decided it is late enough to be decided so again, and a person takes the time
        that was taken.
        """
        coming = self.coming()
        if coming is None:
            real = time.perf_counter()
            if self._live_at is None:
                self._live_at = real
            return float(self.recorded[-1]["at_s"]) + real - self._live_at
        if coming.get("event") == OUT_OF_TIME or coming.get("who") == "budget":
            return LATE
        is_later = not self.events or coming["kind"] == Kind.DECISION
        return float(coming["at_s"] if is_later else self.events[-1]["at_s"])

    def __enter__(self) -> Recording:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()  # what was raised is no end of the run

    def __call__(self, kind: str, /, **fields: Any) -> int:
        """Hold an event against the record; behind its end write it."""
        with self._lock:
            if self.diverged is not None:
                raise self.diverged
            self._skip(fields.get("event"))
            expected = self.coming()
            if expected is None and not self.exact and self.instead is None:
                return super().__call__(kind, **fields)
            found, _, sent = self._event(kind, fields)
            if expected is None or not alike(expected, found, self._apart):
                self.diverged = Divergence(len(self.events), expected, found)
                if expected is None and self.instead is not None:
                    what = "neither the model nor a tool has made it; it is the"
                    words = f"event {len(self.events)} cannot be changed: {what}"
                    self.diverged = TraceError(f"{words} runtime's own {kind}")
                raise self.diverged
            self._take(expected, sent)
            return len(self.events) - 1

    def _skip(self, event: str | None = None) -> None:
        """Pass over what a machine does not tell: that a run waited, or was resumed.

        Nor does it tell what happened inside a call that is not made again.
        """
        while coming := self.coming():
            waited = coming.get("event") == SUSPENDED != event
            waited = waited and self.events[-1].get("event") != SUSPENDED
            if not waited and _is_its_own(coming):
                return
            self.events.append(coming)

    @property
    def _last(self) -> TraceEvent:
        """What the machine itself told last."""
        return next(filter(_is_its_own, reversed(self.events)))

    def is_through(self) -> None:
        """Raise what differed, or that the record goes on where the machine ended."""
        if self.diverged is None and (coming := self.coming()):
            self.diverged = Divergence(coming["seq"], coming, None)
        if self.diverged is not None:
            raise self.diverged

    def cancels(self, live: threading.Event) -> threading.Event:
        """Return a cancel that is set where it was; behind the record's end `live`."""
        return Cancels(self.coming, threading.Event() if self.exact else live)

    def model(self, live: Any) -> Any:
        """Return a model that says what was said, and then asks the live one."""

        if with_each := getattr(live, "with_each", None):  # it is several models
            return with_each(self.model)

        def answer(ask: Callable[..., Completion], *args: Any, **more: Any) -> Any:
            if coming := self._answer(Kind.MODEL_TURN, Kind.MODEL_REQUEST):
                return as_completion(coming)
            return self._instead(Completion) or ask(*args, **more)

        return Answering(live, answer, at_once=self.exact)

    def make(
        self,
        live: Callable[[ToolCall], Observation],
        tools: ToolRegistry,
        is_safe: bool = False,
    ) -> Callable[[ToolCall], Observation]:
        """Return what makes a call: as it was observed, and then the live one.

        A WRITE in the middle of which the record ends is made again only if the live
        one `is_safe`: has a ledger that knows what was done.
        """

        def made(call: ToolCall) -> Observation:
            self._skip()
            is_write = tools[call.name].effect is Effect.WRITE
            is_lost = len(self.events) == len(self.recorded)
            is_lost = is_lost and self._last["kind"] == Kind.TOOL_CALL
            is_known = is_safe or self.exact or self.instead is not None
            if is_lost and is_write and not is_known:
                said = f"unknown: the run died in {call.name}; it may have been done."
                hint = "A person has to look before it is called again."
                return _needs_person(call, said, hint)
            if coming := self._answer(Kind.OBSERVATION, Kind.TOOL_CALL):
                return as_observation(coming)
            if there := self._instead(Observation):
                observed: Observation = there
                return replace(observed, call_id=call.call_id, tool=call.name)
            if HIDDEN in to_json(call.arguments):
                said = f"{call.name} was not called: the record hides its arguments."
                return _needs_person(call, said, "Only a new run has the secret.")
            return live(call)

        return made

    def _answer(self, wanted: str, asked: str) -> TraceEvent | None:
        """Return the recorded answer; None where the live one is to be asked.

        What stops a call in the record stops it again.
        """
        self._skip()
        coming = self.coming()
        if coming is not None:
            if coming["kind"] == wanted:
                return coming
            raise stopped_by(coming, self.recorded[-1])
        if self.exact:
            words = f"the record ends with event {len(self.recorded) - 1}"
            words += ", in the middle of the run"
            self.diverged = TraceError(f"{words}: there is no end to come to")
            raise self.diverged
        last, is_new = self._last, len(self.events) > len(self.recorded)
        if last["kind"] == asked and not is_new and not self.is_what_if:
            why = f"no answer to event {last['seq']} was written down"
            super().__call__(Kind.DECISION, who="record", what=ASKED_AGAIN, why=why)
        return None

    def _instead(self, kind: type) -> Any:
        """Return, once, what is to be answered in place of the live answer."""
        if isinstance(self.instead, kind):
            answer, self.instead = self.instead, None
            return answer
        return None


def _is_its_own(event: TraceEvent) -> bool:
    return "parent" not in event and event.get("what") != ASKED_AGAIN


def _needs_person(call: ToolCall, said: str, hint: str) -> Observation:
    error = ToolError(ErrorKind.NEEDS_PERSON, said, hint=hint)
    return Observation.failed(call.call_id, error, call.name)


def _whole_events(
    source: Trace | Path | str, end: int
) -> tuple[tuple[TraceEvent, ...], str]:
    """Return a trace's whole events, and what was lost.

    Of a file these are its first `end` bytes; damage among them is raised.
    """
    if isinstance(source, Trace):
        return source.events, source.lost
    lines = Path(source).read_bytes()[:end].splitlines()
    whole = sum(bool(line.strip()) for line in lines)
    return tuple(islice(read_events(source), whole)), ""
