"""What is asked of a tool and what comes of it, as data for two readers.

Programs look at the fields, the model reads `text()`. What goes to a model or a file
is JSON: `as_json` checks what a tool returned, `recordable` writes down anything.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any, Self


class Effect(StrEnum):
    """What a call does to the world: READ may be repeated, WRITE may not."""

    READ = "read"
    WRITE = "write"


class ErrorKind(StrEnum):
    """The kinds of error that the contract itself knows. A tool may have its own."""

    UNKNOWN_TOOL = "unknown_tool"
    INVALID_ARGUMENTS = "invalid_arguments"
    TIMEOUT = "timeout"
    TOOL_RAISED = "tool_raised"
    BAD_OUTPUT = "bad_output"
    DENIED = "denied"
    NEEDS_PERSON = "needs_person"


@dataclass(frozen=True, slots=True)
class ToolError:
    """Why a call has no result."""

    kind: str  # one word for programs, see `ErrorKind`
    message: str  # what was wrong, with what value
    retryable: bool = False  # whether the same call can succeed later
    hint: str = ""  # what to do next

    def text(self) -> str:
        """Return the error as the model reads it."""
        again = "The same call may work later." if self.retryable else ""
        parts = [f"Error ({self.kind}): {self.message}", self.hint, again]
        return " ".join(part for part in parts if part)


class ToolFailure(Exception):  # noqa: N818 - an outcome that the tool foresaw
    """Raised by a tool that knows why it has no result. The fields of `ToolError`."""

    def __init__(
        self, kind: str, message: object, retryable: bool = False, hint: str = ""
    ) -> None:
        super().__init__(message)
        self.error = ToolError(kind, str(message), retryable, hint)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that names a tool of the registry. `notes` say what was repaired in it."""

    name: str
    arguments: dict[str, Any]
    call_id: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Observation:
    """What came of a call: a result or an error, never both.

    The model reads the `notes` on repairs too, to write the next call properly.
    """

    call_id: str
    ok: bool
    result: dict[str, Any] | None
    error: ToolError | None
    tool: str = ""
    notes: tuple[str, ...] = ()

    @classmethod
    def failed(cls, call_id: str, error: ToolError, tool: str = "") -> Self:
        """Return the observation of a call that could not be made."""
        return cls(call_id, False, None, error, tool)

    @classmethod
    def of_event(cls, event: Mapping[str, Any]) -> Self:
        """Return what an `observation` of a trace holds."""
        error = ToolError(**event["error"]) if event.get("error") else None
        call_id, tool = event["call_id"] or "", event["tool"] or ""
        notes = tuple(event.get("notes", ()))
        return cls(call_id, error is None, event.get("result"), error, tool, notes)

    def text(self) -> str:
        """Return what the model reads: result or error, and a line for each note."""
        return self._text

    @cached_property
    def _text(self) -> str:
        outcome = self.error.text() if self.error else result_text(self.result)
        return "\n".join([outcome, *(f"Note: {note}" for note in self.notes)])

    def fields(self) -> dict[str, Any]:
        """Return the fields of an `observation` in a trace."""
        about = {"call_id": self.call_id or None, "tool": self.tool or None}
        fields: dict[str, Any] = {**about, "ok": self.ok, "text": self.text()}
        if self.notes:
            fields["notes"] = [*self.notes]
        if self.error is None:
            return {**fields, "result": self.result}
        return {**fields, "error": asdict(self.error)}


def result_text(result: dict[str, Any] | None) -> str:
    """Return what the model reads: the only field `result`, or all as JSON."""
    value: Any = result
    if result is not None and list(result) == ["result"]:
        value = result["result"]
    return value if isinstance(value, str) else to_json(value)


def clip(text: str, limit: int) -> str:
    """Return a text of at most `limit` characters; one that was cut ends with "…".

    >>> clip("Thought: 2+2", 9)
    'Thought:…'
    """
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def clipped(text: str, limit: int) -> str:
    """Return at most `limit` characters, without the halves of surrogate pairs."""
    return clip(text, limit).encode("utf-8", "replace").decode("utf-8")


def to_json(value: object) -> str:
    """Return compact JSON with readable characters; NaN and infinity raise."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once

MAX_DEPTH = 100  # levels of lists and objects; far deeper ones crash a JSON reader
MAX_BITS = 14_000  # 4,200 digits: Python refuses to write a longer number


class NotJson(ValueError):  # noqa: N818 - what it is, in words for the model
    """Something that JSON cannot hold."""


def as_json(value: Any, levels: int = MAX_DEPTH) -> Any:
    """Return a copy of JSON data; NotJson says what in it JSON cannot hold.

    These are NaN and infinity, a number of more than 4,200 digits, half a surrogate
    pair, a key that is no text, any other type, and more than `MAX_DEPTH` levels.

    >>> as_json({"days": (1, 2.5)})
    {'days': [1, 2.5]}
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            raise NotJson(f"{value[:40]!a} has half a character in it") from None
        return str.__str__(value)
    if isinstance(value, int):
        if value.bit_length() > MAX_BITS:
            raise NotJson("a number has more than 4,200 digits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(f"{value} is not a number in JSON")
        return float(value)
    if not isinstance(value, list | tuple | dict):
        raise NotJson(f"it has no {type(value).__name__}")
    if levels == 0:
        raise NotJson(f"nested too deeply; {MAX_DEPTH} levels are the limit")
    if not isinstance(value, dict):
        return [as_json(item, levels - 1) for item in value]
    for name in value:
        if not isinstance(name, str):
            raise NotJson(f"the name {name!r:.40} is no text")
    return {as_json(k): as_json(item, levels - 1) for k, item in value.items()}


def recordable(value: Any, levels: int = MAX_DEPTH) -> Any:
    """Return anything as JSON data: what JSON cannot hold becomes a text.

    So a run works with exactly what its trace holds, whatever a model has written.

    >>> recordable({1: b"a", "b": float("nan")})
    {'1': "b'a'", 'b': 'nan'}
    """
    if type(value) is str:
        if value.isascii():
            return value
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, Mapping) and levels:
        each = value.items()
        return {recordable(_named(k)): recordable(v, levels - 1) for k, v in each}
    if isinstance(value, list | tuple) and levels:
        return [recordable(item, levels - 1) for item in value]
    try:
        return as_json(value, 0)
    except NotJson:
        return recordable(_named(value))


def _named(value: Any) -> str:
    """Return any object as a text of at most 200 characters; one can be broken."""
    if isinstance(value, str):
        return str.__str__(value)
    try:
        return clip(str(value), 200)
    except Exception:
        return f"a {type(value).__name__}"
