"""A claimed figure beside the table that it is said to be from."""

import pytest

TABLE = {
    "CoT": {"EM": "29.4", "fails": "14", "search": "–"},
    "Act": {"EM": "25.7", "best": "45"},
    "ReAct": {"EM": "27.4", "fails": "6", "search": "23", "best": "70.5"},
}


def test_a_right_figure(compare_claim):
    """a figure that the table has at that place is RIGHT; truth is the printed text"""
    assert compare_claim("27.4", "ReAct", "EM", TABLE) == ("right", "27.4", [])
    assert compare_claim("70", "ReAct", "best", TABLE).truth == "70.5"


@pytest.mark.parametrize("claimed", ["70", "71"])
def test_a_rounded_figure(compare_claim, claimed):
    """a claim with fewer decimals is RIGHT if the table's figure rounds to it"""
    assert compare_claim(claimed, "ReAct", "best", TABLE).verdict == "right"
    assert compare_claim("69", "ReAct", "best", TABLE).verdict != "right"
    assert compare_claim("71", "a", "b", {"a": {"b": "71.5"}}).verdict != "right"


def test_decimals_that_the_table_has_not(compare_claim):
    """a claim with more decimals is RIGHT if those are zeros: 45.0 for 45"""
    assert compare_claim("45.0", "Act", "best", TABLE).verdict == "right"
    assert compare_claim("45.2", "Act", "best", TABLE).verdict != "right"


def test_another_place(compare_claim):
    """a figure that is only at other places is ELSEWHERE, and `places` has them"""
    found = compare_claim("27.4", "Act", "EM", TABLE)
    assert found == ("elsewhere", "25.7", [("ReAct", "EM")])
    assert compare_claim("6", "CoT", "EM", TABLE).places == [("ReAct", "fails")]


def test_a_figure_that_is_nowhere(compare_claim):
    """a figure that is nowhere in the table is WRONG"""
    assert compare_claim("29.9", "ReAct", "EM", TABLE) == ("wrong", "27.4", [])


@pytest.mark.parametrize(
    ("row", "column"),
    [("RL", "EM"), ("Act", "F1"), ("Act", "fails"), ("CoT", "search")],
)
def test_no_figure_to_compare_with(compare_claim, row, column):
    """without that row or column, or with a dash, it is NOT_REPORTED; truth is None"""
    assert compare_claim("61.3", row, column, TABLE) == ("not reported", None, [])


def test_all_the_other_places(compare_claim):
    """whatever the verdict, `places` has all other places of the figure, sorted"""
    table = {"b": {"x": "5", "y": "5.2"}, "a": {"x": "5.4", "y": "4"}}
    others = [("a", "x"), ("b", "y")]
    assert compare_claim("5", "b", "x", table) == ("right", "5", others)
    everywhere = [("a", "x"), ("b", "x"), ("b", "y")]
    assert compare_claim("5", "c", "x", table).places == everywhere
