"""One definition for every engine."""

import pytest

from workbook.tools.adapters import to_langchain
from workbook.tools.tool import Tool, to_openai

SCHEMA = {
    "type": "object",
    "properties": {"n": {"type": "integer", "description": "a number", "maximum": 20}},
    "required": ["n"],
    "additionalProperties": False,
}


def double(n):
    if n == 13:
        raise RuntimeError("unlucky")
    return {"result": 2 * n}


@pytest.fixture
def tool():
    return Tool("Double", "Doubles a number.", SCHEMA, double, timeout_s=None)


def test_to_an_openai_schema(tool):
    """the function schema has the name, the description and the parameters"""
    assert to_openai(tool) == {
        "type": "function",
        "function": {
            "name": "Double",
            "description": "Doubles a number.",
            "parameters": SCHEMA,
        },
    }


def test_a_schema_that_is_handed_out_is_a_copy(tool):
    """whoever changes the schema that was handed out does not change the tool"""
    to_openai(tool)["function"]["parameters"]["properties"]["n"]["type"] = "string"
    assert tool.parameters == SCHEMA


def test_langchain_sends_the_same_schema(tool):
    """what LangChain sends to a model is the schema that we would send"""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    assert convert_to_openai_tool(to_langchain(tool)) == to_openai(tool)


@pytest.mark.parametrize(("text", "given"), [(True, "13"), (False, {"n": 13})])
def test_a_trusting_tool_raises_what_it_raises(tool, text, given):
    """handed over as tutorials do it, a tool lets its exception out"""
    with pytest.raises(RuntimeError, match="unlucky"):
        to_langchain(tool, text=text).invoke(given)


@pytest.mark.parametrize(("text", "given"), [(True, "21"), (False, {"n": 21})])
def test_a_trusting_tool_is_not_held_to_its_schema(tool, text, given):
    """handed over as tutorials do it, a tool is called beyond its limit"""
    assert to_langchain(tool, text=text).invoke(given) == "42"
