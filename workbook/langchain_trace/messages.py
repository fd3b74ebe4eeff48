"""What LangChain's objects hold, in the words of a trace event.

Inputs and outputs of chains, messages, results of models: each has several shapes, and
each function here reads one of them. No state, no callbacks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from langchain_core.agents import AgentAction, AgentFinish
from langchain_core.messages import (
    BaseMessage,
    HumanMessage,
    convert_to_messages,
    convert_to_openai_messages,
)
from langchain_core.outputs import ChatGeneration, LLMResult

from workbook.loop.turns import parse_turn


def text_of(output: Any) -> str:
    """Return what a tool gave back, or a message holds, as the model reads it."""
    return str(output.text) if isinstance(output, BaseMessage) else str(output)


def messages_of(value: Any) -> list[BaseMessage]:
    """Return the messages in a graph's input or output; none in a chain's."""
    found = value.get("messages") if isinstance(value, Mapping) else None
    return convert_to_messages(found) if isinstance(found, list) else []


def question_of(inputs: Any) -> str:
    """Return what the user asked, from the input of the outermost chain."""
    asked = [m for m in messages_of(inputs) if isinstance(m, HumanMessage)]
    if asked:
        return text_of(asked[-1])
    if isinstance(inputs, Mapping):
        return str(inputs.get("input", next(iter(inputs.values()), "")))
    return str(inputs)


def answer_of(outputs: Any) -> str:
    """Return what the run answered, from the output of the outermost chain."""
    if isinstance(outputs, Mapping) and "output" in outputs:
        return str(outputs["output"])  # a streamed AgentExecutor has messages besides
    messages = messages_of(outputs)
    if messages:
        return text_of(messages[-1])
    if isinstance(outputs, Mapping):
        return str(next(iter(outputs.values()), ""))
    return text_of(outputs)


def prompt_of(
    messages: Sequence[BaseMessage], kwargs: Mapping[str, Any]
) -> str | list[Any]:
    """Return a request's messages as dicts in the shape of OpenAI's API.

    One user message without tools to call is the text that a classic agent wrote.
    """
    options = kwargs.get("invocation_params") or {}
    if len(messages) == 1 and messages[0].type == "human" and not options.get("tools"):
        return text_of(messages[0])
    return list(convert_to_openai_messages(list(messages)))


def stop_of(kwargs: Mapping[str, Any]) -> list[str]:
    """Return the stop sequences of a request, from what its callback was told."""
    return list((kwargs.get("invocation_params") or {}).get("stop") or ())


def turn_of(response: LLMResult) -> dict[str, Any]:
    """Return the fields of a `model_turn`: text, turn, usage, and timings if any.

    The turn of a message with function calls is `calls`. Any other is `text`: whoever
    asked will say what it means.
    """
    generation = response.generations[0][0]
    if isinstance(generation, ChatGeneration):
        return _turn_of_message(generation.message)
    spent = (response.llm_output or {}).get("token_usage") or {}
    cached = (spent.get("prompt_tokens_details") or {}).get("cached_tokens")
    usage = _usage(spent.get("prompt_tokens"), spent.get("completion_tokens"), cached)
    fields = {"text": generation.text, "turn": {"kind": "text"}, "usage": usage}
    timings = (generation.generation_info or {}).get("timings")
    return {**fields, "timings": timings} if timings else fields


def _turn_of_message(message: BaseMessage) -> dict[str, Any]:
    text = text_of(message)
    turn: dict[str, Any] = {"kind": "text"}
    if calls := getattr(message, "tool_calls", None):
        asked = [
            {"call_id": c["id"] or "", "tool": c["name"], "arguments": c["args"]}
            for c in calls
        ]
        turn = {"kind": "calls", "thought": text.strip(), "calls": asked}
    spent = getattr(message, "usage_metadata", None) or {}
    cached = (spent.get("input_token_details") or {}).get("cache_read")
    usage = _usage(spent.get("input_tokens"), spent.get("output_tokens"), cached)
    return {"text": text, "turn": turn, "usage": usage}


def _usage(read: int | None, wrote: int | None, cached: int | None) -> dict[str, int]:
    return {"input": read or 0, "output": wrote or 0, "cached": cached or 0}


def message_as_turn(text: str) -> dict[str, Any]:
    """Return the turn of a message without calls: it is the answer, if it has words."""
    if not text.strip():
        return {"kind": "malformed", "reason": "empty", "text": text}
    return {"kind": "final", "thought": "", "answer": text}


def tool_of(log: str) -> str | None:
    """Return the tool that we read in a classic agent's turn, or None."""
    return getattr(parse_turn(log), "tool", None)


def action_as_turn(action: AgentAction) -> dict[str, Any]:
    """Return the turn that a classic agent's parser read as an action."""
    step = {"tool": action.tool, "input": action.tool_input}
    return {"kind": "action", "thought": _thought_of(action), **step}


def finish_as_turn(finish: AgentFinish) -> dict[str, Any]:
    """Return the turn that a classic agent's parser read as the answer."""
    answer = str(finish.return_values.get("output", ""))
    return {"kind": "final", "thought": _thought_of(finish), "answer": answer}


def _thought_of(step: AgentAction | AgentFinish) -> str:
    return str(getattr(parse_turn(step.log), "thought", ""))
