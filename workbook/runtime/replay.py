"""A recorded run again: to its end, on from where it stopped, or with a change."""

import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from .calls import Observation, ToolError, as_json, recordable
from .journal import Divergence, Journal
from .machine import RESUMED, Machine, RunResult
from .model import Response, ToolRequest, Usage
from .trace import ENVELOPE, Event, EventFile, Trace, TraceError

TIMES = {"at_s", "elapsed_s", "started_unix_s", "trace_id", "wall_s", "what_if"}
"""What differs between two runs that are the same: times, and which file it is."""


def replay(trace: Trace, machine: Machine) -> RunResult:
    """Play a recorded run again, without a model, a tool or a person.

    Divergence: this machine does something else. TraceError: the record has no end.
    """
    if trace.lost or (trace.end is None and not _waits(trace.events)):
        raise TraceError(
            trace.lost or "the record breaks off: there is no end to reach"
        )
    return machine.run(journal=Journal(record=trace.events))


def _waits(record: Sequence[Event]) -> bool:
    return bool(record) and record[-1].get("target") == "SUSPENDED"


def first_divergence(recorded: Sequence[Event], emitted: Sequence[Event]) -> int | None:
    """Return the number of the first event in which two runs differ, times apart.

    Where one is the beginning of the other, it is the length of the shorter one.
    """
    for seq, (one, other) in enumerate(zip(recorded, emitted, strict=False)):
        if not alike(one, other):
            return seq
    same = len(recorded) == len(emitted)
    return None if same else min(len(recorded), len(emitted))


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two events are the same, but for times and ids.

    What stands in the envelope of one of them alone does not count.
    """
    apart = {n for n in ENVELOPE if n not in one or n not in other}
    return bool(_timeless(one, apart) == _timeless(other, apart))


def _timeless(value: Any, apart: set[str]) -> Any:
    if isinstance(value, Mapping):
        left = {str(n): v for n, v in value.items() if n not in TIMES | apart}
        return {name: _timeless(each, set()) for name, each in left.items()}
    if isinstance(value, list | tuple):
        return [_timeless(each, set()) for each in value]
    return value


def resume(path: Path | str, machine: Machine, **options: Any) -> RunResult:
    """Go on with a run in its own file, from wherever it stopped.

    What the record holds is not asked, paid or done again. The machine may have other
    limits, other rules, another model, and more tools.

    Raises:
        FileNotFoundError: there is no such file.
        TraceError: it is no trace, another process writes it, or its run is over.
        Divergence: this machine does something else than the record.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no trace {path}")
    file = EventFile(path)
    try:
        record = file.events()
        if not record or record[0]["kind"] != "run_started":
            raise TraceError(f"{path} holds no run that has begun: nothing to resume")
        end = record[-1] if record[-1]["kind"] == "run_finished" else None
        if end and end["state"] not in RESUMED:
            raise TraceError(
                f"the run in {path} has ended in {end['state']}: begin a new one"
            )
        journal = Journal(file, record, resumed=_going_on("resumed", machine, record))
    except BaseException:
        file.close()
        raise
    journal.listener = options.get("listener", machine.listener)
    return machine.run(journal=journal)


_CHANGES: Mapping[str, Sequence[set[str]]] = {
    "model_turn": ({"text"}, {"calls"}, {"text", "calls"}),
    "observation": ({"result"}, {"error"}),
}
"""What comes from outside, and what of it can be changed."""


