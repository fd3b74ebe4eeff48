"""What a description must say, held against examples and against our own tools."""

from dataclasses import replace

import pytest

from workbook.props.catalogue import builtin_tool, makers
from workbook.props.number_theory import factorial
from workbook.props.web_search import wiki_search
from workbook.tools.descriptions import lint_description, lint_examples, names_number
from workbook.tools.tool import Tool

GOOD = (
    'Computes n! for one integer from 0 to 20 per call. Right: {"n": 5}. '
    'Wrong: {"n": [3, 4]}.'
)
ONE_A_CALL = "one value a call is not said"


def described(text):
    return replace(factorial(), description=text)


def measuring(text, **part):
    schema = {"type": "object", "properties": {"length": {"type": "number", **part}}}
    text = f'Measures {text}. Right: {{"length": 5}}. Wrong: {{"length": "5"}}.'
    return Tool("Measure", text, schema, dict)


@pytest.mark.parametrize(
    ("text", "problems"),
    [
        (GOOD, []),
        (GOOD.ljust(1024, "x"), []),
        (GOOD.ljust(1025, "x"), ["too long"]),
        (GOOD.replace("from 0 to 20", "since 2024"), ["limit is not named"]),
        (GOOD.partition("Wrong")[0], ["no wrong example"]),
        (
            "Computes n!.",
            [
                "too short",
                "limit is not named",
                "no right example",
                "no wrong example",
                ONE_A_CALL,
            ],
        ),
        ('0から20の整数、一度に一つ。良い例：{"n": 5}。悪い例：{"n": [3]}。', []),
        ('0到20的整数，每次一个。正确示例：{"n": 5}。错误示例：{"n": [3]}。', []),
        ('From 0 to 20, one at a time. Right: {"n": 5}. Not: {"n": 30}.', []),
        ('Not more than 20: one per call. Right: {"n": 5}.', ["no wrong example"]),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_a_description_leaves_out(text, problems):
    """length, limits, examples and one value a call count, in three languages"""
    assert lint_description(described(text)) == problems


@pytest.mark.parametrize(
    ("words", "problems"),
    [
        ("must be called once per number", []),
        ("make a separate call for every integer", []),
        ("call separately for each value", []),
        ("1つずつ渡す", []),
        ("called a factorial", [ONE_A_CALL]),
        ("once upon a time", [ONE_A_CALL]),
    ],
)
def test_the_words_for_one_value_a_call(words, problems):
    """one value a call can be said in many words, and some only look alike"""
    text = f'From 0 to 20: {words}. Right: {{"n": 5}}. Wrong: {{"n": [3]}}.'
    assert lint_description(described(text)) == problems


@pytest.mark.parametrize(
    ("tool", "problems"),
    [
        (measuring("a length"), ["no unit"]),
        (measuring("in general"), ["no unit"]),
        (measuring("温度"), ["no unit"]),
        (measuring("a length", description="in metres"), []),
        *((measuring(f"in {unit}"), []) for unit in ("°C", "dollars", "km/h", "米")),
    ],
    ids=repr,
)
def test_a_quantity_needs_a_unit(tool, problems):
    """a number needs a unit, in the description or in that of the parameter"""
    assert lint_description(tool) == problems


def test_one_value_matters_for_numbers_only():
    """a tool that takes text need not say that it wants one value a call"""
    schema = {"properties": {"query": {"type": "string"}}, "required": ["query"]}
    text = 'Searches the articles. Right: {"query": "Fuji"}. Wrong: {"query": 5}.'
    assert lint_description(Tool("Search", text, schema, dict)) == []


@pytest.mark.parametrize("name", makers())
def test_our_own_tools(name):
    """every tool of the workbook follows its own rules, and its examples are true"""
    tool = builtin_tool(name)
    assert (lint_description(tool), lint_examples(tool)) == ([], [])


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


@pytest.mark.parametrize(
    ("text", "named"),
    [("up to 20.", True), ("in 2024", False), ("20.5", False), ("1.20", False)],
)
def test_a_number_in_a_text(text, named):
    """a number is named when it stands there as a whole"""
    assert names_number(text, 20) is named


def test_a_search_names_its_limit():
    """the limit of a parameter that is not required must be named too"""
    vague = replace(wiki_search(), description="Searches. k is a number.")
    assert "limit is not named" in lint_description(vague)
