"""What the machine and its adapters say to each other, and what an adapter must have.

An adapter is a `Conversation`: it sends what was said so far, and reads each turn of
the model's as a `Reply`. `Context` is what may keep its prompt within a limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from workbook.models.base import Completion, Message
from workbook.tools.calls import Observation, ToolCall, ToolError


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call as the model asked for it; `refusal` says why it cannot be made."""

    call: ToolCall
    refusal: ToolError | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model did in one turn."""

    event: str  # TOOL_REQUESTED, FINAL_ANSWER or UNREADABLE_TURN
    turn: dict[str, Any]  # as a trace shows it; see `workbook.fsm.conversations`
    asked: tuple[Asked, ...] = ()  # in the order in which the calls were written
    answer: str | None = None
    problem: ToolError | None = None  # what could not be read


class Conversation(Protocol):
    """What the machine needs of an adapter. One is made for each run."""

    def request(self) -> dict[str, Any]:
        """Return the fields of the `model_request` to come: only what is new.

        That is the `prompt` behind the first `kept` characters or messages, which are
        all that was sent before; or, without `kept`, the whole prompt.
        """

    def ask(self, **options: Any) -> Completion:
        """Ask the model; `options` are what a guard hands on to it."""

    def read(self, completion: Completion) -> Reply:
        """Say what the model did, and remember it for the next request."""

    def observe(self, observation: Observation) -> None:
        """Put an observation where the model will read it."""

    @property
    def prompt(self) -> str | list[Message]:
        """What the next request sends."""

    def withdraw(self, words: str) -> None:
        """Offer no tool any more, and tell the model so."""


class Part(Protocol):
    """A piece of a prompt; see `workbook.guardrails.context`."""

    @property
    def text(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def payload(self) -> Any: ...


class Context(Protocol):
    """What keeps a prompt within a limit; see `workbook.guardrails.context`."""

    def with_pins(self, question: str) -> str:
        """Return the question, with what else is to stay."""

    def add(self, text: str, kind: str, payload: Any = None) -> None:
        """Keep a piece: question, turn (begins a group), observation, or note."""

    def fitted(self) -> Sequence[Part] | None:
        """Return other pieces once there are too many; None while they fit."""
