"""Repair: what is put right, and what is left alone."""

import pytest

INTEGER = {"properties": {"n": {"type": "integer"}}}
SEARCH = {"properties": {"query": {"type": "string"}, "tags": {"type": "array"}}}
ALIASES = {"number": "n", "num": "n", "q": "query"}


@pytest.mark.parametrize(
    ("schema", "arguments"),
    [
        (INTEGER, {"n": 12}),
        (INTEGER, {}),
        (SEARCH, {"query": "12", "tags": [1, 2]}),
        (SEARCH, {"tags": ["7"]}),
    ],
    ids=str,
)
def test_right_arguments_stay_as_they_are(repair_arguments, schema, arguments):
    """what is right stays, with no note: 12; "12" for a string; [1, 2] for an array"""
    assert repair_arguments(schema, dict(arguments), ALIASES) == (arguments, [])


def test_a_wrong_name_is_replaced_by_alias(repair_arguments):
    """a wrong name that aliases knows is replaced; then its value is repaired, too"""
    right = ({"query": "Kyoto"}, ["q is called query"])
    assert repair_arguments(SEARCH, {"q": "Kyoto"}, ALIASES) == right
    right = ({"n": 5}, ["number is called n", "n: '5' read as 5"])
    assert repair_arguments(INTEGER, {"number": "5"}, ALIASES) == right


@pytest.mark.parametrize(
    ("arguments", "aliases"),
    [
        ({"number": 1, "num": 2}, ALIASES),
        ({"n": 1, "number": 2}, ALIASES),
        ({"number": 1, "n": 2}, ALIASES),
        ({"z": 1}, ALIASES),
        ({"z": 1}, None),
        ({"n": 1}, {"n": "z"}),
    ],
    ids=str,
)
def test_a_name_that_is_not_clear_stays(repair_arguments, arguments, aliases):
    """a name stays if the schema has it, if it is unknown, or if two mean the same"""
    assert repair_arguments(INTEGER, dict(arguments), aliases) == (arguments, [])


@pytest.mark.parametrize(
    ("written", "meant"), [("12", 12), (" -3 ", -3), ("１２", 12), ([7], 7), (["7"], 7)]
)
def test_what_spells_an_integer_is_read(repair_arguments, written, meant):
    """for an integer, "12", " -3 ", "１２", [7], ["7"] are read, with one note each"""
    expected = ({"n": meant}, [f"n: {written!r} read as {meant!r}"])
    assert repair_arguments(INTEGER, {"n": written}) == expected


def test_of_several_values_none_is_chosen(repair_arguments):
    """for an integer, [1, 2, 3] stays; noted: n has 3 values: call once per value"""
    expected = ({"n": [1, 2, 3]}, ["n has 3 values: call once per value"])
    assert repair_arguments(INTEGER, {"n": [1, 2, 3]}) == expected


@pytest.mark.parametrize(
    "value",
    [*("2²", "2⁵", "1.5", "12 V", "", "twelve", "1,000", "1_000", "nan", "1e3"),
     [], [1.5], ["1.5"], ["many"], [True], [[7]], None, 1.5, True],
)  # fmt: skip
def test_what_would_still_be_wrong_stays(repair_arguments, value):
    """what else is wrong stays, with no note: "2⁵", "1_000", "1.5", [], [1.5], True"""
    assert repair_arguments(INTEGER, {"n": value}) == ({"n": value}, [])


def test_a_number_too_long_to_read_stays():
    """digits that Python refuses to read are no crash: the schema refuses them"""
    from workbook.runtime.arguments import repair_arguments as ours

    assert ours(INTEGER, {"n": "9" * 5000}) == ({"n": "9" * 5000}, [])
