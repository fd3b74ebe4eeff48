"""What an adapter makes of a model's turn: a `ModelTurn`, and the calls in it.

Where a turn's text alone does not say what it is (words without a call, a turn that was
cut), it is decided here, for each adapter alike.
"""

from __future__ import annotations

import json
import re
from collections.abc import Container
from dataclasses import dataclass
from typing import Any, Protocol

from workbook.fsm.table import Event
from workbook.loop.turns import (
    Action,
    Final,
    Label,
    Malformed,
    Turn,
    Unreadable,
    heard,
    parse_turn,
    split_fields,
)
from workbook.models.base import Completion, Message
from workbook.tools.calls import Observation, ToolCall, ToolError

CUT = ("length", "cancelled")
"""Why a model ended in the middle of what it wrote: at its cap, or told to stop."""

_WRAPPED = re.compile(r"^(?:<tool_call>|```\w*)|(?:</tool_call>|```)$")


@dataclass(slots=True)
class PendingCall:
    """A tool call as the model asked for it, until it has its observation."""

    call: ToolCall
    refusal: ToolError | None = None  # why it cannot be made
    begun: bool = False  # it is written down
    made: bool = False  # its tool has been called
    observation: Observation | None = None  # it was made with others, before its turn


@dataclass(frozen=True, slots=True)
class ModelTurn:
    """What the model did in one turn."""

    event: str  # TOOL_REQUESTED, FINAL_ANSWER or UNREADABLE_TURN
    turn: dict[str, Any]  # as a trace shows it
    asked: tuple[PendingCall, ...] = ()  # in the order in which the calls were written
    answer: str | None = None
    problem: ToolError | None = None  # what could not be read


class Conversation(Protocol):
    """What the machine needs of an adapter. One is made for each run.

    `request` returns the fields of the `model_request` to come: the `prompt` behind the
    first `kept` characters or messages, which are all that was sent before; or, without
    `kept`, the whole prompt. What `read` has read is in the next one.
    """

    withdrawn: bool  # no tool is offered any more

    def request(self) -> dict[str, Any]: ...
    def ask(self, **options: Any) -> Completion: ...  # options of the model's
    def read(self, completion: Completion) -> ModelTurn: ...
    def observe(self, observation: Observation) -> None: ...  # tell the model
    def withdraw(self, words: str) -> None: ...  # offer no tool, and tell the model so
    @property
    def prompt(self) -> str | list[Message]: ...  # what the next request sends


def read_words(text: str, tools: Container[str]) -> Turn:
    """Read a message without a call: a step in words is no answer, words are."""
    words, turn = text.strip(), parse_turn(text)
    plain = split_fields(text) == [(Label.THOUGHT, words)]
    if plain and not _is_call(words, tools):
        return Final("", words)
    in_words = isinstance(turn, Action)
    return Malformed(Unreadable.NO_STEP, text) if in_words else turn


def _is_call(words: str, tools: Container[str]) -> bool:
    """Whether words are a call that the model's side handed on as they were."""
    try:
        said = json.loads(_WRAPPED.sub("", words))
    except (ValueError, RecursionError):
        return False
    return isinstance(said, dict) and str(said.get("name")) in tools


def unless_cut(completion: Completion, turn: Turn) -> Turn:
    """Return the turn, unless the model was cut in the middle of its step."""
    if completion.finish_reason not in CUT or isinstance(turn, Malformed):
        return turn
    read = turn.input if isinstance(turn, Action) else turn.answer
    in_its_step = split_fields(completion.text)[-1][1] == read
    return Malformed(Unreadable.NO_STEP, completion.text) if in_its_step else turn


def kept_of(completion: Completion, turn: Turn) -> tuple[str, dict[str, Any]]:
    """Return what the history keeps of a turn, and what a trace says of the rest."""
    kept, dropped = heard(completion.text, turn)
    notes: dict[str, Any] = {"dropped": dropped} if dropped else {}
    if completion.finish_reason in CUT:
        notes["cut"] = True
    return kept, notes


def unreadable(shown: dict[str, Any], hint: str) -> ModelTurn:
    """Return the reply to a turn that is none; `hint` says how to write one."""
    reason = shown["reason"].replace("_", " ")
    if "cut" in shown:
        reason, hint = "the reply was cut at its limit", f"Write less. {hint}"
    message = f"no step could be read ({reason})."
    problem = ToolError("unreadable_turn", message, hint=hint)
    return ModelTurn(Event.UNREADABLE_TURN, shown, problem=problem)
