"""A text turn as a function call."""

import pytest

from workbook.langchain_trace.agents import as_function_calls
from workbook.models.base import ToolRequest


def test_an_action_becomes_a_call(calculator_tool):
    """the tool's own parameter gets the input, and the thought stays text"""
    turn = "Thought: I add.\nAction: Calculator\nAction Input: 80+8"
    found = as_function_calls(turn, [calculator_tool])
    request = ToolRequest("Calculator", {"expression": "80+8"})
    assert found.text == "I add."
    assert found.tool_requests == (request,)


def test_a_json_input_becomes_the_arguments():
    """an input that is a JSON object is the arguments"""
    turn = 'Action: Pay\nAction Input: {"payee": "bookshop", "amount": 25}'
    (request,) = as_function_calls(turn).tool_requests
    assert request.arguments == {"payee": "bookshop", "amount": 25}


def test_an_answer_becomes_a_message_without_calls():
    """the final answer is the whole message"""
    found = as_function_calls("Thought: I know.\nFinal Answer: 88")
    assert (found.text, found.tool_requests) == ("88", ())


@pytest.mark.parametrize("text", ["", "I think so.", "Action: Search"])
def test_what_cannot_be_read_stays_text(text):
    """a turn without a step is a message, which the agent takes for its answer"""
    found = as_function_calls(text)
    assert (found.text, found.tool_requests) == (text, ())


@pytest.mark.parametrize("text", ["[91, 143]", "{not json"])
def test_an_input_of_the_wrong_shape_is_passed_on_as_text(tool, text):
    """a model may ask for nonsense: that is for the tool to say"""
    turn = f"Action: Search\nAction Input: {text}"
    (request,) = as_function_calls(turn, [tool("Search", str)]).tool_requests
    assert request.arguments == {"input": text}


def test_a_parameter_of_several_types_gets_the_text(tool):
    """a schema may name a list of types; the text is then passed on as it is"""
    search = tool("Search", str)
    search.parameters["properties"]["input"]["type"] = ["number", "null"]
    (request,) = as_function_calls(
        "Action: Search\nAction Input: 7", [search]
    ).tool_requests
    assert request.arguments == {"input": "7"}
