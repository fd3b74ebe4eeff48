"""Repair: what is put right, and what is left alone."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.tools.arguments import validate_arguments
from workbook.tools.repair import repair_arguments as package_repair

SCHEMA = {
    "type": "object",
    "properties": {
        "n": {"type": "integer"},
        "x": {"type": "number"},
        "query": {"type": "string"},
        "values": {"type": "array"},
    },
}
INTEGER = {"properties": {"n": {"type": "integer"}}}
NUMBER = {"properties": {"x": {"type": "number"}}}
QUERY = {"properties": {"query": {"type": "string"}}}
RANGE = {"properties": {"range": {"type": "string", "enum": ["10V", '"x"']}}}
ALIASES = {"number": "n", "num": "n", "q": "query"}


@pytest.mark.parametrize(
    "arguments",
    [
        {"n": 12, "x": 0.5, "query": "12", "values": [1]},
        {"query": 'the "blue" one', "values": [7, 8]},
        {},
    ],
    ids=str,
)
def test_right_arguments_stay_as_they_are(repair_arguments, arguments):
    """what is right stays: text of digits as text, a list where a list is asked for"""
    assert repair_arguments(SCHEMA, arguments, ALIASES) == (arguments, [])


def test_a_wrong_name_is_replaced_by_alias(repair_arguments):
    """a wrong name that the aliases know is replaced, noted as: q is called query"""
    expected = ({"query": "Kyoto"}, ["q is called query"])
    assert repair_arguments(QUERY, {"q": "Kyoto"}, ALIASES) == expected


@pytest.mark.parametrize(
    "arguments", [{"number": 1, "num": 2}, {"n": 1, "number": 2}], ids=str
)
def test_of_two_names_for_one_argument_none_is_taken(repair_arguments, arguments):
    """two names for one argument, or a name and its alias: both stay, without a note"""
    assert repair_arguments(INTEGER, arguments, ALIASES) == (arguments, [])


@pytest.mark.parametrize(
    ("given_value", "meant"),
    [("12", 12), (" -3 ", -3), ("１２", 12), ("'12'", 12)],
    ids=["digits", "sign and spaces", "full-width", "quoted"],
)
def test_text_that_spells_an_integer_is_read(repair_arguments, given_value, meant):
    """text that spells an integer becomes one, in quotes and full-width digits too"""
    expected = ({"n": meant}, [f"n: {given_value!r} read as {meant!r}"])
    assert repair_arguments(INTEGER, {"n": given_value}) == expected


def test_text_that_spells_a_number_is_read(repair_arguments):
    """text that spells a number becomes one where the schema asks for a number"""
    expected = ({"x": 1.5}, ["x: '1.5' read as 1.5"])
    assert repair_arguments(NUMBER, {"x": "1.5"}) == expected


@pytest.mark.parametrize("text", ["2²", "1.5", "12 V", "", "twelve", "1,000", "½"])
def test_text_that_is_no_integer_stays_text(repair_arguments, text):
    """text that does not spell an integer stays: "2²", "12 V", "1,000"

    perhaps: NFKC turns "2²" into "22", and isdigit() is true for "²"
    """
    assert repair_arguments(INTEGER, {"n": text}) == ({"n": text}, [])


@pytest.mark.parametrize("written", [[7], ["7"]], ids=str)
def test_a_list_of_one_stands_for_its_element(repair_arguments, written):
    """a list of one stands for its element, with one note also where that is text"""
    expected = ({"n": 7}, [f"n: {written} read as 7"])
    assert repair_arguments(INTEGER, {"n": written}) == expected


def test_a_repair_that_does_not_fit_is_not_made(repair_arguments):
    """a value that would still be wrong afterwards stays as it was written"""
    assert repair_arguments(INTEGER, {"n": ["many"]}) == ({"n": ["many"]}, [])


def test_of_several_values_none_is_chosen(repair_arguments):
    """of several values none is chosen; noted: n has 3 values: call once per value"""
    expected = ({"n": [1, 2, 3]}, ["n has 3 values: call once per value"])
    assert repair_arguments(INTEGER, {"n": [1, 2, 3]}) == expected


@pytest.mark.parametrize("text", ['"10V"', "'10V'", "“10V”", "「10V」"])
def test_quotes_around_a_listed_text_are_dropped(repair_arguments, text):
    """quotes, of any pair in QUOTES, go where the enum has the text without them"""
    expected = ({"range": "10V"}, [f"range: {text!r} read as '10V'"])
    assert repair_arguments(RANGE, {"range": text}) == expected


@pytest.mark.parametrize("text", ['"5V"', '"x"', '"10V" "10V"', '"', "'10V"])
def test_quotes_that_help_nothing_stay(repair_arguments, text):
    """quotes stay where the enum has the text with them, or not at all"""
    assert repair_arguments(RANGE, {"range": text}) == ({"range": text}, [])


@pytest.mark.parametrize(
    "text", ['"exact phrase"', "'Kyoto'", '"a" or "b"', "「京都」"]
)
def test_quotes_may_be_meant(repair_arguments, text):
    """where the schema wants any text, quotes may be meant, and stay, in a list too"""
    assert repair_arguments(QUERY, {"query": text}) == ({"query": text}, [])
    expected = ({"query": text}, [f"query: {[text]} read as {text!r}"])
    assert repair_arguments(QUERY, {"query": [text]}) == expected


def test_notes_about_names_come_first(repair_arguments):
    """name and value can both be wrong: two notes, the name's first"""
    expected = ({"n": 5}, ["number is called n", "n: '5' read as 5"])
    assert repair_arguments(INTEGER, {"number": "5"}, ALIASES) == expected


def test_what_nobody_knows_is_left_alone(repair_arguments):
    """a name that neither schema nor aliases know stays, value and all"""
    assert repair_arguments(INTEGER, {"z": ["1"]}, ALIASES) == ({"z": ["1"]}, [])


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
names = st.sampled_from([*SCHEMA["properties"], *ALIASES, "z"])


@given(st.dictionaries(names, json_values, max_size=4))
@settings(max_examples=300, deadline=None)
def test_a_repair_never_makes_it_worse(arguments):
    """whatever the arguments: right ones stay right, and every change has its note"""
    before = copy.deepcopy(arguments)
    repaired, notes = package_repair(SCHEMA, arguments, ALIASES)
    assert repr(arguments) == repr(before)
    assert len(repaired) == len(arguments)
    for name in arguments.keys() & SCHEMA["properties"].keys():
        if not validate_arguments(SCHEMA, {name: arguments[name]}):
            assert not validate_arguments(SCHEMA, {name: repaired[name]})
    changed = repr(repaired) != repr(arguments)
    several = any("call once per value" in note for note in notes)
    assert bool(notes) == (changed or several)


def test_a_whole_float_becomes_an_integer():
    """12.0 is an integer to JSON Schema, but not to the tool: it becomes 12"""
    repaired, notes = package_repair(SCHEMA, {"n": 12.0})
    assert repr(repaired) == "{'n': 12}"
    assert notes == ["n: 12.0 read as 12"]
