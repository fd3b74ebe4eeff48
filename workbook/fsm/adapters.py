"""Two ways to talk with a model, and one way to say what it did.

`TextTurns` writes one growing prompt and reads Thought, Action, Final Answer.
`FunctionCalls` keeps a list of messages and reads the calls in them. Both return a
`ModelTurn`, so the machine behind them is the same.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from workbook.fsm.reading import (
    ModelTurn,
    PendingCall,
    kept_of,
    read_words,
    unless_cut,
    unreadable,
)
from workbook.fsm.table import Event
from workbook.loop.turns import (
    Action,
    Final,
    Malformed,
    Turn,
    Unreadable,
    parse_turn,
    to_dict,
)
from workbook.models.base import ChatModel, Completion, Message, TextModel, ToolRequest
from workbook.models.prompts import render_messages
from workbook.tools.calls import (
    NotJson,
    Observation,
    ToolCall,
    ToolError,
    as_json,
    to_json,
)
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import to_openai

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
    """A prompt that only grows: the question, then turns and observations.

    `context`, called with the model, returns what keeps it within a limit.
    """

    def __init__(
        self,
        model: TextModel,
        tools: ToolRegistry,
        question: str,
        preamble: str | None = None,
        parse: Callable[[str], Turn] = parse_turn,  # `partial(TextTurns, parse=mine)`
        context: Callable[[Any], Any] | None = None,
    ) -> None:
        self.model, self.tools, self.parse = model, tools, parse
        self.context = context(model) if context else None
        if preamble is None:
            preamble = TEXT_PREAMBLE.format(tools=tools.describe())
        asked = self.context.with_pins(question) if self.context else question
        self.prompt, self._sent = "", 0  # and how much of it was sent
        self._calls, self.withdrawn = 0, False
        self._add(f"{preamble}Question: {asked}\n", "question")

    def request(self) -> dict[str, Any]:
        if self.context and (parts := self.context.fitted()):
            self.prompt = "".join(part.text for part in parts)
            self._sent = len(self.prompt)
            return {"prompt": self.prompt, "stop": list(STOP)}
        kept, self._sent = self._sent, len(self.prompt)
        return {"prompt": self.prompt[kept:], "kept": kept, "stop": list(STOP)}

    def ask(self, **options: Any) -> Completion:
        return self.model.complete(self.prompt, stop=STOP, **options)

    def withdraw(self, words: str) -> None:
        self.withdrawn = True
        self._add(f"\n{words}\n", "note")

    def read(self, completion: Completion) -> ModelTurn:
        turn = unless_cut(completion, self.parse(completion.text))
        kept, notes = kept_of(completion, turn)
        self._add(kept, "turn")
        shown = to_dict(turn) | notes
        match turn:
            case Action():
                return ModelTurn(Event.TOOL_REQUESTED, shown, (self._bind(turn),))
            case Final(_, answer):
                return ModelTurn(Event.FINAL_ANSWER, shown, answer=answer)
            case Malformed():
                return unreadable(shown, TEXT_HINT)

    def observe(self, observation: Observation) -> None:
        self._add(f"\nObservation: {observation.text()}\n", "observation")

    def _add(self, text: str, kind: str) -> None:
        self.prompt += text
        if self.context:
            self.context.add(text, kind)

    def _bind(self, action: Action) -> PendingCall:
        self._calls += 1
        call_id = f"call_{self._calls}"
        written = ToolCall(action.tool, {"input": action.input}, call_id)
        return _asked(written, self.tools.bind(action, call_id))


class FunctionCalls:
    """A list of messages that only grows, in the shape of OpenAI's API.

    The preamble is the system message: None is a short one, "" is none at all.
    `context` keeps the messages within a limit, in which the schemas do not count.
    """

    def __init__(
        self,
        model: ChatModel,
        tools: ToolRegistry,
        question: str,
        preamble: str | None = None,
        context: Callable[[Any], Any] | None = None,
    ) -> None:
        self.model, self.tools = model, tools
        self.context = context(model) if context else None
        self.withdrawn, self.schemas = False, [to_openai(tool) for tool in tools]
        preamble = CHAT_PREAMBLE if preamble is None else preamble
        asked = self.context.with_pins(question) if self.context else question
        self.prompt, self._sent = list[Message](), 0
        if preamble:
            self._add({"role": "system", "content": preamble}, "question")
        self._add({"role": "user", "content": asked}, "question")
        self._used: set[str] = set()  # call_ids of all calls, ours with them
        self._own_ids = (f"runtime_{number}" for number in itertools.count(1))

    def request(self) -> dict[str, Any]:
        if self.context and (parts := self.context.fitted()):
            self.prompt = [*map(_as_message, parts)]
            self._sent = len(self.prompt)
            return {"prompt": self.prompt}
        kept, self._sent = self._sent, len(self.prompt)
        return {"prompt": self.prompt[kept:], "kept": kept}

    def ask(self, **options: Any) -> Completion:
        return self.model.chat(self.prompt, tools=self.schemas, **options)

    def withdraw(self, words: str) -> None:
        self.withdrawn, self.schemas = True, []
        self._add({"role": "user", "content": words}, "note")

    def read(self, completion: Completion) -> ModelTurn:
        if completion.tool_requests:
            return self._read_calls(completion)
        turn = unless_cut(completion, read_words(completion.text, self.tools))
        kept, notes = kept_of(completion, turn)
        shown = to_dict(turn) | notes
        if kept.strip():
            self._add({"role": "assistant", "content": kept}, "turn")
        if isinstance(turn, Final):
            return ModelTurn(Event.FINAL_ANSWER, shown, answer=turn.answer)
        return unreadable(shown, CHAT_HINT)

    def observe(self, observation: Observation) -> None:
        text = observation.text()
        message: Message = {"role": "user", "content": text}
        if call_id := observation.call_id:
            message = {"role": "tool", "tool_call_id": call_id, "content": text}
        self._add(message, "observation")

    def _add(self, message: Message, kind: str) -> None:
        self.prompt.append(message)
        if self.context:
            self.context.add(render_messages([message]), kind, message)

    def _read_calls(self, completion: Completion) -> ModelTurn:
        """Bind the calls; they go back to the model in its own words, with our ids."""
        words = Malformed(Unreadable.NO_STEP, completion.text)
        kept, notes = kept_of(completion, words)
        asked = tuple(self._bind(request) for request in completion.tool_requests)
        calls: list[dict[str, Any]] = []
        for ours, said in zip(asked, completion.tool_requests, strict=True):
            calls.append({"call_id": ours.call.call_id, "tool": said.name})
            calls[-1]["arguments"] = written = _as_written(said.arguments)
            if _id_of(said) != ours.call.call_id:  # as it was said, to be read again
                calls[-1]["said_id"] = _id_of(said)
            if written != said.arguments:
                with suppress(TypeError, ValueError, RecursionError):
                    calls[-1]["said"] = json.dumps(said.arguments)
        self._add(_own_message(kept, calls), "turn")
        shown = {"kind": "calls", "thought": kept.strip(), "calls": calls}
        return ModelTurn(Event.TOOL_REQUESTED, shown | notes, asked)

    def _bind(self, request: ToolRequest) -> PendingCall:
        """Bind under a call_id that no call before had: the model's, or our own.

        A call_id that comes twice must not run again: with the same arguments its
        effect would double, with others nobody could say which observation is whose.
        """
        said = call_id = _id_of(request)
        again = said in self._used
        while not call_id or call_id in self._used:
            call_id = next(self._own_ids)
        self._used.add(call_id)
        written = ToolCall(request.name, _as_written(request.arguments), call_id)
        if not again:
            return _asked(written, self.tools.bind(request, call_id))
        refusal = ToolError(
            "duplicate_call_id",
            f"call_id {said!r} has been used before; nothing was done.",
            hint="Read the observation of the first call, or use a new call_id.",
        )
        return PendingCall(written, refusal)


def _as_message(part: Any) -> Message:
    """Return the message that a piece stands for, its text as it was cut."""
    if part.payload is None:  # a summary
        return {"role": "user", "content": part.text}
    message: Message = part.payload
    if part.kind != "observation":
        return message
    text = part.text.removeprefix(f"{message['role']}: ").removesuffix("\n")
    return {**message, "content": text}


def _asked(written: ToolCall, bound: ToolCall | ToolError) -> PendingCall:
    """Return the bound call, or the call as it was written and why it has no tool."""
    if isinstance(bound, ToolCall):
        return PendingCall(bound)
    return PendingCall(written, bound)


def _id_of(request: ToolRequest) -> str:
    return "" if request.call_id is None else str(request.call_id)


def _as_written(arguments: Any) -> dict[str, Any]:
    """Return arguments as they can be written down; of others, why they cannot."""
    try:
        plain = as_json(arguments)
    except NotJson as error:
        return {"unreadable": f"not JSON ({error})"}
    return plain if isinstance(plain, dict) else {"input": plain}


def _own_message(text: str, calls: list[dict[str, Any]]) -> Message:
    """Return the model's own message, as it goes back to it: its words, our ids."""
    made = [{"name": c["tool"], "arguments": to_json(c["arguments"])} for c in calls]
    asked = [
        {"id": call["call_id"], "type": "function", "function": function}
        for call, function in zip(calls, made, strict=True)
    ]
    return {"role": "assistant", "content": text, "tool_calls": asked}
