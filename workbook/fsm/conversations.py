"""Two ways to talk with a model, and one way to say what it did.

`TextTurns` writes one growing prompt and reads Thought, Action, Final Answer.
`FunctionCalls` keeps a list of messages and reads the calls in them. Both return a
`Reply`, so the machine behind them is the same.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Protocol

from workbook.fsm.reading import CUT, read_words, unless_cut
from workbook.fsm.table import Event
from workbook.loop.turns import (
    Action,
    Final,
    Malformed,
    Turn,
    Unreadable,
    as_data,
    heard,
    parse_turn,
)
from workbook.models.base import ChatModel, Completion, Message, TextModel, ToolRequest
from workbook.tools.adapters import to_openai
from workbook.tools.arguments import TOO_DEEP, too_deep
from workbook.tools.calls import Observation, ToolCall, ToolError, to_json
from workbook.tools.registry import ToolRegistry


@dataclass(frozen=True, slots=True)
class Asked:
    """A tool call as the model asked for it; `refusal` says why it cannot be made."""

    call: ToolCall
    refusal: ToolError | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """What the model did in one turn."""

    event: str  # TOOL_REQUESTED, FINAL_ANSWER or UNREADABLE_TURN
    turn: dict[str, Any]  # as a trace shows it; see `_kept`
    asked: tuple[Asked, ...] = ()  # in the order in which the calls were written
    answer: str | None = None
    problem: ToolError | None = None  # what could not be read


class Conversation(Protocol):
    """What the machine needs of an adapter. One is made for each run."""

    def request(self) -> dict[str, Any]:
        """Return the fields of the `model_request` to come: only what is new."""

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


STOP = ("\nObservation:",)
TEXT_PREAMBLE = """\
Answer the question. These tools are there:
{tools}

Write one step at a time, in this form:
Thought: what is known and what is missing
Action: the name of one tool
Action Input: what it gets
The Observation is then written for you. Once you know the answer:
Thought: why it is the answer
Final Answer: the answer

