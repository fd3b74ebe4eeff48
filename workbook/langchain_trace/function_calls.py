"""A script of text turns as a model that calls functions, for today's agents.

An Action becomes a call; a Final Answer becomes a message without calls. What cannot be
read stays text, and an agent that calls functions takes any text for its answer.
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.tools import BaseTool

from workbook.loop.turns import Action, Final, parse_turn
from workbook.models.base import ChatModel, Completion, ToolRequest
from workbook.models.langchain import ChatModelAdapter, ScriptedModel
from workbook.models.script import Script
from workbook.tools.formats import first_parameter, trusting_arguments
from workbook.tools.tool import Tool


def as_function_calls(text: str, tools: Iterable[Tool] = ()) -> Completion:
    """Return a text turn as a function call; the schemas of `tools` name the argument.

    >>> as_function_calls("Action: Sum\\nAction Input: 1+1").tool_requests
    (ToolRequest(name='Sum', arguments={'input': '1+1'}, call_id=''),)
    """
    turn = parse_turn(text)
    if isinstance(turn, Final):
        return Completion(turn.answer)
    if not isinstance(turn, Action):
        return Completion(text)
    tool = next((tool for tool in tools if tool.name == turn.tool), None)
    try:
        arguments = trusting_arguments(tool, turn.input)
    except ValueError:  # a model may well write a list where one number belongs
        arguments = {first_parameter(tool)[0]: turn.input}
    asked = (ToolRequest(turn.tool, arguments),)
    return Completion(turn.thought, tool_requests=asked, finish_reason="tool_calls")


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


def chat_model(model: Any, tools: Iterable[Tool | BaseTool]) -> Any:
    """Return a model that calls functions; a TypeError where there is none."""
    if isinstance(model, Script):
        ours = tuple(tool for tool in tools if isinstance(tool, Tool))
        return CallingModel(model=model, contracts=ours)
    if hasattr(model, "bind_tools"):
        return model
    if isinstance(model, ChatModel):
        return ChatModelAdapter(model=model)
    told = f"a {type(model).__name__} cannot call functions"
    raise TypeError(f"{told}: give a ChatModel or one of LangChain")