def what_if(trace: Trace, k: int, change: Mapping[str, Any], machine: Machine) -> Trace:
    """Play a run again with event k changed, and live from there on; return its trace.

    Args:
        k: a `model_turn`, or an `observation` that a tool made.
        change: of a turn `text` or `calls` ({"tool", "arguments"} each), of an
            observation `result` or `error` (the fields of a ToolError).

    Raises:
        TraceError: there is no such event, or it cannot be changed so.
    """
    if k not in range(len(trace)):
        raise TraceError(f"there is no event {k!r}: the run has 0 to {len(trace) - 1}")
    new = {"trace_id": uuid.uuid4().hex[:12]}
    before = [*trace.events[:k], _changed(trace.events[k], change)]
    record = [recordable(event | new) for event in before]
    about = {"trace_id": trace.events[0]["trace_id"], "seq": k, "change": change}
    record[0] |= {"what_if": recordable(about)}
    record = Journal().hidden(record)
    journal = Journal(record=record, resumed=_going_on("what_if", machine, record))
    try:
        return machine.run(journal=journal).trace
    except Divergence as found:
        if found.seq != k:
            raise
        why = f"event {k} cannot be changed: neither the model nor a tool has made it"
        raise TraceError(
            f"{why}; it is the runtime's own {record[k]['kind']}"
        ) from None


def _changed(event: Event, change: Mapping[str, Any]) -> Event:
    """Return an event with other fields; TraceError: it cannot have them."""
    fields = _CHANGES.get(event["kind"], ())
    if set(change) not in fields:
        known = " or ".join(", ".join(sorted(each)) for each in fields)
        raise TraceError(
            f"event {event['seq']} is a {event['kind']}: {list(change)} cannot be "
            f"changed in it, but {known or 'a model_turn or an observation can'}"
        )
    try:
        if event["kind"] == "observation":
            return event | _changed_observation(event, change)
        calls = [
            ToolRequest(call["tool"], call["arguments"])
            for call in change.get("calls", ())
        ]
        response = Response(str(change.get("text", "")), calls=calls)
        gone = {"calls", "finish", "extra"}
        kept = {name: value for name, value in event.items() if name not in gone}
        return kept | response.fields() | {"usage": event["usage"]}
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise TraceError(
            f"this is no change of event {event['seq']}: {problem}"
        ) from None


def _changed_observation(event: Event, change: Mapping[str, Any]) -> Event:
    error = ToolError(**change["error"]) if "error" in change else None
    result = change.get("result")
    if error is None and not isinstance(result, dict):
        raise TypeError("a result is an object, as {'result': 90}")
    seen = Observation.of_event(event)
    about = seen.call_id, error is None, as_json(result), error, seen.tool, seen.notes
    fields = Observation(*about).fields()
    return fields | {name: None for name in ("result", "error") if name not in fields}


def _going_on(what: str, machine: Machine, record: Sequence[Event]) -> Event:
    """Return the signal at a record's end: what this machine has that it had not."""
    settings: dict[str, Any] = {}
    tools: list[str] = []
    for event in record:
        if event["kind"] == "run_started" or "signal" in event:
            settings |= event.get("settings", {})
            tools += event.get("tools", [])
    now = recordable(machine.settings)
    changed = {name: each for name, each in now.items() if settings.get(name) != each}
    signal: Event = {"what": what, "who": "record", "settings": changed}
    signal["why"] = f"event {len(record) - 1} was the last one"
    if new := [tool for tool in machine.tools if tool.name not in tools]:
        lines = [
            f"{tool.signature()}: {' '.join(tool.description.split())}" for tool in new
        ]
        note = "\n".join(["These tools are there as well:", *lines])
        signal |= {"tools": [tool.name for tool in new], "note": note}
    return signal


def as_response(event: Event) -> Response:
    """Return what the model responded in a `model_turn`."""
    used = event["usage"] or {}
    usage = Usage()
    if not used.get("estimated"):
        usage = Usage(*(used.get(name, 0) for name in ("input", "output", "cached")))
    calls = [ToolRequest(**call) for call in event.get("calls", ())]
    finish, extra = event.get("finish", "stop"), event.get("extra", {})
    return Response(event["text"], usage, calls, finish, extra)


def as_observation(event: Event) -> Observation:
    """Return what came of a call in an `observation`."""
    return Observation.of_event(event)
