"""What a description must say, and what the lab measures."""

from dataclasses import replace

import pytest

from workbook.lessons.tools_as_contracts import (
    first_call,
    improved_description,
    lint_description,
    lint_examples,
    menu,
    percent_tool,
)
from workbook.runtime.tools import Tool
from workbook.worlds.catalogue import builtin_tool, makers
from workbook.worlds.numbers import factorial

GOOD = (
    'Computes n! for one integer from 0 to 20 per call. Right: {"n": 5}. '
    'Wrong: {"n": [3, 4]}.'
)
NO_LIMIT = "limit is not named"
NO_RIGHT, NO_WRONG = "no right example", "no wrong example"
ONE_A_CALL = "'one value per call' is missing"
LABELS = 'Right: {"n": 5}. Wrong: {"n": [3]}.'


def described(text):
    return replace(factorial(), description=text)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (GOOD.ljust(1024, "x"), []),
        (GOOD.ljust(1025, "x"), ["too long"]),
        (GOOD.replace("from 0 to 20", "since 2024"), [NO_LIMIT]),
        ("Computes n!.", ["too short", NO_LIMIT, NO_RIGHT, NO_WRONG, ONE_A_CALL]),
        ('0から20の整数、一度に一つ。良い例：{"n": 5}。悪い例：{"n": [3]}。', []),
        ('0到20的整数，每次一个。正确示例：{"n": 5}。错误示例：{"n": [3]}。', []),
        ('Not more than 20: one per call. Right: {"n": 5}.', [NO_WRONG]),
        (f"0 to 20: called a factorial, once upon a time. {LABELS}", [ONE_A_CALL]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_a_description_leaves_out(text, problems):
    """length, limits, examples and one value a call count, in three languages"""
    assert lint_description(described(text)) == problems


def test_a_quantity_needs_a_unit():
    """a number needs a unit, in the description or in that of the parameter"""
    examples = 'Right: {"length": 5}. Wrong: {"length": "5"}.'

    def lacks(text, **part):
        schema = {"properties": {"length": {"type": "number", **part}}}
        return lint_description(Tool("Measure", f"{text}. {examples}", schema, dict))

    assert lacks("Measures a length in general") == ["no unit"]
    assert lacks("Measures in 米") == lacks("Measures", description="in metres") == []


@pytest.mark.parametrize("name", makers())
def test_our_own_tools(name):
    """every tool of the workbook follows its own rules, and its examples are true"""
    tool = builtin_tool(name)
    found = "; ".join([*lint_description(tool), *lint_examples(tool)])
    assert not found, f"{name}: {found}: {tool.description}"


def test_an_example_that_lies():
    """an example that the schema sees differently is reported; one in prose is not"""
    lies = described('Up to 20. Right: {"n": 25}. Wrong: `{"n": 5}`.')
    found = ['right {"n": 25} is refused', 'wrong {"n": 5} is taken']
    assert lint_examples(lies) == found
    assert lint_examples(described("Right: 5. Wrong: {5, 6}. Example: five")) == []


WRONG = [{"amount": 80}, {"price": 80, "percent": 2000}, {"amount": 80}]
WARNING = (
    '[Often wrong: "percent" is needed: one number, minimum -100, maximum 1000; '
    '"amount" is needed: one number; there is no argument but "amount", "percent".]'
)


def test_a_description_is_improved_by_errors():
    """each argument at fault is named once, the most frequent first, by the schema"""
    tool = percent_tool()
    better = improved_description(tool, WRONG)
    assert better.description == f"{tool.description}\n{WARNING}"
    assert improved_description(better, WRONG).description == better.description
    assert improved_description(better, []).description == tool.description


def test_a_swapped_menu_has_the_text_of_the_next_tool():
    """only what is named is swapped, and a menu can have other names"""
    is_for, topic = "Calculates numbers.", "Finds facts about places and people."
    argument = "Calculator(expression: string,"
    assert menu()["Calculator"] == f"{argument} arithmetic): {is_for}"
    swapped = menu("note description")["Calculator"]
    assert swapped == f"{argument} a topic): {topic}"
    assert menu("", "ABC")["A"] == f"A(expression: string, arithmetic): {is_for}"


def test_a_first_call_is_bound_and_run():
    """what the schema allows is run; what it refuses is no call, but an observation"""
    call, seen = first_call(factorial(), "5")
    assert (call.arguments, seen) == ({"n": 5}, "120")
    call, seen = first_call(factorial(), "30")
    assert (call, "greater than the maximum" in seen) == (None, True)
