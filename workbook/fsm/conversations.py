"""Two ways to talk with a model, and one way to say what it did.

`TextTurns` writes one growing prompt and reads Thought, Action, Final Answer.
`FunctionCalls` keeps a list of messages and reads the calls in them. Both return a
`Reply`, so the machine behind them is the same.
"""

from __future__ import annotations

import json
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
    as_data,
    parse_turn,
    split_fields,
)
from workbook.models.base import ChatModel, Completion, Message, TextModel, ToolRequest
from workbook.tools.adapters import to_openai
from workbook.tools.calls import Observation, ToolCall, ToolError
from workbook.tools.registry import ToolRegistry


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

    event: str
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


class TextTurns:
    """A prompt that only grows: the question, then turns and observations.

    Args:
        model: continues a text.
        tools: bind the text of an action to a call.
        question: the user's question.
        preamble: what stands before it; None describes the tools and the form.
    """

    def __init__(
        self,
        model: TextModel,
        tools: ToolRegistry,
        question: str,
        preamble: str | None = None,
    ) -> None:
        self.model, self.tools = model, tools
        if preamble is None:
            preamble = TEXT_PREAMBLE.format(tools=tools.describe())
        self._prompt = f"{preamble}Question: {question}\n"
        self._sent = self._calls = 0

    def request(self) -> dict[str, Any]:
        kept, self._sent = self._sent, len(self._prompt)
        return {"prompt": self._prompt[kept:], "kept": kept, "stop": list(STOP)}

    def ask(self) -> Completion:
        return self.model.complete(self._prompt, stop=STOP)

    def read(self, completion: Completion) -> Reply:
        turn = parse_turn(completion.text)
        self._prompt += heard(completion.text, turn)
        match turn:
            case Action():
                asked = (self._bind(turn),)
                return Reply(Event.TOOL_REQUESTED, as_data(turn), asked)
            case Final(_, answer):
                return Reply(Event.FINAL_ANSWER, as_data(turn), answer=answer)
            case Malformed(reason):
                problem = _unreadable(
                    reason.replace("_", " "),
                    "Write Action and Action Input, or Final Answer, "
                    "each on a line of its own.",
                )
                return Reply(Event.UNREADABLE_TURN, as_data(turn), problem=problem)

    def observe(self, observation: Observation) -> None:
        self._prompt += f"\nObservation: {observation.text()}\n"

    def _bind(self, action: Action) -> Asked:
        self._calls += 1
        call_id = f"call_{self._calls}"
        written = ToolCall(action.tool, {"input": action.input}, call_id)
        return _asked(written, self.tools.bind(action, call_id))


class FunctionCalls:
    """A list of messages that only grows, in the shape of OpenAI's API.

    Args:
        model: answers messages and asks for tools by function calls.
        tools: bind a request to a call.
        question: the user's question.
        preamble: the system message; None is a short one, "" is none at all.
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
        self._used: set[str] = set()

    def request(self) -> dict[str, Any]:
        kept, self._sent = self._sent, len(self._messages)
        return {"prompt": self._messages[kept:], "kept": kept}

    def ask(self) -> Completion:
        return self.model.chat(self._messages, tools=self.schemas)

    def read(self, completion: Completion) -> Reply:
        text, requests = completion.text.strip(), completion.tool_requests
        if requests:
            asked = tuple(self._bind(request) for request in requests)
            ids = [one.call.call_id for one in asked]
            calls = [
                {"call_id": call_id, "tool": said.name, "arguments": said.arguments}
                for call_id, said in zip(ids, requests, strict=True)
            ]
            self._messages.append(_own_message(completion.text, calls))
            turn = {"kind": "calls", "thought": text, "calls": calls}
            return Reply(Event.TOOL_REQUESTED, turn, asked)
        if text:
            return Reply(Event.FINAL_ANSWER, as_data(Final("", text)), answer=text)
        turn = as_data(Malformed(Unreadable.EMPTY, completion.text))
        problem = _unreadable("empty", "Call a tool, or write the answer.")
        return Reply(Event.UNREADABLE_TURN, turn, problem=problem)

    def observe(self, observation: Observation) -> None:
        text = observation.text()
        self._messages.append(
            {"role": "tool", "tool_call_id": observation.call_id, "content": text}
            if observation.call_id
            else {"role": "user", "content": text}
        )

    def _bind(self, request: ToolRequest) -> Asked:
        """Bind under a call_id that no call before had.

        A used one must not run again: with the same arguments its effect would double,
        with others nobody could say which observation belongs to which.
        """
        said = str(request.call_id or "")
        again = said in self._used
        prefix = f"{said}_again" if again else "call"
        call_id, number = said, len(self._used)
        while not call_id or call_id in self._used:
            number += 1
            call_id = f"{prefix}_{number}"
        self._used.add(call_id)
        given = request.arguments
        arguments = given if isinstance(given, dict) else {"input": given}
        written = ToolCall(request.name, arguments, call_id)
        if not again:
            return _asked(written, self.tools.bind(request, call_id))
        refusal = ToolError(
            "duplicate_call_id",
            f"call_id {said!r} has been used before; nothing was done.",
            hint="Read the observation of the first call, or use a new call_id.",
        )
        return Asked(written, refusal)


def heard(text: str, turn: Turn) -> str:
    """Return what of a turn goes into the history: the step that was read.

    What a model writes past its first step, a made-up Observation above all, was not
    done, and must not stand in the history as if it had been. A turn that holds one
    step is kept to the letter, so that the prompt cache stays good.
    """
    if isinstance(turn, Malformed):
        return text.partition(STOP[0])[0]
    if isinstance(turn, Final):
        return text
    labels = [label for label, _ in split_fields(text) if label is not Label.THOUGHT]
    if labels == [Label.ACTION, Label.ACTION_INPUT]:
        return text
    thought = f"Thought: {turn.thought}\n" if turn.thought else ""
    return f"{thought}Action: {turn.tool}\nAction Input: {turn.input}"


def _asked(written: ToolCall, bound: ToolCall | ToolError) -> Asked:
    """Return the bound call, or the call as it was written and why it has no tool."""
    return Asked(bound) if isinstance(bound, ToolCall) else Asked(written, bound)


def _unreadable(reason: str, hint: str) -> ToolError:
    return ToolError("unreadable_turn", f"no step could be read ({reason}).", hint=hint)


def _own_message(text: str, calls: list[dict[str, Any]]) -> Message:
    """Return the model's own message, as it goes back to it: its words, our ids."""
    return {
        "role": "assistant",
        "content": text,
        "tool_calls": [
            {
                "id": call["call_id"],
                "type": "function",
                "function": {
                    "name": call["tool"],
                    "arguments": json.dumps(call["arguments"], ensure_ascii=False),
                },
            }
            for call in calls
        ],
    }
