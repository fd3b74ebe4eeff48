"""Our tools as LangChain's: one definition, and nothing is checked."""

import pytest

from workbook.langchain_trace.tools import to_langchain
from workbook.runtime.tools import Tool, to_openai

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


DOUBLE = Tool("Double", "Doubles a number.", SCHEMA, double, timeout_s=None)


def test_a_model_is_sent_the_same_schema_by_us_and_by_langchain():
    """the function schema has name, description and a copy of the parameters"""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    about = {"name": "Double", "description": "Doubles a number.", "parameters": SCHEMA}
    made = to_openai(DOUBLE)
    assert made == {"type": "function", "function": about}
    assert convert_to_openai_tool(to_langchain(DOUBLE)) == made
    made["function"]["parameters"]["properties"]["n"]["type"] = "string"
    assert DOUBLE.parameters == SCHEMA


@pytest.mark.parametrize("text", [True, False])
def test_a_trusting_tool_is_held_to_nothing(text):
    """as tutorials do it, a tool is called beyond its limit and lets exceptions out"""
    tool = to_langchain(DOUBLE, text=text)
    assert tool.invoke("21" if text else {"n": 21}) == "42"
    with pytest.raises(RuntimeError, match="unlucky"):
        tool.invoke("13" if text else {"n": 13})
