"""A recorded run again: to its end, on from where it stopped, or with a change."""

import uuid
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from . import trace as files
from .calls import Observation, ToolError, as_json, recordable
from .journal import Divergence, Journal
from .machine import RESUMED, Machine, RunResult
from .model import Response, ToolRequest, Usage
from .trace import ENVELOPE, Event, Trace, TraceError

TIMES = {"at_s", "elapsed_s", "started_unix_s", "trace_id", "wall_s", "what_if"}
"""What differs between two runs that are the same: times, and which file it is."""


def replay(trace: Trace, machine: Machine) -> RunResult:
    """Play a recorded run again, without a model, a tool or a person.

    Divergence: this machine does something else. TraceError: the record has no end.
    """
    waits = any(event.get("target") == "SUSPENDED" for event in trace.events[-1:])
    if trace.lost or not (trace.end or waits):
        words = "the record breaks off: there is no end to reach"
        raise TraceError(trace.lost or words)
    return machine.run(journal=Journal(record=trace.events))


def first_divergence(recorded: Sequence[Event], emitted: Sequence[Event]) -> int | None:
    """Return the number of the first event in which two runs differ, times apart."""
    for seq, (one, other) in enumerate(zip_longest(recorded, emitted)):
        if one is None or other is None or not alike(one, other):
            return seq
    return None


def alike(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Return whether two events are the same, but for times and ids."""
    apart = TIMES | {n for n in ENVELOPE if n not in one or n not in other}
    return bool(_timeless(one, apart) == _timeless(other, apart))


def _timeless(value: Any, apart: Set[str] = TIMES) -> Any:
    if isinstance(value, Mapping):
        return {str(n): _timeless(v) for n, v in value.items() if n not in apart}
    return [*map(_timeless, value)] if isinstance(value, list | tuple) else value


def resume(path: Path | str, machine: Machine) -> RunResult:
    """Go on with a run in its own file, from wherever it stopped.

    What the record holds is not asked, paid or done again; the machine may be another.
    TraceError: there is no run that can go on. Divergence: it goes another way.
    """
    if not Path(path).exists():
        raise FileNotFoundError(f"there is no trace {path}")
    file, record = files.open_to_write(path), list[Event]()
    try:
        try:
            for event in files.read_events(path):
                record.append(event)
        except files.CutShortError:
            file.truncate(Path(path).read_bytes().rfind(b"\n") + 1)
        if not record or record[0]["kind"] != "run_started":
            raise TraceError(f"{path} holds no run that has begun: nothing to resume")
        if (end := Trace(record).end) and end["state"] not in RESUMED:
            words = f"has ended in {end['state']}: begin a new one"
            raise TraceError(f"the run in {path} {words}")
        signal, listener = _going_on("resumed", machine, record), machine.listener
        journal = Journal(record=record, file=file, resumed=signal, listener=listener)
    except BaseException:
        file.close()
        raise
    return machine.run(journal=journal)


_CHANGES: Mapping[str, Sequence[set[str]]] = {
    "model_turn": ({"text"}, {"calls"}, {"text", "calls"}),
    "observation": ({"result"}, {"error"}),
}
"""What comes from outside, and what of it can be changed."""


def what_if(trace: Trace, k: int, change: Mapping[str, Any], machine: Machine) -> Trace:
    """Play a run again with event k changed, and live from there on; return its trace.

    `change` of a turn: its `text` or `calls` ({"tool", "arguments"} each); of a tool's
    observation: its `result` or `error` (fields of a ToolError). TraceError: of others.
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
        why = "neither the model nor a tool has made it; it is the runtime's own"
        words = f"event {k} cannot be changed: {why} {record[k]['kind']}"
        raise TraceError(words) from None


def _changed(event: Event, change: Mapping[str, Any]) -> Event:
    fields, seq = _CHANGES.get(event["kind"], ()), event["seq"]
    if set(change) not in fields:
        known = " or ".join(", ".join(sorted(each)) for each in fields)
        can = known or "a model_turn or an observation can"
        words = f"{list(change)} cannot be changed in it, but {can}"
        raise TraceError(f"event {seq} is a {event['kind']}: {words}")
    try:
        if event["kind"] == "model_turn":
            calls = change.get("calls", ())
            asked = [ToolRequest(call["tool"], call["arguments"]) for call in calls]
            response = Response(str(change.get("text", "")), calls=asked)
            new = response.fields() | {"usage": event["usage"]}
        else:
            error = ToolError(**change["error"]) if "error" in change else None
            result = change.get("result")
            if not (error or isinstance(result, dict)):
                raise TypeError("a result is an object, as {'result': 90}")
            seen = Observation.of_event(event)
            result = None if error else as_json(result)
            new = replace(seen, ok=not error, result=result, error=error).fields()
            new = {"result": None, "error": None} | new
    except (KeyError, TypeError, ValueError, AttributeError) as problem:
        raise TraceError(f"this is no change of event {seq}: {problem}") from None
    gone = ("calls", "finish", "extra")  # of the turn that it was
    return {n: v for n, v in event.items() if n not in gone} | new


def _going_on(what: str, machine: Machine, record: Sequence[Event]) -> Event:
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
        words = ["These tools are there as well:"]
        words += [f"{t.signature()}: {' '.join(t.description.split())}" for t in new]
        signal |= {"tools": [t.name for t in new], "note": "\n".join(words)}
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
