"""Repair: what is put right, and what is left alone."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.runtime.arguments import repair_arguments as package_repair
from workbook.runtime.arguments import validate_arguments

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
    """arguments that the schema allows stay as they are: no change, no note"""
    assert repair_arguments(SCHEMA, arguments, ALIASES) == (arguments, [])


@pytest.mark.parametrize(
    ("schema", "arguments", "repaired", "notes"),
    [
        (QUERY, {"q": "Kyoto"}, {"query": "Kyoto"}, ["q is called query"]),
        (
            INTEGER,
            {"number": "5"},
            {"n": 5},
            ["number is called n", "n: '5' read as 5"],
        ),
    ],
    ids=["name", "name and value"],
)
def test_a_wrong_name_is_replaced_by_alias(
    repair_arguments, schema, arguments, repaired, notes
):
    """a wrong name that aliases knows is replaced; then its value is repaired, too"""
    assert repair_arguments(schema, arguments, ALIASES) == (repaired, notes)


@pytest.mark.parametrize(
    ("arguments", "aliases"),
    [
        ({"number": 1, "num": 2}, ALIASES),
        ({"n": 1, "number": 2}, ALIASES),
        ({"z": ["1"]}, ALIASES),
        ({"n": 1}, {"n": "number"}),
    ],
    ids=str,
)
def test_a_name_that_is_not_clear_stays(repair_arguments, arguments, aliases):
    """names stay: two for one argument, one that is in the schema, an unknown one"""
    assert repair_arguments(INTEGER, arguments, aliases) == (arguments, [])


@pytest.mark.parametrize(("text", "meant"), [("12", 12), (" -3 ", -3), ("１２", 12)])
def test_text_that_spells_a_number_is_read(repair_arguments, text, meant):
    """for an integer, "12", " -3 " and "１２" are read"""
    expected = ({"n": meant}, [f"n: {text!r} read as {meant!r}"])
    assert repair_arguments(INTEGER, {"n": text}) == expected


@pytest.mark.parametrize(
    "value",
    [*("2²", "2⁵", "2₅", "①", "1.5", "12 V", "", "twelve", "1,000", "1_000", "nan"),
     [], [1.5], ["many"], None, 1.5, True],
)  # fmt: skip
def test_what_would_still_be_wrong_stays(repair_arguments, value):
    """no integer is guessed: "2⁵", "1,000", "1_000", "1.5", [], [1.5], ["many"] stay"""
    assert repair_arguments(INTEGER, {"n": value}) == ({"n": value}, [])


@pytest.mark.parametrize("written", [[7], ["7"]], ids=str)
def test_a_list_of_one_stands_for_its_element(repair_arguments, written):
    """for an integer, [7] and ["7"] are read as 7, with one note"""
    expected = ({"n": 7}, [f"n: {written} read as 7"])
    assert repair_arguments(INTEGER, {"n": written}) == expected


def test_of_several_values_none_is_chosen(repair_arguments):
    """for an integer, [1, 2, 3] stays; noted: n has 3 values: call once per value"""
    expected = ({"n": [1, 2, 3]}, ["n has 3 values: call once per value"])
    assert repair_arguments(INTEGER, {"n": [1, 2, 3]}) == expected


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
        (NUMBER, "1.5", 1.5),
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
