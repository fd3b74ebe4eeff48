"""The seven kinds of trace event, what each carries, and how one becomes a line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import orjson

TraceEvent = dict[str, Any]


class Kind(StrEnum):
    """The seven kinds of event."""

    RUN_STARTED = "run_started"
    TRANSITION = "transition"
    MODEL_REQUEST = "model_request"
    MODEL_TURN = "model_turn"
    TOOL_CALL = "tool_call"
    OBSERVATION = "observation"
    RUN_FINISHED = "run_finished"


ENVELOPE = ("trace_id", "seq", "step", "at_s", "kind")

_NOTHING = type(None)
REQUIRED: Mapping[Kind, Mapping[str, tuple[type, ...]]] = {
    Kind.RUN_STARTED: {"engine": (str,), "question": (str,)},
    Kind.TRANSITION: {
        "source": (str,),
        "event": (str,),
        "target": (str,),
        "why": (str,),
        "elapsed_s": (int, float),
    },
    Kind.MODEL_REQUEST: {"prompt": (str, list), "kept": (int,)},
    Kind.MODEL_TURN: {
        "text": (str,),
        "turn": (dict, _NOTHING),
        "usage": (dict, _NOTHING),
    },
    Kind.TOOL_CALL: {"call_id": (str,), "tool": (str,), "arguments": (dict,)},
    Kind.OBSERVATION: {
        "call_id": (str, _NOTHING),
        "tool": (str, _NOTHING),
        "ok": (bool,),
        "text": (str,),
    },
    Kind.RUN_FINISHED: {
        "state": (str,),
        "reason": (str,),
        "answer": (str, _NOTHING),
    },
}
"""What each kind carries besides the envelope, by type; more fields are welcome.

A request holds only what is new: `prompt` is the text, or the list of messages, that
follows the first `kept` characters, or messages, of the request before it. A history
that only grows is thus written once and not once a step; `Trace.prompt` puts the whole
together. `usage` has `input`, `output` and `cached` tokens. An event caused inside
another one (a tool that asks the model again) names that one's `seq` as its `parent`;
such a request is written whole.
"""


_ANYWHERE: Mapping[str, tuple[type, ...]] = {
    "trace_id": (str,),
    "step": (int,),
    "at_s": (int, float),
    "parent": (int,),
    "limits": (dict, _NOTHING),
    "spent": (dict, _NOTHING),
    "notes": (list,),
}
_JSON_NAMES = {
    str: "a text",
    int: "a number",
    float: "a number",
    bool: "true or false",
    list: "a list",
    dict: "an object",
    _NOTHING: "null",
}


class TraceError(ValueError):
    """A trace that cannot be read or an event that is not one."""


def check_event(event: Any, seq: int | None = None) -> None:
    """Raise `TraceError`, in a sentence, when `event` is not a trace event.

    Args:
        event: what was read.
        seq: the number that it must carry, where that is known.
    """
    if not isinstance(event, dict):
        raise TraceError(f"an event is a JSON object, this is {type(event).__name__}")
    missing = [name for name in ENVELOPE if name not in event]
    if missing:
        raise TraceError(f"the event has no {', '.join(missing)}")
    if event["kind"] not in list(Kind):
        raise TraceError(f"{event['kind']!r} is not a kind of event")
    missing = [name for name in REQUIRED[Kind(event["kind"])] if name not in event]
    if missing:
        raise TraceError(f"this {event['kind']} has no {', '.join(missing)}")
    for name, types in {**_ANYWHERE, **REQUIRED[Kind(event["kind"])]}.items():
        if name in event and not isinstance(event[name], types):
            wanted = " or ".join(dict.fromkeys(_JSON_NAMES[each] for each in types))
            found = _JSON_NAMES.get(type(event[name]), type(event[name]).__name__)
            raise TraceError(f"{name} is {found}, where {wanted} belongs")
    if seq is not None and event["seq"] != seq:
        raise TraceError(f"seq is {event['seq']}, expected {seq}: an event is missing")


def to_line(value: Any) -> bytes:
    """Return one line of JSON in UTF-8.

    orjson costs a tenth of the standard encoder, which writes what orjson refuses:
    integers beyond 64 bits, keys that are no text, half a surrogate pair. The last is
    no UTF-8; what Python's backslashreplace makes of it is its escape in JSON.
    """
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:
        line = _ENCODER.encode(value) + "\n"
        return line.encode("utf-8", "backslashreplace")


def _plain(value: Any) -> Any:
    """Make JSON of what is not: dataclasses and mappings first, text last."""
    from dataclasses import asdict, is_dataclass

    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    return str(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, default=_plain)  # made once, used often
