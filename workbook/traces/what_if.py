"""A recorded run, played again with one change: what would have come of it?

From the change on, the machine's own model and tools are called.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from typing import Any

from workbook.models.base import Completion
from workbook.tools.calls import Observation, ToolError
from workbook.traces.events import Kind, TraceError, TraceEvent, to_line
from workbook.traces.recording import Recorded
from workbook.traces.redaction import Secrets
from workbook.traces.replay import secrets_of
from workbook.traces.trace import Trace, requests_in


def what_if(trace: Trace, k: int, change: Mapping[str, Any], machine: Any) -> Trace:
    """Play a run again up to event k, change one thing, and go on; return that run.

    From there on the machine's own model and tools are called: what they do is real.
    The new trace names the old one, and the change, as `what_if` in its first event.

    Args:
        k: the event to change: a `model_turn`, or an `observation` that a tool made.
        change: its fields. Of a turn `text` or `calls` ({"tool", "arguments"} each), of
            an observation `result` or `error` (the fields of a `ToolError`).
        machine: made as the recorded one was, with the model that is to go on.

    Raises:
        TraceError: there is no such event, or it cannot be changed so.
        Divergence: the machine did something else before event k.
    """
    if k not in range(len(trace)):
        raise TraceError(f"there is no event {k!r}: the run has 0 to {len(trace) - 1}")
    answer, secrets = _changed(trace.events[k], change), secrets_of(machine)
    safe = Secrets(secrets).out_of_data(json.loads(to_line(change)))
    new = {"trace_id": uuid.uuid4().hex[:12]}
    before = Trace(tuple(event | new for event in trace.events[:k]))
    about = {"trace_id": trace.events[0]["trace_id"], "seq": k, "change": safe}
    before.events[0]["what_if"] = about
    with Recorded(before, machine.live, instead=answer, secrets=secrets) as record:
        machine.run(record.question, record)
        record.is_through()
        return record.trace()


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
