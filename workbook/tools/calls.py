"""What is asked of a tool and what comes of it, as data for two readers.

Programs look at the fields, the model reads `text()`. Nothing of ours is imported here.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


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
        self, kind: str, message: str, retryable: bool = False, hint: str = ""
    ) -> None:
        super().__init__(message)
        self.error = ToolError(kind, message, retryable, hint)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that names a tool of the registry. `notes` say what was repaired in it."""

    name: str
    arguments: dict[str, Any]
    call_id: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
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
    def failed(cls, call_id: str, error: ToolError, tool: str = "") -> Observation:
        """Return the observation of a call that could not be made."""
        return cls(call_id, False, None, error, tool)

    def text(self) -> str:
        """Return what the model reads: result or error, then a line for each note."""
        shown = self.error.text() if self.error else result_text(self.result)
        return "\n".join([shown, *(f"Note: {note}" for note in self.notes)])


def result_text(result: dict[str, Any] | None) -> str:
    """Return what the model reads: the only field `result`, or all as JSON."""
    value: Any = result
    if result is not None and list(result) == ["result"]:
        value = result["result"]
    return value if isinstance(value, str) else to_json(value)


def to_json(value: object) -> str:
    """Return compact JSON with readable characters; NaN and infinity raise."""
    return _ENCODER.encode(value)


_ENCODER = json.JSONEncoder(ensure_ascii=False, allow_nan=False)  # made once
