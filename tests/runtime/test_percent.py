"""A first tool: what it promises, what it refuses, what it says about itself."""

import pytest

from workbook.runtime.calls import Effect
from workbook.runtime.model import ToolRequest
from workbook.runtime.tools import ToolRegistry
from workbook.views.descriptions import RIGHT, WRONG, lint_description, lint_examples


def observed(tool, **arguments):
    """Have a registry make the call, and return what came of it: result or error."""
    registry = ToolRegistry([tool])
    bound = registry.bind(ToolRequest(tool.name, arguments, "call_1"))
    return registry.run(bound) if hasattr(bound, "call_id") else bound


def assert_changed(tool, amount, percent, right):
    found = tool.run(amount=amount, percent=percent)
    call = f"run(amount={amount}, percent={percent})"
    assert found == {"result": right}, f"{call} returns {found}, not {right}"


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
    """run returns the changed amount: 100 and -20 give {"result": 80}"""
    assert_changed(percent_tool(), amount, percent, changed)


@pytest.mark.parametrize(
    ("amount", "percent", "changed"),
    [
        (1.1, 10, 1.21),
        (0.00000012, 0, 0.00000012),
        (1.2e-15, 10, 1.32e-15),
        (10**20 + 1, 100, 2 * 10**20 + 2),
    ],
)
def test_it_is_what_it_is_on_paper(percent_tool, amount, percent, changed):
    """it is exact: 1.1 and 10 give 1.21, 0.00000012 and 0 give 0.00000012, not 0"""
    assert_changed(percent_tool(), amount, percent, changed)


@pytest.mark.parametrize(("amount", "percent"), [(80, 10), (2.5, 100)])
def test_a_whole_result_is_an_int(percent_tool, amount, percent):
    """a whole result is an int: 80 and 10 give 88, not 88.0"""
    result = percent_tool().run(amount=amount, percent=percent)["result"]
    assert isinstance(result, int), f"run({amount}, {percent}) gives {result!r}"


@pytest.mark.parametrize(("percent", "changed"), [(-100, 0), (1000, 880)])
def test_the_limits_are_allowed(percent_tool, percent, changed):
    """the schema allows a percent from -100 to 1000, both limits included"""
    seen = observed(percent_tool(), amount=80, percent=percent)
    said = f"for percent={percent} the model reads {seen.text()}, expected is {changed}"
    assert getattr(seen, "result", None) == {"result": changed}, said


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
    """it refuses a wrong or missing name, an extra field, text, a list, percent -101

    Also where `additionalProperties` is left out: Tool itself refuses extra fields.
    """
    seen = observed(percent_tool(), **arguments)
    said = f"for {arguments} the model reads {seen.text()!r}, expected is a refusal"
    assert getattr(seen, "kind", None) == "invalid_arguments", said


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
