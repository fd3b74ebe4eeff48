"""What a description must say, held against examples and against our own tools."""

from dataclasses import replace

import pytest

from workbook.environments.catalogue import builtin_tool, makers
from workbook.environments.number_theory import factorial
from workbook.environments.search import wiki_search
from workbook.runtime.tools import Tool
from workbook.views.descriptions import lint_description, lint_examples

GOOD = (
    'Computes n! for one integer from 0 to 20 per call. Right: {"n": 5}. '
    'Wrong: {"n": [3, 4]}.'
)
NO_LIMIT = "limit is not named"
NO_RIGHT, NO_WRONG = "no right example", "no wrong example"
ONE_A_CALL = "one value per call is not said"
LABELS = 'Right: {"n": 5}. Wrong: {"n": [3]}.'


def described(text):
    return replace(factorial(), description=text)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (GOOD.ljust(1024, "x"), []),
        (GOOD.ljust(1025, "x"), ["too long"]),
        (GOOD.replace("from 0 to 20", "since 2024"), [NO_LIMIT]),
        (GOOD.replace("from 0 to 20", "up to 20.5"), [NO_LIMIT]),
        ("Computes n!.", ["too short", NO_LIMIT, NO_RIGHT, NO_WRONG, ONE_A_CALL]),
        ('0から20の整数、一度に一つ。良い例：{"n": 5}。悪い例：{"n": [3]}。', []),
        ('0到20的整数，每次一个。正确示例：{"n": 5}。错误示例：{"n": [3]}。', []),
        ('From 0 to 20, one at a time. Right: {"n": 5}. Not: {"n": 30}.', []),
        ('Not more than 20: one per call. Right: {"n": 5}.', [NO_WRONG]),
        (f"0 to 20: must be called once per number. {LABELS}", []),
        (f"0 to 20: call separately for each value. {LABELS}", []),
        (f"0 to 20: called a factorial, once upon a time. {LABELS}", [ONE_A_CALL]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_a_description_leaves_out(text, problems):
    """length, limits, examples and one value a call count, in three languages"""
    assert lint_description(described(text)) == problems


@pytest.mark.parametrize(
    ("text", "part", "problems"),
    [
        ("a length in general", {}, ["no unit"]),
        ("温度", {}, ["no unit"]),
        ("a length", {"description": "in metres"}, []),
        *((f"in {unit}", {}, []) for unit in ("°C", "dollars", "km/h", "米")),
    ],
)
def test_a_quantity_needs_a_unit(text, part, problems):
    """a number needs a unit, in the description or in that of the parameter"""
    schema = {"properties": {"length": {"type": "number", **part}}}
    text = f'Measures {text}. Right: {{"length": 5}}. Wrong: {{"length": "5"}}.'
    assert lint_description(Tool("Measure", text, schema, dict)) == problems


@pytest.mark.parametrize("name", makers())
def test_our_own_tools(name):
    """every tool of the workbook follows its own rules, and its examples are true"""
    tool = builtin_tool(name)
    found = "; ".join([*lint_description(tool), *lint_examples(tool)])
    asked = "correct the first paragraph of its docstring, up to the empty line"
    assert not found, f"{name}: {found}: {asked}: {tool.description}"


@pytest.mark.parametrize(
    ("text", "lies"),
    [
        (
            'Up to 20. Right: {"n": 25}. Wrong: `{"n": 5}`.',
            [
                'the right example {"n": 25} is refused by the schema',
                'the wrong example {"n": 5} is accepted by the schema',
            ],
        ),
        ("Right: 5. Wrong: {5, 6}. Example: five", []),
    ],
)
def test_an_example_that_lies(text, lies):
    """an example that the schema sees differently is reported; one in prose is not"""
    assert lint_examples(described(text)) == lies


def test_a_search_names_its_limit():
    """the limit of a parameter that is not required must be named too"""
    vague = replace(wiki_search(), description="Searches. k is a number.")
    assert "limit is not named" in lint_description(vague)
    assert ONE_A_CALL not in lint_description(vague)  # it takes a text
