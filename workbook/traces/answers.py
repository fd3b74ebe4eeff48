"""What a recorded model and a recorded tool answered, and what stopped them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from workbook.models.base import Completion, ToolRequest, Usage
from workbook.tools.calls import Observation, ToolError
from workbook.tools.threads import TimedOut
from workbook.traces.events import TraceEvent

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
