"""@tool: a typed, documented function as a tool."""

from __future__ import annotations

import functools
from enum import Enum
from pathlib import Path
from typing import Any, Literal, Optional

import pytest

from workbook.models.base import ToolRequest
from workbook.tools.calls import Effect, Observation
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool, schema_of, tool


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


def test_the_function_is_a_tool_with_its_name_description_and_schema():
    assert isinstance(convert, Tool)
    assert (convert.name, convert.description) == (
        "convert",
        "Convert an amount of money.",
    )
    assert convert.parameters == {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "description": "in dollars, cents included"},
            "to": {
                "type": "string",
                "enum": ["EUR", "USD"],
                "description": "a currency",
            },
        },
        "required": ["amount"],
        "additionalProperties": False,
    }
    assert (convert.effect, convert.timeout_s) == (Effect.READ, 10.0)


def test_fields_of_the_tool_can_be_given():
    @tool(name="Send", effect="write", timeout_s=None, business_key=("to",))
    def send(to: str) -> None:
        """Send a letter."""

    assert (send.name, send.effect, send.timeout_s) == ("Send", Effect.WRITE, None)
    assert send.business_key == ("to",)


@pytest.mark.parametrize(
    ("hint", "schema"),
    [
        (bool, {"type": "boolean"}),
        (list, {"type": "array"}),
        (list[list[int]], {"type": "array", "items": schema_of(list[int])}),
        (
            dict[str, float],
            {"type": "object", "additionalProperties": {"type": "number"}},
        ),
        (Optional[int], {"type": ["integer", "null"]}),  # noqa: UP045
        (int | str, {"type": ["integer", "string"]}),
        (
            list[str] | None,
            {"anyOf": [schema_of(list[str]), {"type": "null"}]},
        ),
        (Literal[1, "two", None], {"enum": [1, "two", None]}),
        (Size, {"type": "string", "enum": ["s", "l"]}),
    ],
)
def test_a_type_hint_is_a_schema(hint: Any, schema: dict[str, Any]):
    assert schema_of(hint) == schema


def test_a_call_takes_values_as_the_hints_have_them():
    seen: list[Any] = []

    @tool
    def order(size: Size, more: list[Size] | None = None, count: int = 1) -> dict:
        """Order shirts."""
        seen.append((size, more, count))
        return {"ordered": count}

    assert call(order, size="s", more=["l"]).result == {"ordered": 1}
    assert call(order, size="l", count=2).result == {"ordered": 2}
    assert seen == [(Size.SMALL, [Size.LARGE], 1), (Size.LARGE, None, 2)]


def test_a_result_that_is_no_dict_is_the_field_result():
    assert call(convert, amount=5).result == {"result": "5.00 EUR"}


@pytest.mark.parametrize("wrong", [True, [1, 2], None, "five"])
def test_nothing_is_coerced_in_silence(wrong: Any):
    bound = ToolRegistry([convert]).bind(ToolRequest("convert", {"amount": wrong}, ""))
    assert bound.kind == "invalid_arguments"
    near = ToolRegistry([convert]).bind(ToolRequest("convert", {"amount": "5"}, ""))
    assert near.notes == ("amount: '5' read as 5",)


def test_what_the_function_raises_is_a_failed_observation():
    @tool
    def lend(book: str) -> str:
        """Lend a book."""
        raise LookupError(f"no {book}")

    seen = call(lend, book="Emma")
    assert not seen.ok
    assert "LookupError: no Emma" in seen.error.message


def test_a_method_of_an_object_is_a_tool_without_self():
    class Shop:
        def stock(self, of: str) -> int:
            """Count what is left."""
            return len(of)

    assert call(tool(Shop().stock), of="tea").result == {"result": 3}


def no_docstring(n: int): ...


def no_hint(n):
    """Count."""


def many(*numbers: int):
    """Count."""


def anything(**numbers: int):
    """Count."""


def by_position(n: int, /):
    """Count."""


async def later(n: int):
    """Count."""


def of_a_file(n: Path):
    """Count."""


def of_bytes_in_a_list(n: list[bytes]):
    """Count."""


def with_keys_that_are_numbers(n: dict[int, str]):
    """Count."""


def of_nobody_knows_what(n: Undefined):  # noqa: F821
    """Count."""


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (no_docstring, "no_docstring: write a docstring"),
        (no_hint, "no_hint: n has no type hint"),
        (many, r"\*numbers"),
        (anything, r"\*\*numbers"),
        (by_position, "is not given by name"),
        (later, "async"),
        (of_a_file, "n: JSON has no .*Path"),
        (of_bytes_in_a_list, "JSON has no .*bytes"),
        (with_keys_that_are_numbers, "dict"),
        (of_nobody_knows_what, "Undefined"),
        (functools.partial(convert.run, to="USD"), "wrap it in a def"),
        ("convert", "wrap it in a def"),
    ],
)
def test_a_function_that_cannot_be_a_tool_is_refused_in_a_sentence(
    function: Any, words: str
):
    with pytest.raises(ContractError, match=words):
        tool(function)


def test_an_unknown_effect_is_refused():
    with pytest.raises(ContractError, match="effect is 'delete'; use read or write"):

        @tool(effect="delete")
        def remove(path: str) -> None:
            """Remove a file."""
