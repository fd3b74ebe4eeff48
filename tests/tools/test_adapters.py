"""One definition for every engine."""

import typing
from typing import Any, Literal

import pytest

from workbook.tools.adapters import (
    from_langchain,
    from_openai,
    text_function,
    to_langchain,
    to_openai,
    tool_from_function,
)
from workbook.tools.calls import Effect, ToolCall, ToolFailure
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool

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


def test_there_and_back_through_openai(tool):
    """a tool that goes through an OpenAI schema and back is the same tool"""
    back = from_openai(to_openai(tool), double, timeout_s=None)
    for name in ("name", "description", "parameters", "run", "effect", "timeout_s"):
        assert getattr(back, name) == getattr(tool, name)


def test_a_schema_that_is_handed_out_is_a_copy(tool):
    """whoever changes the schema that was handed out does not change the tool"""
    to_openai(tool)["function"]["parameters"]["properties"]["n"]["type"] = "string"
    assert tool.parameters == SCHEMA


def test_a_schema_without_a_name_is_refused():
    """a schema that is not one of a function is refused"""
    for function in ({}, None):
        with pytest.raises(ContractError, match="has a name"):
            from_openai({"type": "function", "function": function}, double)


def test_a_schema_without_a_description_is_refused():
    """a description that is null is as little use as none"""
    with pytest.raises(ContractError, match="chooses by the description"):
        from_openai({"name": "Double", "description": None}, double)


def test_langchain_sends_the_same_schema(tool):
    """what LangChain sends to a model is the schema that we would send"""
    from langchain_core.utils.function_calling import convert_to_openai_tool

    assert convert_to_openai_tool(to_langchain(tool)) == to_openai(tool)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"n": 4}, "8"),
        ({"n": "4"}, "8\nNote: n: '4' read as 4"),
        ({"n": 25}, "Error (invalid_arguments): arguments.n: 25 is greater"),
        ({}, "Error (invalid_arguments): arguments: 'n' is a required"),
        ({"n": 13}, "Error (tool_raised): Double raised RuntimeError: unlucky"),
    ],
    ids=str,
)
def test_in_langchain_an_error_is_an_observation(tool, arguments, words):
    """inside LangChain the contract holds: an error is a text for the model"""
    assert to_langchain(tool).invoke(arguments).startswith(words)


def test_in_langchain_an_error_may_be_raised(tool):
    """for comparison an error can leave the tool, as LangChain's own do it"""
    with pytest.raises(ToolFailure, match="unlucky"):
        to_langchain(tool, on_error="raise").invoke({"n": 13})


def test_for_the_classic_agent_a_tool_takes_text(tool):
    """the classic agent's tool takes one text and binds it as our engine does"""
    assert to_langchain(tool, text=True).run("[4]") == "8\nNote: n: [4] read as 4"


def test_as_a_function_of_a_text(tool):
    """the naive loop calls a tool as a function from text to text"""
    call = text_function(tool)
    assert (call("4"), call.__name__) == ("8", "Double")
    assert call("four").startswith("Error (invalid_arguments)")
    with pytest.raises(ToolFailure, match="not of type 'integer'"):
        text_function(tool, on_error="raise")("four")


def test_a_langchain_tool_keeps_our_contract():
    """a LangChain tool can be used under our contract; its text is the result"""
    from langchain_core.tools import tool as langchain_tool

    @langchain_tool
    def add(a: int, b: int = 2) -> int:
        """Adds two numbers."""
        return a + b

    ours = from_langchain(add, effect=Effect.WRITE)
    registry = ToolRegistry([ours])
    assert ours.signature() == "add(a: integer, b?: integer)"
    assert ours.effect is Effect.WRITE
    assert registry.run(ToolCall("add", {"a": 1}, "c")).text() == "3"
    wrong = registry.run(ToolCall("add", {"a": 1, "c": 2}, "c"))
    assert wrong.error.kind == "invalid_arguments"


def test_titles_made_by_pydantic_are_dropped():
    """titles that pydantic makes up are dropped; an argument named title stays"""
    from langchain_core.tools import StructuredTool
    from pydantic import BaseModel

    class Book(BaseModel):
        title: str

    class Order(BaseModel):
        book: Book
        title: str

    theirs = StructuredTool.from_function(
        func=lambda book, title: title,
        name="order",
        description="Orders.",
        args_schema=Order,
    )
    parameters = from_langchain(theirs).parameters
    assert parameters["properties"] == {
        "book": {"$ref": "#/$defs/Book"},
        "title": {"type": "string"},
    }
    assert parameters["$defs"]["Book"]["properties"] == {"title": {"type": "string"}}


def test_there_and_back_through_langchain(tool):
    """a tool that goes through LangChain and back still takes the same arguments"""
    back = from_langchain(to_langchain(tool))
    assert (back.name, back.description) == (tool.name, tool.description)
    assert back.parameters["properties"] == SCHEMA["properties"]
    assert back.parameters["required"] == ["n"]


def test_a_signature_is_a_schema():
    """the types of a function's parameters are the schema of its tool"""

    def measure(
        range: Literal["1V", "10V"],
        seconds: float,
        times: int = 1,
        notes: str | None = None,
        tags: list[str] | Literal["all"] | None = None,
        rest: typing.List = [],  # noqa: B006, UP006
        points: list[float] = [],  # noqa: B006
    ) -> dict[str, Any]:
        """Measures a voltage."""
        return {"volts": 1.5}

    tool = tool_from_function(measure, name="Voltmeter")
    assert (tool.name, tool.description) == ("Voltmeter", "Measures a voltage.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "range": {"enum": ["1V", "10V"]},
            "seconds": {"type": "number"},
            "times": {"type": "integer", "default": 1},
            "notes": {"type": ["string", "null"], "default": None},
            "tags": {
                "anyOf": [
                    {"type": "array", "items": {"type": "string"}},
                    {"enum": ["all"]},
                    {"type": "null"},
                ],
                "default": None,
            },
            "rest": {"type": "array", "default": []},
            "points": {"type": "array", "items": {"type": "number"}, "default": []},
        },
        "required": ["range", "seconds"],
        "additionalProperties": False,
    }


def test_a_parameter_without_a_schema_is_refused():
    """a parameter whose type is missing or unknown to JSON is refused, by name"""

    def untyped(n):
        """Doubles."""

    def odd(n: set[int]):
        """Doubles."""

    def many(*n: int):
        """Doubles."""

    def nameless(n: int, /):
        """Doubles."""

    wrong = {untyped: "no type", odd: "set", many: "every arg", nameless: "leave out"}
    for function, words in wrong.items():
        with pytest.raises(ContractError, match=rf"{function.__name__}\(n\).*{words}"):
            tool_from_function(function)
