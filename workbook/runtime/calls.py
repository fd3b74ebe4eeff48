"""What is asked of a tool and what comes of it, as data for two readers.

Programs look at the fields, the model reads `text()`. What goes to a model or a file
is JSON: `as_json` checks what a tool returned, `recordable` writes down anything.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Self

import orjson


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
        parts = f"Error ({self.kind}): {self.message}", self.hint, again
        return " ".join(filter(None, parts))


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


@dataclass(frozen=True, slots=True)
class Observation:
    """What came of a call: a result or an error; the model reads the `notes` too."""

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
        outcome = self.error.text() if self.error else result_text(self.result)
        return "\nNote: ".join([outcome, *self.notes])

    def fields(self) -> dict[str, Any]:
        """Return the fields of an `observation` in a trace."""
        about = {"call_id": self.call_id or None, "tool": self.tool or None}
        notes = {"notes": [*self.notes]} if self.notes else {}
        what = {"error": asdict(self.error)} if self.error else {"result": self.result}
        return about | {"ok": self.ok, "text": self.text()} | notes | what


def result_text(result: dict[str, Any] | None) -> str:
    """Return what the model reads: the only field `result`, or all as JSON."""
    value = result["result"] if result and [*result] == ["result"] else result
    return value if isinstance(value, str) else to_json(value)


def clip(text: str, limit: int) -> str:
    """Return at most `limit` characters: "…" where it was cut, "?" for half of one."""
    text = text if len(text) <= limit else f"{text[: limit - 1]}…"
    return text.encode("utf-8", "replace").decode()


# To compact JSON with readable characters; NaN and infinity raise.
to_json = json.JSONEncoder(ensure_ascii=False, allow_nan=False).encode
MAX_DEPTH = 100  # levels of lists and objects; far deeper ones crash a JSON reader


class NotJson(ValueError):  # noqa: N818 - what it is, in words for the model
    """Something that JSON cannot hold."""


def as_json(value: Any) -> Any:
    """Return a copy of JSON data; NotJson says why there is none."""
    texts: list[Any] = [*value, *value.values()] if type(value) is dict else [None]
    if {*map(type, texts)} <= {str} and "".join(texts).isascii():  # most results
        return value.copy()
    try:
        text = to_json(value)
        text.encode()
        plain = json.loads(text)
        if text.count("{") + text.count("[") > MAX_DEPTH and _is_deep(plain):
            raise RecursionError
    except UnicodeEncodeError:
        raise NotJson("a text has half a character in it") from None
    except RecursionError:
        raise NotJson(f"nested too deeply; {MAX_DEPTH} levels are the limit") from None
    except (TypeError, ValueError) as error:
        raise NotJson(str(error)) from None
    return plain


def _is_deep(value: Any, levels: int = MAX_DEPTH) -> bool:
    if not isinstance(value, dict | list):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(_is_deep(each, levels - 1) for each in inner)


def recordable(value: Any, levels: int = MAX_DEPTH) -> Any:
    """Return anything as JSON data: what JSON cannot hold becomes a text, or null."""
    try:
        plain = orjson.dumps(value, default=_named, option=orjson.OPT_NON_STR_KEYS)
        return orjson.loads(plain)
    except (TypeError, RecursionError):  # long numbers, half characters, deep nesting
        if isinstance(value, Mapping) and levels:
            each = value.items()
            return {_named(key): recordable(inner, levels - 1) for key, inner in each}
        if isinstance(value, list | tuple) and levels:
            return [recordable(inner, levels - 1) for inner in value]
        return value if type(value) is int and abs(value) < 10**4000 else _named(value)


def _named(value: Any) -> str:
    try:
        text = value if isinstance(value, str) else str(value)
        return clip(text, len(text) if text is value else 200)
    except Exception:
        return f"a {type(value).__name__}"
