"""A text turn as a function call: the same step in the form that today's agents use.

`Action` and `Action Input` become a call with a name and arguments; a `Final Answer`
becomes a message without calls. What cannot be read stays text, and an agent that
calls functions takes any text for its answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from workbook.loop.turns import Action, Final, parse_turn
from workbook.models.base import Completion, ToolRequest
from workbook.tools.adapters import first_parameter, trusting_arguments
from workbook.tools.tool import Tool


def as_function_calls(
    text: str, tools: Iterable[Tool] = (), *, call_id: str = "call_1"
) -> Completion:
    """Return a text turn as a model with function calling would have made it.

    Args:
        text: Thought, Action, Action Input; or a Final Answer.
        tools: their schemas give the argument its name.
        call_id: ties the observation to the call.

    >>> as_function_calls("Action: Sum\\nAction Input: 1+1").tool_requests
    (ToolRequest(name='Sum', arguments={'input': '1+1'}, call_id='call_1'),)
    """
    turn = parse_turn(text)
    if isinstance(turn, Final):
        return Completion(turn.answer)
    if not isinstance(turn, Action):
        return Completion(text)
    tool = next((tool for tool in tools if tool.name == turn.tool), None)
    arguments = _arguments(tool, turn.input)
    request = ToolRequest(turn.tool, arguments, call_id)
    return Completion(
        turn.thought, tool_requests=(request,), finish_reason="tool_calls"
    )


def _arguments(tool: Tool | None, text: str) -> dict[str, Any]:
    try:
        return trusting_arguments(tool, text)
    except ValueError:  # a model may well write a list where one number belongs
        return {first_parameter(tool)[0]: text}
