"""What a description must say: the rules for a learner's linter, and our own tools."""

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


TOOLS = [builtin_tool(name) for name in makers()]


def described(text):
    return replace(factorial(), description=text)


def measuring(text, **part):
    schema = {"type": "object", "properties": {"length": {"type": "number", **part}}}
    return Tool("Measure", text, schema, dict)


def test_nothing_is_missing():
    """a description with limit, both examples and one value a call has no problem"""
    assert lint_description(described(GOOD)) == []


def test_everything_is_missing():
    """problems come in one order, all of them"""
    expected = [
        "too short",
        "limit is not named",
        "no right example",
        "no wrong example",
        "one value a call is not said",
    ]
    assert lint_description(described("Computes n!.")) == expected


def test_too_long():
    """more than 1,024 characters are too long"""
    assert lint_description(described(GOOD.ljust(1025, "x"))) == ["too long"]


def test_a_thousand_characters_are_not_too_long():
    """a description of exactly 1,024 characters is not too long"""
    assert lint_description(described(GOOD.ljust(1024, "x"))) == []


WELL_MADE = """\
Computes the factorial n! = 1 * 2 * ... * n of one integer, exactly.

Limits: n must be an integer from 0 to 20. 21! does not fit into a 64-bit integer,
so larger values are refused before anything is computed, and nothing is rounded.
This tool must be called once per number: it does not take a list. For several numbers
call it several times, and wait for each result before you write the next call.

Right: {"n": 5}, which gives 120.
Wrong: {"n": [3, 4, 5]}, because a list is not a number.
Wrong: {"n": "5!"}, because the sign is not a part of the number.
Do not use it for products of other numbers: the calculator is there for that.
"""


def test_a_long_description_that_says_it_all():
    """limits, right and wrong examples take room: 700 characters are not too long"""
    assert lint_description(described(WELL_MADE)) == []


@pytest.mark.parametrize(
    "words",
    [
        "must be called once per number",
        "call it once for each number",
        "one number at a time",
        "make a separate call for every integer",
        "call separately for each value",
        "1つずつ渡す",
        "数ごとに1回呼ぶ",
        "逐个调用",
    ],
)
def test_the_words_for_one_value_a_call(words):
    """one value a call can be said in many words"""
    text = f'From 0 to 20: {words}. Right: {{"n": 5}}. Wrong: {{"n": [3]}}.'
    assert lint_description(described(text)) == []


@pytest.mark.parametrize("words", ["called a factorial", "once upon a time", "per se"])
def test_words_that_do_not_say_one_value_a_call(words):
    """words that only look alike do not say that a call takes one value"""
    text = (
        f'From 0 to 20, {words}, it computes. Right: {{"n": 5}}. Wrong: {{"n": 0.5}}.'
    )
    assert lint_description(described(text)) == ["one value a call is not said"]


def test_the_limit_is_a_number_of_its_own():
    """the limit 20 is not named by 2024"""
    text = GOOD.replace("from 0 to 20", "since 2024")
    assert lint_description(described(text)) == ["limit is not named"]


def test_no_wrong_example():
    """an example of a wrong call is missed when there is only a right one"""
    text = GOOD.partition("Wrong")[0]
    assert lint_description(described(text)) == ["no wrong example"]


def test_one_value_matters_for_numbers_only():
    """a tool that takes text need not say that it wants one value a call"""
    schema = {
        "type": "object",
        "properties": {"query": {"type": "string"}},
        "required": ["query"],
    }
    text = 'Searches the articles. Right: {"query": "Fuji"}. Wrong: {"query": 5}.'
    assert lint_description(Tool("Search", text, schema, dict)) == []


def test_a_quantity_without_a_unit():
    """a parameter of the type number needs a unit"""
    text = 'Measures a length. Right: {"length": 5}. Wrong: {"length": "5"}.'
    assert lint_description(measuring(text)) == ["no unit"]


def test_a_unit_in_the_parameter():
    """the unit may stand in the parameter's own description"""
    text = 'Measures a length. Right: {"length": 5}. Wrong: {"length": "5"}.'
    assert lint_description(measuring(text, description="in metres")) == []


UNITS = ["°C", "celsius", "kelvin", "dollars", "km/h", "Hz", "kg", "mm", "joules", "米"]


@pytest.mark.parametrize("unit", UNITS)
def test_a_unit_without_a_number(unit):
    """a unit is one in words and in signs, with and without a number before it"""
    text = f'Measures it in {unit}. Right: {{"length": 5}}. Wrong: {{"length": "5"}}.'
    assert lint_description(measuring(text)) == []


@pytest.mark.parametrize("words", ["in general", "in a list", "温度"])
def test_what_is_no_unit(words):
    """words that look like a unit are none"""
    text = f'Measures {words}. Right: {{"length": 5}}. Wrong: {{"length": "5"}}.'
    assert lint_description(measuring(text)) == ["no unit"]


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ('0から20の整数、一度に一つ。良い例：{"n": 5}。悪い例：{"n": [3]}。', []),
        ('0到20的整数，每次一个。正确示例：{"n": 5}。错误示例：{"n": [3]}。', []),
        ('From 0 to 20, one at a time. Right: {"n": 5}. Not: {"n": 30}.', []),
        (
            'Does not take more than 20: one per call. Right: {"n": 5}.',
            ["no wrong example"],
        ),
    ],
)
def test_the_labels_of_examples(text, missing):
    """labels count in three languages, and a "not" in a sentence is no label"""
    assert lint_description(described(text)) == missing


def test_an_example_in_backticks_is_held_against_the_schema():
    """an example in backticks is an example"""
    text = 'Computes n! up to 20. Wrong: `{"n": 5}`.'
    assert lint_examples(described(text)) == [
        'the wrong example {"n": 5} is accepted by the schema'
    ]


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_our_own_descriptions(tool):
    """every tool of the workbook follows its own rules"""
    assert lint_description(tool) == []


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_our_own_examples_are_true(tool):
    """right examples pass the schema, wrong ones do not"""
    assert lint_examples(tool) == []


def test_an_example_that_lies():
    """an example that the schema sees differently is reported in a sentence"""
    text = 'Computes n! up to 20. Right: {"n": 25}. Wrong: {"n": 5}.'
    assert lint_examples(described(text)) == [
        'the right example {"n": 25} is refused by the schema',
        'the wrong example {"n": 5} is accepted by the schema',
    ]


def test_an_example_in_prose_is_left_alone():
    """an example that is not a JSON object is not held against the schema"""
    assert lint_examples(described("Right: 5. Wrong: {5, 6}. Example: five")) == []


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
