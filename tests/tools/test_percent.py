"""A first tool: what it promises, what it refuses, what it says about itself."""

import pytest

from workbook.models.base import ToolRequest
from workbook.tools import Effect, ToolRegistry
from workbook.tools.descriptions import RIGHT, WRONG, lint_description, lint_examples


def observed(tool, **arguments):
    """Have a registry make the call, and return what came of it: result or error."""
    registry = ToolRegistry([tool])
    bound = registry.bind(ToolRequest(tool.name, arguments, "call_1"))
    return registry.run(bound) if hasattr(bound, "call_id") else bound


def test_the_tool_says_what_it_is(percent_tool):
    """it is Percent(amount: number, percent: number), reads only, has a time limit"""
    tool = percent_tool()
    assert tool.signature() == "Percent(amount: number, percent: number)"
    assert tool.effect is Effect.READ
    assert tool.timeout_s is not None


@pytest.mark.parametrize(
    ("amount", "percent", "changed"), [(100, -20, 80), (80, 10, 88), (3, 50, 4.5)]
)
def test_an_amount_is_changed(percent_tool, amount, percent, changed):
    """100 and -20 make {"result": 80}, 80 and 10 make 88: run changes the amount"""
    tool = percent_tool()
    assert tool.run(amount=amount, percent=percent) == {"result": changed}


@pytest.mark.parametrize(
    ("amount", "percent", "changed"),
    [(1.1, 10, 1.21), (0.1, 200, 0.3), (19.99, 7.5, 21.48925)],
)
def test_it_is_what_it_is_on_paper(percent_tool, amount, percent, changed):
    """the result is what it is on paper: 1.1 and 10 make 1.21, not 1.2100000000000002

    perhaps: floats leave dust behind; Fraction(str(amount)) is what was written
    """
    tool = percent_tool()
    assert tool.run(amount=amount, percent=percent) == {"result": changed}


@pytest.mark.parametrize(("amount", "percent"), [(80, 10), (2.5, 100)])
def test_a_whole_result_is_an_int(percent_tool, amount, percent):
    """a result that is whole is an int: 88, not 88.0"""
    result = percent_tool().run(amount=amount, percent=percent)["result"]
    assert isinstance(result, int)


@pytest.mark.parametrize(("percent", "changed"), [(-100, 0), (1000, 880)])
def test_the_limits_are_allowed(percent_tool, percent, changed):
    """percent goes from -100 to 1000, and both limits are allowed"""
    seen = observed(percent_tool(), amount=80, percent=percent)
    assert getattr(seen, "result", seen) == {"result": changed}


@pytest.mark.parametrize(
    "arguments",
    [
        {"amount": 80, "rate": 10},
        {"amount": 80, "percent": 10, "currency": "$"},
        {"amount": 80, "percent": "10%"},
        {"amount": 80, "percent": -101},
        {"amount": 80, "percent": 1000.5},
        {"amount": [80, 20], "percent": 10},
    ],
    ids=["name", "field", "text", "below", "above", "list"],
)
def test_every_wrong_call_is_refused_by_the_schema(percent_tool, arguments):
    """the schema refuses a wrong name, a field too many, text, a list, and out of range

    perhaps: "minimum" and "maximum" stand in the schema, not in the function
    """
    error = observed(percent_tool(), **arguments)
    assert getattr(error, "kind", error) == "invalid_arguments"


def test_nothing_is_missing_in_the_description(percent_tool):
    """the description names -100 and 1000, and passes lint_description"""
    tool = percent_tool()
    assert "-100" in tool.description
    assert lint_description(tool) == []


def test_the_examples_are_true(percent_tool):
    """Right: and Wrong: are followed by JSON, which the schema takes and refuses"""
    tool = percent_tool()
    for label in (RIGHT, WRONG):
        found = label.search(tool.description)
        assert found is not None
        assert tool.description[found.end() :].lstrip().startswith("{")
    assert lint_examples(tool) == []
