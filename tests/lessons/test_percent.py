"""A first tool: what it promises, what it refuses, what it says about itself."""

import pytest

from workbook.lessons.tools_as_contracts import (
    RIGHT,
    WRONG,
    lint_description,
    lint_examples,
)
from workbook.runtime.calls import Effect, ToolCall
from workbook.runtime.model import ToolRequest
from workbook.runtime.tools import ToolRegistry


def bound(tool, **arguments):
    """Have a registry check a call: return the call, or the error of a refusal."""
    return ToolRegistry([tool]).bind(ToolRequest(tool.name, arguments, "call_1"))


def test_the_tool_says_what_it_is(percent_tool):
    """it is Percent(amount: number, percent: number); effect READ; with a timeout_s"""
    tool = percent_tool()
    found, right = tool.signature(), "Percent(amount: number, percent: number)"
    assert found == right, f"the tool is {found}, expected is {right}"
    assert tool.effect is Effect.READ, f"its effect is {tool.effect}, not Effect.READ"
    assert tool.timeout_s is not None, "it has no timeout_s"


@pytest.mark.parametrize(
    ("amount", "percent", "changed"), [(100, -20, 80), (80, 10, 88), (3, 50, 4.5)]
)
def test_an_amount_is_changed(percent_tool, amount, percent, changed):
    """run returns {"result": the new amount}: {"result": 80} for 100 and -20"""
    found = percent_tool().run(amount=amount, percent=percent)
    call = f"run(amount={amount}, percent={percent})"
    assert isinstance(found, dict), f"{call} returns {found!r}, which is not a dict"
    assert found == pytest.approx({"result": changed}), f"{call} returns {found!r}"


@pytest.mark.parametrize("percent", [-100, 1000])
def test_the_limits_are_allowed(percent_tool, percent):
    """the schema allows a percent from -100 to 1000, both limits included"""
    call = bound(percent_tool(), amount=80, percent=percent)
    assert isinstance(call, ToolCall), f"percent={percent} is refused: {call.text()!r}"


@pytest.mark.parametrize(
    "arguments",
    [
        {"amount": 80, "rate": 10},
        {"amount": 80},
        {"amount": 80, "percent": 10, "currency": "$"},
        {"amount": 80, "percent": "10%"},
        {"amount": 80, "percent": -101},
        {"amount": 80, "percent": 1000.5},
        {"amount": [80, 20], "percent": 10},
    ],
    ids=["name", "missing", "field", "text", "below", "above", "list"],
)
def test_every_wrong_call_is_refused_by_the_schema(percent_tool, arguments):
    """it refuses a wrong or missing name, an extra field, text, a list, percent -101"""
    seen = bound(percent_tool(), **arguments)
    assert not isinstance(seen, ToolCall), f"{arguments} is allowed by the schema"


def test_nothing_is_missing_in_the_description(percent_tool):
    """the description names -100 and 1000, and lint_description returns []"""
    tool = percent_tool()
    assert "-100" in tool.description, f"-100 is not in {tool.description!r}"
    left_out = lint_description(tool)
    assert left_out == [], f"lint_description lists {left_out}"


def test_the_examples_are_true(percent_tool):
    """JSON follows Right: and Wrong:; the schema allows the first, not the second"""
    tool = percent_tool()
    for label, word in ((RIGHT, "Right:"), (WRONG, "Wrong:")):
        found = label.search(tool.description)
        rest = tool.description[found.end() :].lstrip() if found else ""
        assert rest.startswith("{"), f"no JSON follows {word} in {tool.description!r}"
    problems = lint_examples(tool)
    assert problems == [], f"lint_examples finds {problems}"
