"""A record as the outside of a run: its model, tools, person and clock of then.

The code runs again from the question on; what it tells is held against the record,
event for event, times apart. So nothing of a run's state needs to be stored: it is what
the same code makes of the same answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbook.models.base import Completion
from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError, to_json
from workbook.traces.divergence import TIMES, Divergence, alike
from workbook.traces.events import CutShortError, Kind, TraceError, TraceEvent
from workbook.traces.redaction import HIDDEN
from workbook.traces.trace import (
    CANCEL,
    OUT_OF_TIME,
    Trace,
    as_completion,
    as_observation,
    read_events,
    stopped_by,
)
from workbook.traces.writer import TraceWriter

SUSPENDED = "suspended"
ASKED_AGAIN = "asked again"
"""What a record says of itself, where an answer was lost."""

LATE = 1e300  # seconds: later than any limit


class Recorded(TraceWriter):
    """The `Outside` of a run that is played again: the record, and behind its end live.

    Of a trace in a file, a run that goes on is written there. The file is locked, and a
    last line that is half there goes with the first new one.

    Args:
        source: a trace, or the path of its file.
        live: returns the outside that answers behind the record's end, by trace_id. If
            there is none, limits are compared as well, and nothing may come there.
        instead: what is answered first behind the end.
        secrets: as for a `TraceWriter`; those of the first one.
        listener: gets each event behind the record's end.

    Raises:
        TraceError: there is no whole event, one is damaged, or a process writes it.
        FileNotFoundError: there is no such file.
    """

    def __init__(
        self,
        source: Trace | Path | str,
        live: Callable[[str], Any] | None = None,
        *,
        instead: Completion | Observation | None = None,
        secrets: Iterable[str] | None = None,
        listener: Callable[[TraceEvent], None] | None = None,
    ) -> None:
        path = None if isinstance(source, Trace) else Path(source)
        if path is not None and not path.is_file():
            raise FileNotFoundError(f"there is no trace {path}")
        super().__init__(path, keep=True, secrets=secrets, listener=listener)
        try:
            self.recorded = _whole_events(source)
            if not self.recorded or self.recorded[0]["kind"] != Kind.RUN_STARTED:
                raise TraceError(f"{path or 'it'} does not begin with a run_started")
        except BaseException:
            self.close()
            raise
        self.trace_id = self.recorded[0]["trace_id"]
        self.live = live(self.trace_id) if live else None
        self.instead = instead
        self.diverged: TraceError | None = None
        self._clock, self._started_at = self.now, 0.0
        self._answered_s = 0.0  # when a person did, on the record's clock
        self._live_at: float | None = None  # the real time at which the record ended

    def __enter__(self) -> Recorded:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()  # what was raised is no end of the run

    @property
    def question(self) -> str:
        """The question of the run."""
        return str(self.recorded[0]["question"])

    @property
    def end(self) -> TraceEvent | None:
        """How the recorded run ended; None where it can go on."""
        last = self.recorded[-1]
        return last if last["kind"] == Kind.RUN_FINISHED else None

    def coming(self) -> TraceEvent | None:
        """Return what the record tells next; None behind its end."""
        if len(self.events) < len(self.recorded):
            return self.recorded[len(self.events)]
        return None

    # what it answers

    def complete(self, ask: Callable[[], Completion]) -> Completion:
        """Return what the model said, and behind the record's end what it says."""
        if coming := self._answer(Kind.MODEL_TURN):
            return as_completion(coming)
        said: Completion = self._instead(Completion) or self._live().complete(ask)
        return said

    def make(self, call: ToolCall) -> Observation:
        """Return what came of a call, and behind the record's end what comes of it.

        A call in the middle of which the record ends is made again only if it may be.
        """
        self._skip()
        is_lost = len(self.events) == len(self.recorded)  # it ends with this call
        may_be_done = is_lost and self.live and not self.live.may_repeat(call)
        if may_be_done and self.instead is None:
            said = f"unknown: the run died in {call.name}; it may have been done."
            hint = "A person has to look before it is called again."
            return _needs_person(call, said, hint)
        if coming := self._answer(Kind.OBSERVATION):
            return as_observation(coming)
        if there := self._instead(Observation):
            seen: Observation = replace(there, call_id=call.call_id, tool=call.name)
        elif HIDDEN in to_json(call.arguments):
            said = f"{call.name} was not called: the record hides its arguments."
            seen = _needs_person(call, said, "Only a new run has the secret.")
        else:
            seen = self._live().make(call)
        return seen

    def consult(self, request: Any) -> Any:
        """Return what the person said, as data, and behind the end what they say."""
        coming = self.coming()
        if coming and coming.get("event") == SUSPENDED:  # it waited, and then went on
            coming = next(iter(self.recorded[coming["seq"] + 1 :]), None)
        if coming is None:
            return self.live.consult(request) if self.live else None
        if "answer" not in coming:
            raise stopped_by(coming, self.recorded[-1])
        self._answered_s = coming["at_s"]
        return coming["answer"]

    def now(self) -> float:
        """Return the seconds of the run: the record's, and behind its end our own.

        Between two events it is as early as the first of them. Only where a clock has
        decided it is late enough to be decided so again.
        """
        coming = self.coming()
        if coming is None:
            ended_at = float(self.recorded[-1]["at_s"])
            if self.live is None:
                return ended_at
            real = self.live.now()
            if self._live_at is None:
                self._live_at = real
            return ended_at + float(real - self._live_at)
        # Older traces have no `short_of`: there the sentence ends in it.
        short_of = str(coming.get("short_of") or coming.get("why"))
        of_budget = coming.get("who") == "budget" and short_of.endswith("seconds")
        if of_budget or coming.get("event") == OUT_OF_TIME:
            return LATE
        last = self.events[-1] if self.events else coming
        return max(float(last["at_s"]), self._answered_s)

    def stopped(self) -> bool:
        """Return whether the user said stop between two steps, or says so now."""
        coming = self.coming()
        if coming is self.recorded[-1] and coming.get("event") == SUSPENDED:
            coming = None  # who is asked again may stop it
        if coming is not None:
            return coming.get("event") == CANCEL and not coming.get("made")
        return self.live is not None and self.live.stopped()

    def done(self) -> None:
        if self.live is not None:
            self.live.done()

    # what it is told

    def tell(self, kind: str, /, **fields: Any) -> None:
        """Hold an event against the record; behind its end write it."""
        with self._lock:
            if self.diverged is not None:
                raise self.diverged
            self._skip(fields.get("event"))
            expected = self.coming()
            if expected is None and self.live and self.instead is None:
                self(kind, **fields)
                return
            found, _, sent = self._event(kind, fields)
            apart = TIMES | {"limits", "spent"} if self.live else TIMES
            if expected is not None and alike(expected, found, apart):
                self._take(expected, sent)
                return
            self.diverged = Divergence(len(self.events), expected, found)
            if expected is None and self.instead is not None:
                what = "neither the model nor a tool has made it; it is the"
                words = f"event {len(self.events)} cannot be changed: {what}"
                self.diverged = TraceError(f"{words} runtime's own {kind}")
            raise self.diverged

    def is_through(self) -> None:
        """Raise what differed, or that the record goes on where the machine ended."""
        if self.diverged is None and (coming := self.coming()):
            self.diverged = Divergence(coming["seq"], coming, None)
        if self.diverged is not None:
            raise self.diverged

    def _skip(self, event: str | None = None) -> None:
        """Pass over what a machine does not tell: that a run waited, or was resumed.

        Nor does it tell what happened inside a call that is not made again.
        """
        while coming := self.coming():
            waited = coming.get("event") == SUSPENDED != event
            if not waited and _is_its_own(coming):
                return
            self.events.append(coming)

    def _answer(self, wanted: str) -> TraceEvent | None:
        """Return the recorded answer; None where the live one is to be asked.

        What stops a call in the record stops it again.
        """
        self._skip()
        coming = self.coming()
        if coming is not None:
            if coming["kind"] == wanted:
                return coming
            raise stopped_by(coming, self.recorded[-1])
        is_new = len(self.events) > len(self.recorded)
        if not is_new and self.instead is None:
            last = next(filter(_is_its_own, reversed(self.events)))
            why = f"no answer to event {last['seq']} was written down"
            self(Kind.DECISION, who="record", what=ASKED_AGAIN, why=why)
        return None

    def _live(self) -> Any:
        """Return the outside behind the record's end; TraceError if there is none."""
        if self.live is None:
            words = f"the record ends with event {len(self.recorded) - 1}"
            words += ", in the middle of the run"
            self.diverged = TraceError(f"{words}: there is no end to come to")
            raise self.diverged
        return self.live

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


def _whole_events(source: Trace | Path | str) -> tuple[TraceEvent, ...]:
    """Return a trace's events, or those of a file, but for a last line that is torn.

    TraceError: one of them is damaged, or was lost as the trace was read.
    """
    if isinstance(source, Trace):
        if source.lost:
            raise TraceError(source.lost)
        return source.events
    events = []
    with suppress(CutShortError):
        for event in read_events(source):
            events.append(event)
    return tuple(events)
