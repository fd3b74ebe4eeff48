"""What the machine needs of a conversation with a model, however it is held.

A `Reply` says what the model did in one turn, in the words of the machine; a
`Conversation` is what an adapter can do. Neither knows text turns or function calls.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

from workbook.fsm.states import Event
from workbook.models.base import Completion
from workbook.tools.contract import Observation, ToolCall, ToolError


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call as the model asked for it; `refusal` says why it cannot be made."""

    call: ToolCall
    refusal: ToolError | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model did in one turn.

    Args:
        event: TOOL_REQUESTED, FINAL_ANSWER or UNREADABLE_TURN.
        turn: the turn as a trace shows it.
        asked: the calls, in the order in which they were written.
        answer: the final answer.
        problem: what could not be read.
    """

    event: Event
    turn: dict[str, Any]
    asked: tuple[Asked, ...] = ()
    answer: str | None = None
    problem: ToolError | None = None


class Conversation(Protocol):
    """What the machine needs of an adapter. One is made for each run."""

    def request(self) -> dict[str, Any]:
        """Return the fields of the `model_request` to come: only what is new."""
        ...

    def ask(self) -> Completion:
        """Ask the model."""
        ...

    def read(self, completion: Completion) -> Reply:
        """Say what the model did, and remember it for the next request."""
        ...

    def observe(self, observation: Observation) -> None:
        """Put an observation where the model will read it."""
        ...


def unreadable(reason: str, hint: str) -> ToolError:
    """Return what the model is told about a turn that could not be read."""
    return ToolError("unreadable_turn", f"no step could be read ({reason}).", hint=hint)
