"""One definition for every engine."""

import threading
from datetime import date
from typing import Annotated, Any, Literal

import pytest
from pydantic import Field

from workbook.tools.adapters import (
    from_langchain,
    to_langchain,
    to_openai,
    tool_from_function,
)
from workbook.tools.calls import Effect, ToolCall
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


def test_a_schema_that_is_handed_out_is_a_copy(tool):
    """whoever changes the schema that was handed out does not change the tool"""
    to_openai(tool)["function"]["parameters"]["properties"]["n"]["type"] = "string"
    assert tool.parameters == SCHEMA


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
        ({}, 'Error (invalid_arguments): arguments: "n" is a required'),
        ({"n": 13}, "Error (tool_raised): Double raised RuntimeError: unlucky"),
    ],
    ids=str,
)
def test_in_langchain_an_error_is_an_observation(tool, arguments, words):
    """inside LangChain the contract holds: an error is a text for the model"""
    assert to_langchain(tool).invoke(arguments).startswith(words)


def test_for_the_classic_agent_a_tool_takes_text(tool):
    """the classic agent's tool takes one text and binds it as our engine does"""
    asked = to_langchain(tool, text=True)
    assert asked.run("[4]") == "8\nNote: n: [4] read as 4"
    assert asked.run("four").startswith("Error (invalid_arguments)")


@pytest.mark.parametrize(("text", "given"), [(True, "13"), (False, {"n": 13})])
def test_a_trusting_tool_raises_what_it_raises(tool, text, given):
    """handed over as tutorials do it, a tool lets its exception out"""
    with pytest.raises(RuntimeError, match="unlucky"):
        to_langchain(tool, text=text, trusting=True).invoke(given)


@pytest.mark.parametrize(("text", "given"), [(True, "21"), (False, {"n": 21})])
def test_a_trusting_tool_is_not_held_to_its_schema(tool, text, given):
    """handed over as tutorials do it, a tool is called beyond its limit"""
    assert to_langchain(tool, text=text, trusting=True).invoke(given) == "42"


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
        times: Annotated[int, Field(le=20, description="how often")] = 1,
        notes: str | None = None,
        points: list[float] = [],  # noqa: B006
    ) -> dict[str, Any]:
        """Measures a voltage."""
        return {"volts": 1.5}

    tool = tool_from_function(measure, name="Voltmeter")
    assert (tool.name, tool.description) == ("Voltmeter", "Measures a voltage.")
    assert tool.parameters == {
        "type": "object",
        "properties": {
            "range": {"type": "string", "enum": ["1V", "10V"]},
            "times": {
                "type": "integer",
                "maximum": 20,
                "description": "how often",
                "default": 1,
            },
            "notes": {
                "anyOf": [{"type": "string"}, {"type": "null"}],
                "default": None,
            },
            "points": {"type": "array", "items": {"type": "number"}, "default": []},
        },
        "required": ["range"],
        "additionalProperties": False,
    }


def test_a_function_gets_its_arguments_in_its_own_types():
    """a date that stands in the call as text reaches the function as a date"""

    def weekday(day: date) -> dict[str, Any]:
        """Names a day."""
        return {"result": day.strftime("%A")}

    registry = ToolRegistry([tool_from_function(weekday)])
    call = ToolCall("weekday", {"day": "2026-07-14"}, "c")
    assert registry.run(call).text() == "Tuesday"


def test_a_parameter_without_a_schema_is_refused():
    """a parameter whose type is missing or unknown to JSON is refused, by name"""

    def untyped(n):
        """Doubles."""

    def odd(n: threading.Lock):
        """Doubles."""

    def unknown(n: "Nobody"):  # noqa: F821
        """Doubles."""

    def many(*n: int):
        """Doubles."""

    def nameless(n: int, /):
        """Doubles."""

    wrong = {untyped: "no type", odd: "lock", unknown: "Nobody"}
    for function, words in {**wrong, many: "no *", nameless: "no /"}.items():
        with pytest.raises(ContractError) as error:
            tool_from_function(function)
        assert str(error.value).startswith(function.__name__)
        assert words in str(error.value)
