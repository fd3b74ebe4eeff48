"""What LangChain's objects hold, in the words of a trace event.

Each function reads one of them, in its several shapes. No state, no callbacks.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.outputs import LLMResult

from workbook.runtime.calls import recordable, to_json
from workbook.runtime.model import Usage
from workbook.runtime.turns import Action, Final, parse_turn, to_dict

TEXT = {"kind": "text"}
"""The turn that no parser was to read."""
QUESTIONS = ("input", "question", "query")
ANSWERS = ("output", "answer", "result", "text")
"""What chains call what they are asked, and what they answer."""


def text_of(output: Any) -> str:
    """Return what a tool gave back, or a message holds, as the model reads it."""
    return str(output.text) if isinstance(output, BaseMessage) else str(output)


def messages_of(value: Any) -> list[BaseMessage]:
    """Return the messages in a graph's input or output; none in a chain's."""
    found = value.get("messages") if isinstance(value, Mapping) else None
    return convert_to_messages(found) if isinstance(found, list) else []


def question_of(inputs: Any) -> str:
    """Return what the user asked, from the input of the outermost chain."""
    return _words(inputs, QUESTIONS)


def answer_of(outputs: Any) -> str:
    """Return what the run answered, from the output of the outermost chain."""
    return _words(outputs, ANSWERS)


def _words(value: Any, names: Sequence[str]) -> str:
    """Return what a chain got or gave: by a known name, the last message, or all.

    A streamed AgentExecutor has messages besides its output, so the name comes first.
    """
    if not isinstance(value, Mapping):
        return text_of(value)
    known = [value[name] for name in names if name in value]
    found = [*known[:1], *messages_of(value)[-1:]]
    if not found and len(value) == 1:
        found = [*value.values()]
    return text_of(found[0]) if found else to_json(recordable(value))


def prompt_of(messages: Sequence[BaseMessage], has_tools: bool) -> str | list[Any]:
    """Return messages in OpenAI's shape, or the one text that a classic agent wrote."""
    if len(messages) == 1 and messages[0].type == "human" and not has_tools:
        return text_of(messages[0])
    return list(convert_to_openai_messages(list(messages)))


def turn_of(response: LLMResult) -> dict[str, Any]:
    """Return the fields of a `model_turn`: text, turn, usage, and timings if any.

    A turn without function calls is `TEXT`: whoever asked will say what it means.
    """
    generation = response.generations[0][0]
    fields: dict[str, Any] = {"text": generation.text, "turn": TEXT}
    message = getattr(generation, "message", None)
    if not isinstance(message, AIMessage):  # what a `TextModelLLM` says of its answer
        about = generation.generation_info or {}
        return {**fields, "usage": Usage().to_dict(), **about}
    if message.tool_calls:
        calls = [
            {"call_id": c["id"] or "", "tool": c["name"], "arguments": c["args"]}
            for c in message.tool_calls
        ]
        thought = generation.text.strip()
        fields["turn"] = {"kind": "calls", "thought": thought, "calls": calls}
    spent: Any = message.usage_metadata or {}
    cached = spent.get("input_token_details", {}).get("cache_read", 0)
    usage = Usage(spent.get("input_tokens", 0), spent.get("output_tokens", 0), cached)
    return {**fields, "usage": usage.to_dict()}


def message_as_turn(text: str) -> dict[str, Any]:
    """Return the turn of a message without calls: it is the answer, if it has words."""
    return to_dict(Final("", text) if text.strip() else parse_turn(text))


def step_as_turn(step: AgentAction | AgentFinish) -> dict[str, Any]:
    """Return the turn that a classic agent's parser read as an action or the answer."""
    thought = getattr(parse_turn(step.log), "thought", "")
    if isinstance(step, AgentFinish):
        return to_dict(Final(thought, answer_of(step.return_values)))
    return {**to_dict(Action(thought, step.tool, "")), "input": step.tool_input}
