"""@tool: a typed, documented function as a tool."""

from __future__ import annotations

import functools
from enum import Enum
from typing import Any, Literal

import pytest

from workbook.models.base import ToolRequest
from workbook.tools.calls import Effect, Observation
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool, tool


class Size(Enum):
    SMALL = "s"
    LARGE = "l"


@tool
def convert(amount: float, to: Literal["EUR", "USD"] = "EUR") -> str:
    """Convert an amount
    of money.

    What stands here is for those who read the code.

    Args:
        amount: in dollars,
            cents included
        to (str): a currency
    """
    return f"{amount:.2f} {to}"


def call(made: Tool, **arguments: Any) -> Observation:
    registry = ToolRegistry([made])
    return registry.run(registry.bind(ToolRequest(made.name, arguments, "call_1")))


def test_the_function_is_a_tool():
    """name, description and schema come from the function, and its call is a result"""
    assert isinstance(convert, Tool)
    assert convert.name == "convert"
    assert convert.description == "Convert an amount of money."
    to = {"type": "string", "enum": ["EUR", "USD"], "description": "a currency"}
    assert convert.parameters == {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "description": "in dollars, cents included"},
            "to": to,
        },
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert (convert.effect, convert.timeout_s) == (Effect.READ, 10.0)
    assert call(convert, amount=5).result == {"result": "5.00 EUR"}


def test_fields_of_the_tool_can_be_given():
    """a name, an effect and other fields of a tool go into the brackets"""

    @tool(name="Send", effect="write", timeout_s=None, business_key=("to",))
    def send(to: str) -> None:
        """Send a letter."""

    assert (send.name, send.effect, send.timeout_s) == ("Send", Effect.WRITE, None)
    assert send.business_key == ("to",)


def test_a_call_takes_values_as_the_hints_have_them():
    """the function gets members of an Enum, its own defaults, and may be a method"""
    seen: list[Any] = []

    class Shop:
        def order(
            self, size: Size, more: list[Size] | None = None, n: int | None = 1
        ) -> dict:
            """Order shirts."""
            seen.append((size, more, n))
            return {"ordered": 1}

    order = tool(Shop().order)
    types = 'size: "s" | "l", more?: array | null, n?: integer | null'
    assert order.signature() == f"order({types})"
    assert call(order, size="s", more=["l"]).result == {"ordered": 1}
    assert call(order, size="l", n="12").result == {"ordered": 1}  # repaired
    assert seen == [(Size.SMALL, [Size.LARGE], 1), (Size.LARGE, None, 12)]


def no_hint(n): ...


def many(*numbers: int): ...


def by_position(n: int, /): ...


async def later(n: int): ...


def of_objects(n: list[Tool]): ...


def of_nobody_knows_what(n: Undefined): ...  # noqa: F821


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_hint, "no_hint: n has no type hint"),
        (many, r"\*numbers"),
        (by_position, "is not given by name"),
        (later, "nobody awaits"),
        (of_objects, "of_objects: a type has no JSON Schema"),
        (of_nobody_knows_what, "Undefined"),
        (functools.partial(convert.run, to="USD"), "write a plain def"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused(function: Any, words: str):
    """what is missing in the function is said in a sentence"""
    with pytest.raises(ContractError, match=words):
        tool(function)
