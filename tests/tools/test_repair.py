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
        {"n": 12, "x": 0.5, "query": "12", "values": ["7"]},
        {"query": '"exact phrase"', "values": [7, 8]},
        {},
    ],
    ids=str,
)
def test_right_arguments_stay_as_they_are(repair_arguments, arguments):
    """what the schema allows stays: text of digits or in quotes, a list for a list"""
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
    ("schema", "text", "meant"),
    [
        (INTEGER, "12", 12),
        (INTEGER, " -3 ", -3),
        (INTEGER, "１２", 12),
        (NUMBER, "1.5", 1.5),
    ],
    ids=["digits", "sign and spaces", "full-width", "number"],
)
def test_text_that_spells_a_number_is_read(repair_arguments, schema, text, meant):
    """text that spells an integer is read (" -3 ", "１２"), so is "1.5" for a number"""
    (name,) = schema["properties"]
    expected = ({name: meant}, [f"{name}: {text!r} read as {meant!r}"])
    assert repair_arguments(schema, {name: text}) == expected


@pytest.mark.parametrize(
    "value", ["2²", "2⁵", "2₅", "①", "1.5", "12 V", "", "twelve", "1,000", ["many"]]
)
def test_what_would_still_be_wrong_stays(repair_arguments, value):
    """what spells no integer stays where one is asked for: "2⁵", "1,000", ["many"]"""
    assert repair_arguments(INTEGER, {"n": value}) == ({"n": value}, [])


@pytest.mark.parametrize("written", [[7], ["7"]], ids=str)
def test_a_list_of_one_stands_for_its_element(repair_arguments, written):
    """a list of one becomes its element, with one note, also if that is text: ["7"]"""
    expected = ({"n": 7}, [f"n: {written} read as 7"])
    assert repair_arguments(INTEGER, {"n": written}) == expected


def test_of_several_values_none_is_chosen(repair_arguments):
    """of several values none is chosen; noted: n has 3 values: call once per value"""
    expected = ({"n": [1, 2, 3]}, ["n has 3 values: call once per value"])
    assert repair_arguments(INTEGER, {"n": [1, 2, 3]}) == expected


def test_notes_about_names_come_first(repair_arguments):
    """name and value can both be wrong: two notes, the name's first"""
    expected = ({"n": 5}, ["number is called n", "n: '5' read as 5"])
    assert repair_arguments(INTEGER, {"number": "5"}, ALIASES) == expected


def test_what_nobody_knows_is_left_alone(repair_arguments):
    """a name that neither schema nor aliases know stays, value and all"""
    assert repair_arguments(INTEGER, {"z": ["1"]}, ALIASES) == ({"z": ["1"]}, [])


# what else the package's own does


@pytest.mark.parametrize(
    ("schema", "written", "meant"),
    [
        (RANGE, '"10V"', "10V"),
        (RANGE, "「10V」", "10V"),
        (RANGE, '"5V"', '"5V"'),
        (RANGE, '"x"', '"x"'),
        (RANGE, '"10V" "10V"', '"10V" "10V"'),
        (RANGE, "'10V", "'10V"),
        (QUERY, ["'Kyoto'"], "'Kyoto'"),
        (INTEGER, "'12'", 12),
        (INTEGER, 12.0, 12),
    ],
)
def test_quotes_go_where_only_the_text_without_them_is_right(schema, written, meant):
    """quotes go for a listed text or a number; where any text is right, they stay"""
    (name,) = schema["properties"]
    changed = repr(written) != repr(meant)
    notes = [f"{name}: {written!r} read as {meant!r}"] if changed else []
    repaired = package_repair(schema, {name: written})
    assert repr(repaired) == repr(({name: meant}, notes))


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
