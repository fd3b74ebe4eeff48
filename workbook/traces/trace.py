"""A run that was recorded: its events in order, and what was answered in them.

A file has one JSON object a line, each written as it happens: a run that dies at step
45 leaves forty-four whole steps behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbook.models.base import Completion, ToolRequest, Usage
from workbook.models.prompts import clip
from workbook.tools.calls import Observation, ToolError
from workbook.tools.threads import TimedOut
from workbook.traces.events import (
    CutShortError,
    Kind,
    TraceError,
    TraceEvent,
    check_event,
    sealed,
    to_line,
    unsealed,
)


def read_events(path: Path | str) -> Iterator[TraceEvent]:
    """Yield the events of a JSONL file as they are read, for figures of a long run.

    TraceError where a line is not an event or `seq` has a hole, CutShortError where the
    last line has no end. What is whole has been yielded.
    """
    seq, schema, trace_id = 0, 1, None
    with Path(path).open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            where = f"{path}, line {number}"
            try:
                if not line.endswith((b"\n", b"}")):
                    raise ValueError("it has no end")
                event = unsealed(line, schema)
                check_event(event, seq)
                if trace_id not in (None, event["trace_id"]):
                    raise TraceError(f"it is of another run, {event['trace_id']}")
            except TraceError as error:
                raise TraceError(f"{where}: {error}") from None
            except (ValueError, RecursionError) as error:
                if not line.endswith(b"\n"):
                    raise CutShortError(f"{where}: cut short while written") from None
                raise TraceError(f"{where}: not JSON ({error})") from None
            yield event
            seq, trace_id = seq + 1, event["trace_id"]
            schema = event.get("schema", schema)


@dataclass(frozen=True, repr=False)
class Trace:
    """A run that was recorded: its events in order.

    `lost` says what of its file could not be read, and is empty otherwise. A notebook
    shows a table; see `workbook.traces.show`.
    """

    events: tuple[TraceEvent, ...]
    lost: str = ""

    @classmethod
    def read(cls, path: Path | str) -> Trace:
        """Read a JSONL file up to its end, or to the first damage.

        TraceError where no event stands before the damage: it is no trace.
        """
        events: list[TraceEvent] = []
        try:
            for event in read_events(path):
                events.append(event)
        except TraceError as error:
            if not events and not isinstance(error, CutShortError):
                raise
            return cls(tuple(events), lost=f"{error}; nothing behind it was read")
        return cls(tuple(events))

    def save(self, path: Path | str) -> Path:
        """Write the events as JSONL and return the path.

        FileExistsError: there is such a file; nothing is overwritten.
        """
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.writelines(sealed(to_line(event)) for event in self.events)
        return path

    def of(self, *kinds: str) -> list[TraceEvent]:
        """Return the events of these kinds, in order."""
        return [event for event in self.events if event["kind"] in kinds]

    def prompt(self, seq: int) -> str | list[Any]:
        """Return the whole prompt of the request with this `seq`, as it was written."""
        whole: str | list[Any] = ""
        for event in self.of(Kind.MODEL_REQUEST):
            if event["seq"] == seq or "parent" not in event:
                new, kept = event["prompt"], event["kept"]
                whole = whole[:kept] + new if kept else new
            if event["seq"] == seq:
                return whole
        raise TraceError(f"event {seq} is not a model_request")

    @property
    def end(self) -> TraceEvent | None:
        """The `run_finished` event, or None while the run goes on."""
        last = self.events[-1] if self.events else None
        return last if last and last["kind"] == Kind.RUN_FINISHED else None

    def __repr__(self) -> str:
        first = self.events[0] if self.events else {}
        run = f"Trace {first['engine']}" if "engine" in first else "Trace"
        end = self.end or {"state": "no end", "answer": None}
        said = [f"{run}: {len(self)} event{'s' * (len(self) != 1)}", end["state"]]
        if end["answer"] is not None:
            said[1] += f": {clip(' '.join(str(end['answer']).split()), 60)}"
        if self.lost:
            said.append(f"lost: {self.lost}")
        return f"<{', '.join(said)}>"

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[TraceEvent]:
        return iter(self.events)


# what a recorded model and a recorded tool answered, and what stopped them

CANCEL, OUT_OF_TIME = "cancel", "out_of_time"


def as_completion(event: TraceEvent) -> Completion:
    """Return what the model said in a `model_turn`."""
    turn, usage = event["turn"] or {}, event["usage"] or {}
    said = turn["calls"] if turn.get("kind") == "calls" else ()
    reason = "length" if "cut" in turn else "tool_calls" if said else "stop"
    counted = Usage(*(usage.get(name, 0) for name in ("input", "output", "cached")))
    estimated = bool(usage.get("estimated"))
    return Completion(
        event["text"], counted, requests_in(said), reason, estimated=estimated
    )


def as_observation(event: TraceEvent) -> Observation:
    """Return what an `observation` tells."""
    error = ToolError(**event["error"]) if "error" in event else None
    notes = tuple(event.get("notes", ()))
    about = event["call_id"] or "", error is None, event.get("result"), error
    return Observation(*about, event["tool"] or "", notes)


def requests_in(calls: Iterable[Mapping[str, Any]]) -> tuple[ToolRequest, ...]:
    """Return the calls of a turn as the model said them; see `FunctionCalls`."""
    requests = []
    for call in calls:
        said = json.loads(call["said"]) if "said" in call else call["arguments"]
        call_id = call.get("said_id", call.get("call_id", ""))
        requests.append(ToolRequest(call["tool"], said, call_id))
    return tuple(requests)


def stopped_by(coming: TraceEvent, end: TraceEvent) -> BaseException:
    """Return what ended a call that got no answer: the event behind it says."""
    if coming.get("event") == CANCEL:
        return KeyboardInterrupt()
    if coming.get("event") == OUT_OF_TIME:
        return TimedOut("no answer in time")
    raised = str(end.get("message", "Exception: the record broke off before it said"))
    name, _, text = raised.partition(": ")  # what was raised, as it was told
    kind = type(name, (Exception,), {"__module__": "builtins"})
    return kind(text)  # type: ignore[no-any-return]
