"""The eight kinds of trace event, what each carries, and how one becomes a line.

Lines have schema 2: each ends with a checksum, and `run_started` says the schema and
the time of day. Schema 1 had neither, and is still read.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import orjson

TraceEvent = dict[str, Any]
SCHEMA = 2
_SEAL = b',"crc":'


class Kind(StrEnum):
    """What can happen in a run."""

    RUN_STARTED = "run_started"
    TRANSITION = "transition"
    MODEL_REQUEST = "model_request"
    MODEL_TURN = "model_turn"
    TOOL_CALL = "tool_call"
    OBSERVATION = "observation"
    DECISION = "decision"  # of a guard or a person
    RUN_FINISHED = "run_finished"


ENVELOPE = ("trace_id", "seq", "step", "at_s", "kind")
REQUIRED: Mapping[Kind, Mapping[str, Any]] = {
    Kind.RUN_STARTED: {"engine": str, "question": str},
    Kind.TRANSITION: {
        **dict.fromkeys(("source", "event", "target", "why"), str),
        "elapsed_s": int | float,
    },
    Kind.MODEL_REQUEST: {"prompt": str | list, "kept": int},
    Kind.MODEL_TURN: {"text": str, "turn": dict | None, "usage": dict | None},
    Kind.TOOL_CALL: {"call_id": str, "tool": str, "arguments": dict},
    Kind.OBSERVATION: {
        **dict.fromkeys(("call_id", "tool"), str | None),
        **{"ok": bool, "text": str},
    },
    Kind.DECISION: dict.fromkeys(("who", "what", "why"), str),
    Kind.RUN_FINISHED: {"state": str, "reason": str, "answer": str | None},
}
"""What each kind carries besides the envelope, by type; more fields are welcome.

A request holds only what is new: `prompt` is the text, or the list of messages, that
follows the first `kept` characters, or messages, of the request before it;
`Trace.prompt` puts the whole together. `usage` has `input`, `output` and `cached`
tokens. An event caused inside another one (a tool that asks the model again) names that
one's `seq` as its `parent`; such a request is written whole.
"""

_ANYWHERE: Mapping[str, Any] = {
    "trace_id": str,
    "step": int,
    "at_s": int | float,
    "parent": int,
    "limits": dict | None,
    "spent": dict | None,
    "notes": list,
    "schema": int,
    "started_unix_s": int | float,  # seconds since 1970, as `at_s` was 0
}


class TraceError(ValueError):
    """A trace that cannot be read or written, or an event that is not one."""


class CutShortError(TraceError):
    """The last line has no end: its writer died while writing it, or writes still."""


def check_event(event: Any, seq: int) -> None:
    """Raise `TraceError`, in a sentence, unless this is the event with that number."""
    if not isinstance(event, dict):
        raise TraceError(f"an event is a JSON object, this is {type(event).__name__}")
    kind = event.get("kind")
    if kind not in list(Kind):
        raise TraceError(f"{kind!r} is not a kind of event")
    required = REQUIRED[Kind(kind)]
    missing = [name for name in (*ENVELOPE, *required) if name not in event]
    if missing:
        raise TraceError(f"this {kind} has no {', '.join(missing)}")
    for name, types in {**_ANYWHERE, **required}.items():
        if name in event and not isinstance(event[name], types):
            wanted = types.__name__ if isinstance(types, type) else types
            found = type(event[name]).__name__
            raise TraceError(f"{name} is of type {found}, not {wanted}")
    if (schema := event.get("schema", SCHEMA)) not in range(1, SCHEMA + 1):
        raise TraceError(f"it has schema {schema}; this workbook reads 1 to {SCHEMA}")
    if event["seq"] != seq:
        raise TraceError(f"seq is {event['seq']}, expected {seq}: an event is missing")


def to_line(value: Any) -> bytes:
    """Return one line of JSON in UTF-8; what JSON does not have is written as text."""
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
    except TypeError:  # integers beyond 64 bits, and half a surrogate pair's escape
        line = json.dumps(value, ensure_ascii=False, default=_plain) + "\n"
        return line.encode("utf-8", "backslashreplace")


def sealed(line: bytes) -> bytes:
    """Return a line with a checksum (CRC-32) of what it says, as its last field."""
    return b"%s%s%d}\n" % (line[:-2], _SEAL, zlib.crc32(line))


def unsealed(line: bytes, schema: int) -> TraceEvent:
    """Return what a line says; TraceError where it is not as it was written."""
    event = json.loads(line)
    if schema > 1 or (isinstance(event, dict) and "crc" in event):
        said, _, _ = line.rpartition(_SEAL)
        if not said or event.pop("crc", None) != zlib.crc32(said + b"}\n"):
            raise TraceError("it is not as it was written: its checksum differs")
    return event  # type: ignore[no-any-return]


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, (set, frozenset)) else str(value)
