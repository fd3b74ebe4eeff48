"""A recorded run, played again with one change: what would have come of it?

From the change on, the machine's own model and tools are called.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbook.models.base import Completion
from workbook.tools.calls import Observation, ToolError
from workbook.traces.events import Kind, TraceError, TraceEvent, to_line
from workbook.traces.recording import Recorded
from workbook.traces.redaction import Secrets
from workbook.traces.replay import secrets_of
from workbook.traces.trace import Trace, requests_in


def what_if(
    trace: Trace,
    k: int,
    change: Mapping[str, Any],
    machine: Any,
    path: Path | str | None = None,
) -> Trace:
    """Play a run again up to event k, change one thing, and go on; return that run.

    From there on the machine's own model and tools are called: what they do is real.
    The new trace names the old one, and the change, as `what_if` in its first event.

    Args:
        k: the event to change: a `model_turn`, or an `observation` that a tool made.
        change: its fields. Of a turn `text` or `calls` ({"tool", "arguments"} each), of
            an observation `result` or `error` (the fields of a `ToolError`). Or else
            {"limits": …}, the fields to change: there k may be any event, and an answer
            stays as it was.
        machine: made as the recorded one was, with the model that is to go on.
        path: where the new trace is written as well.

    Raises:
        TraceError: there is no such event, or it cannot be changed so.
        FileExistsError: there is a file at `path`.
        Divergence: the machine did something else before event k.
    """
    if k not in range(len(trace)):
        raise TraceError(f"there is no event {k!r}: the run has 0 to {len(trace) - 1}")
    new: Any = {"trace_id": uuid.uuid4().hex[:12]}
    is_kept = "limits" in change and trace.events[k]["kind"] in _ANSWERS
    before = Trace(tuple(event | new for event in trace.events[: max(k + is_kept, 1)]))
    if path is not None and Path(path).exists():
        raise FileExistsError(f"there is a file {path}: take another name")
    if set(change) == {"limits"}:
        answer = None
        try:
            machine = machine.with_limits(**change["limits"])
        except (TypeError, ValueError) as error:
            raise TraceError(f"these are no limits: {change} ({error})") from None
    else:
        answer = _changed(trace.events[k], change)
    secrets = secrets_of(machine)
    safe = Secrets(secrets).out_of_data(json.loads(to_line(change)))
    about = {"trace_id": trace.events[0]["trace_id"], "seq": k, "change": safe}
    before.events[0]["what_if"] = about
    source = before if path is None else before.save(path)
    try:
        with Recorded(source, machine.live, instead=answer, secrets=secrets) as record:
            machine.run(record.question, record)
            record.is_through()
            return record.trace()
    except TraceError:  # it never came to what is real
        if path is not None:
            Path(path).unlink()
        raise


_ANSWERS: Mapping[str, tuple[set[str], ...]] = {
    Kind.MODEL_TURN: ({"text"}, {"calls"}, {"text", "calls"}),
    Kind.OBSERVATION: ({"result"}, {"error"}),
}
"""What comes from outside, and what of it can be changed."""


def _changed(event: TraceEvent, change: Mapping[str, Any]) -> Any:
    """Return the answer that an event would have told, had it been so."""
    fields = _ANSWERS.get(event["kind"], ())
    if set(change) not in fields:
        known = " or ".join(", ".join(sorted(each)) for each in fields)
        raise TraceError(
            f"event {event['seq']} is a {event['kind']}: {list(change)} cannot be "
            f"changed in it, but {known or 'a model_turn or an observation can'}"
        )
    try:
        if event["kind"] == Kind.MODEL_TURN:
            calls = requests_in(change.get("calls", ()))
            return Completion(str(change.get("text", "")), tool_requests=calls)
        error = ToolError(**change["error"]) if "error" in change else None
        seen = Observation("", error is None, change.get("result"), error)
        if error is None and not isinstance(seen.result, dict):
            raise TypeError("a result is an object, as {'result': 90}")
        seen.text()  # it can be written down
        return seen
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise TraceError(
            f"this is no change of event {event['seq']}: {problem}"
        ) from None