"""
CHAT_PREAMBLE = (
    "Answer the question. Call a tool where one helps; once you know the answer, "
    "write it without calling a tool."
)
TEXT_HINT = "Write Action and Action Input, or Final Answer, each on a line of its own."
CHAT_HINT = "Call the tool as a function, or write Final Answer: and the answer."


class TextTurns:
    """A prompt that only grows: the question, then turns and observations."""

    def __init__(
        self,
        model: TextModel,
        tools: ToolRegistry,
        question: str,
        preamble: str | None = None,
        parse: Callable[[str], Turn] = parse_turn,  # `partial(TextTurns, parse=mine)`
    ) -> None:
        self.model, self.tools, self.parse = model, tools, parse
        usual = TEXT_PREAMBLE.format(tools=tools.describe())
        before = usual if preamble is None else preamble
        self._prompt = f"{before}Question: {question}\n"
        self._sent = self._calls = 0

    def request(self) -> dict[str, Any]:
        kept, self._sent = self._sent, len(self._prompt)
        return {"prompt": self._prompt[kept:], "kept": kept, "stop": list(STOP)}

    def ask(self, **options: Any) -> Completion:
        return self.model.complete(self._prompt, stop=STOP, **options)

    @property
    def prompt(self) -> str:
        return self._prompt

    def withdraw(self, words: str) -> None:
        self._prompt += f"\n{words}\n"

    def read(self, completion: Completion) -> Reply:
        turn = unless_cut(completion, self.parse(completion.text))
        kept, notes = _kept(completion, turn)
        self._prompt += kept
        shown = as_data(turn) | notes
        match turn:
            case Action():
                return Reply(Event.TOOL_REQUESTED, shown, (self._bind(turn),))
            case Final(_, answer):
                return Reply(Event.FINAL_ANSWER, shown, answer=answer)
            case Malformed():
                return _unreadable(shown, TEXT_HINT)

    def observe(self, observation: Observation) -> None:
        self._prompt += f"\nObservation: {observation.text()}\n"

    def _bind(self, action: Action) -> Asked:
        self._calls += 1
        call_id = f"call_{self._calls}"
        written = ToolCall(action.tool, {"input": action.input}, call_id)
        return _asked(written, self.tools.bind(action, call_id))


class FunctionCalls:
    """A list of messages that only grows, in the shape of OpenAI's API.

    The preamble is the system message: None is a short one, "" is none at all.
    """

    def __init__(
        self,
        model: ChatModel,
        tools: ToolRegistry,
        question: str,
        preamble: str | None = None,
    ) -> None:
        self.model, self.tools = model, tools
        self.schemas = [to_openai(tool) for tool in tools]
        preamble = CHAT_PREAMBLE if preamble is None else preamble
        self._messages: list[Message] = []
        if preamble:
            self._messages.append({"role": "system", "content": preamble})
        self._messages.append({"role": "user", "content": question})
        self._sent = 0
        self._genuine: set[str] = set()  # call_ids that the model's side has sent
        self._used: set[str] = set()  # call_ids of all calls, ours with them
        self._own_ids = (f"runtime_{number}" for number in itertools.count(1))

    def request(self) -> dict[str, Any]:
        kept, self._sent = self._sent, len(self._messages)
        return {"prompt": self._messages[kept:], "kept": kept}

    def ask(self, **options: Any) -> Completion:
        return self.model.chat(self._messages, tools=self.schemas, **options)

    @property
    def prompt(self) -> list[Message]:
        return self._messages

    def withdraw(self, words: str) -> None:
        self.schemas = []
        self._messages.append({"role": "user", "content": words})

    def read(self, completion: Completion) -> Reply:
        if completion.tool_requests:
            return self._read_calls(completion)
        turn = unless_cut(completion, read_words(completion.text, self.tools))
        kept, notes = _kept(completion, turn)
        shown = as_data(turn) | notes
        if kept.strip():
            self._messages.append({"role": "assistant", "content": kept})
        if isinstance(turn, Final):
            return Reply(Event.FINAL_ANSWER, shown, answer=turn.answer)
        return _unreadable(shown, CHAT_HINT)

    def observe(self, observation: Observation) -> None:
        text = observation.text()
        self._messages.append(
            {"role": "tool", "tool_call_id": observation.call_id, "content": text}
            if observation.call_id
            else {"role": "user", "content": text}
        )

    def _read_calls(self, completion: Completion) -> Reply:
        """Bind the calls; they go back to the model in its own words, with our ids."""
        kept, notes = _kept(completion, Malformed(Unreadable.NO_STEP, completion.text))
        asked = tuple(self._bind(request) for request in completion.tool_requests)
        calls: list[dict[str, Any]] = []
        for ours, said in zip(asked, completion.tool_requests, strict=True):
            calls.append({"call_id": ours.call.call_id, "tool": said.name})
            calls[-1]["arguments"] = written = _as_written(said.arguments)
            if _id_of(said) != ours.call.call_id:  # as it was said, to be read again
                calls[-1]["said_id"] = _id_of(said)
            if written is not said.arguments:
                with suppress(TypeError, ValueError, RecursionError):
                    calls[-1]["said"] = json.dumps(said.arguments)
        self._messages.append(_own_message(kept, calls))
        shown = {"kind": "calls", "thought": kept.strip(), "calls": calls}
        return Reply(Event.TOOL_REQUESTED, shown | notes, asked)

    def _bind(self, request: ToolRequest) -> Asked:
        """Bind under a call_id that no call before had: the genuine one, or our own.

        A genuine one that comes twice must not run again: with the same arguments its
        effect would double, with others nobody could say which observation is whose.
        """
        said = _id_of(request)
        again = said in self._genuine
        call_id = said
        while not call_id or call_id in self._used:
            call_id = next(self._own_ids)
        self._used.add(call_id)
        self._genuine |= {said} - {""}
        written = ToolCall(request.name, _as_written(request.arguments), call_id)
        if not again:
            return _asked(written, self.tools.bind(request, call_id))
        refusal = ToolError(
            "duplicate_call_id",
            f"call_id {said!r} has been used before; nothing was done.",
            hint="Read the observation of the first call, or use a new call_id.",
        )
        return Asked(written, refusal)


def _kept(completion: Completion, turn: Turn) -> tuple[str, dict[str, Any]]:
    """Return what the history keeps of a turn, and what a trace says of the rest."""
    kept, dropped = heard(completion.text, turn)
    notes: dict[str, Any] = {"dropped": dropped} if dropped else {}
    if completion.finish_reason in CUT:
        notes["cut"] = True
    return kept, notes


def _asked(written: ToolCall, bound: ToolCall | ToolError) -> Asked:
    """Return the bound call, or the call as it was written and why it has no tool."""
    return Asked(bound) if isinstance(bound, ToolCall) else Asked(written, bound)


def _unreadable(shown: dict[str, Any], hint: str) -> Reply:
    reason = shown["reason"].replace("_", " ")
    if "cut" in shown:
        reason, hint = "the reply was cut at its limit", f"Write less. {hint}"
    message = f"no step could be read ({reason})."
    problem = ToolError("unreadable_turn", message, hint=hint)
    return Reply(Event.UNREADABLE_TURN, shown, problem=problem)


def _id_of(request: ToolRequest) -> str:
    return "" if request.call_id is None else str(request.call_id)


def _as_written(arguments: Any) -> dict[str, Any]:
    """Return arguments as they can be written down; of others, why they cannot."""
    if too_deep(arguments):
        return {"unreadable": TOO_DEEP}
    try:
        to_json(arguments)
    except (TypeError, ValueError) as error:
        return {"unreadable": str(error)}
    return arguments if isinstance(arguments, dict) else {"input": arguments}


def _own_message(text: str, calls: list[dict[str, Any]]) -> Message:
    """Return the model's own message, as it goes back to it: its words, our ids."""
    made = [{"name": c["tool"], "arguments": to_json(c["arguments"])} for c in calls]
    asked = [
        {"id": call["call_id"], "type": "function", "function": function}
        for call, function in zip(calls, made, strict=True)
    ]
    return {"role": "assistant", "content": text, "tool_calls": asked}
