"""A recorded run, played again: to its end, from where it died, or with one change.

`machine` is a `workbook.fsm.Machine` here, made as the recorded one was: where that
one's `TraceWriter` was given secrets, so is its hook's.
"""

from __future__ import annotations

import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from workbook.models.base import Completion
from workbook.tools.calls import Observation, ToolError
from workbook.traces.answers import requests_in
from workbook.traces.events import Kind, TraceError, TraceEvent, to_line
from workbook.traces.recording import Recorded
from workbook.traces.redaction import Secrets, secrets_in
from workbook.traces.trace import Trace


def replay(trace: Trace, machine: Any) -> Any:
    """Play a recorded run again, and return the `RunResult` to which it comes.

    The machine must be made as the recorded one was: table, tools, limits, rules. Its
    model and its tools are not called, nor is anybody asked. What was counted or
    approved with a secret in it, and an end that a hook made, cannot be told again.

    Raises:
        Divergence: this machine does something else.
        TraceError: the record has no end to come to, or is damaged.
    """
    record = Recorded(trace, secrets=_secrets_of(machine))
    exit = machine.run(record.question, record)
    record.is_through()
    return exit


def resume(path: Path | str, machine: Any) -> Any:
    """Go on with a run that died or waits, in its own file, and return its `RunResult`.

    What the record holds is not asked, paid or done again; a call whose answer was lost
    is made again, and the trace says so. A call with a secret that the record hides is
    not made. A run that ended because it could not be written goes on as well. The
    listener of the machine's hook gets each event that is new.

    Raises:
        TraceError: this is no trace, or its run has ended.
        Divergence: this machine does something else than the record says.
    """
    told: dict[str, Any] = {"secrets": _secrets_of(machine)}
    told["listener"] = getattr(machine.hook, "listener", None)
    with Recorded(path, machine.live, **told) as record:
        if record.end is not None:
            state = record.end["state"]
            raise TraceError(f"the run in {path} has ended in {state}: begin a new one")
        exit = machine.run(record.question, record)
        if record.diverged is not None:
            raise record.diverged
        return exit


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
    if k not in range(len(trace)) or not isinstance(k, int):
        raise TraceError(f"there is no event {k!r}: the run has 0 to {len(trace) - 1}")
    if not isinstance(change, Mapping):
        found = type(change).__name__
        raise TraceError(f"a change is a dict, as {{'text': …}}, and no {found}")
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
    secrets = _secrets_of(machine)
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


def _secrets_of(machine: Any) -> Any:
    return getattr(machine.hook, "secrets", secrets_in(os.environ))


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
