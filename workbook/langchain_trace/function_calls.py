"""A script of text turns as a model that calls functions, for today's agents.

`Action` and `Action Input` become a call with a name and arguments; a `Final Answer`
becomes a message without calls. What cannot be read stays text, and an agent that
calls functions takes any text for its answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from workbook.loop.turns import Action, Final, parse_turn
from workbook.models.base import Completion, ToolRequest
from workbook.models.langchain import ScriptedModel
from workbook.models.script import Script
from workbook.tools.adapters import first_parameter, trusting_arguments
from workbook.tools.tool import Tool


def as_function_calls(text: str, tools: Iterable[Tool] = ()) -> Completion:
    """Return a text turn as a model with function calling would have made it.

    Args:
        text: Thought, Action, Action Input; or a Final Answer.
        tools: their schemas give the argument its name.

    >>> as_function_calls("Action: Sum\\nAction Input: 1+1").tool_requests
    (ToolRequest(name='Sum', arguments={'input': '1+1'}, call_id=''),)
    """
    turn = parse_turn(text)
    if isinstance(turn, Final):
        return Completion(turn.answer)
    if not isinstance(turn, Action):
        return Completion(text)
    tool = next((tool for tool in tools if tool.name == turn.tool), None)
    arguments = _arguments(tool, turn.input)
    request = ToolRequest(turn.tool, arguments)
    return Completion(
        turn.thought, tool_requests=(request,), finish_reason="tool_calls"
    )


def _arguments(tool: Tool | None, text: str) -> dict[str, Any]:
    try:
        return trusting_arguments(tool, text)
    except ValueError:  # a model may well write a list where one number belongs
        return {first_parameter(tool)[0]: text}


class CallingModel(ScriptedModel):
    """The scripted chat model for scripts of text turns: an Action becomes a call."""

    contracts: tuple[Tool, ...] = ()

    def _ask(
        self, messages: list[BaseMessage], stop: list[str] | None, options: Any
    ) -> Completion:
        answer = super()._ask(messages, stop, options)
        if answer.tool_requests:
            return answer
        found = as_function_calls(answer.text, self.contracts)
        return replace(found, usage=answer.usage)


def script_of(model: Any) -> Script | None:
    """Return the script that a model plays, or None where it plays none."""
    found = getattr(model, "script", model)
    return found if isinstance(found, Script) else None


def chat_model(model: Any, tools: Iterable[Tool | BaseTool]) -> Any:
    """Return a model as `create_agent` takes it: one that can call functions.

    Args:
        model: a `Script`, or a LangChain chat model, which is taken as it is.
        tools: what the script's actions may name.

    Raises:
        TypeError: it is neither.
    """
    if isinstance(model, Script):
        ours = tuple(tool for tool in tools if isinstance(tool, Tool))
        return CallingModel(script=model, contracts=ours)
    if hasattr(model, "bind_tools"):
        return model
    raise TypeError(
        f"a {type(model).__name__} cannot call functions: "
        "give a Script or a LangChain chat model"
    )
