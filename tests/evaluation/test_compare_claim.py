"""A claimed figure beside the table that it is said to be from."""

import pytest

from workbook.evaluation.claims import ClaimVerdict

TABLE = {
    "CoT": {"EM": "29.4", "fails": "14", "search": "–"},
    "Act": {"EM": "25.7", "best": "45"},
    "ReAct": {"EM": "27.4", "fails": "6", "search": "23", "best": "70.5"},
}


def test_a_right_figure(compare_claim):
    """a figure that stands at its place is RIGHT, and the truth is as it is printed"""
    found = compare_claim("27.4", "ReAct", "EM", TABLE)
    assert found.verdict is ClaimVerdict.RIGHT
    assert found.truth == "27.4"
    assert found.places == []


@pytest.mark.parametrize("claimed", ["70", "71"])
def test_a_rounded_figure(compare_claim, claimed):
    """with fewer decimals than the table's it is RIGHT if that rounds to it, any way

    perhaps: 70.5 may be printed as 71 (half up) or as 70 (half to even)
    """
    assert compare_claim(claimed, "ReAct", "best", TABLE).verdict == "right"
    assert compare_claim("69", "ReAct", "best", TABLE).verdict == "wrong"


def test_decimals_that_the_table_has_not(compare_claim):
    """with more decimals than the table's it is RIGHT if they are zeros: 45.0 for 45"""
    assert compare_claim("45.0", "Act", "best", TABLE).verdict == "right"
    assert compare_claim("45.2", "Act", "best", TABLE).verdict == "wrong"


def test_another_place(compare_claim):
    """one that stands in other rows or columns alone is ELSEWHERE, and it says where"""
    found = compare_claim("27.4", "Act", "EM", TABLE)
    assert (found.verdict, found.truth) == ("elsewhere", "25.7")
    assert found.places == [("ReAct", "EM")]
    assert compare_claim("6", "CoT", "EM", TABLE).places == [("ReAct", "fails")]


def test_a_figure_that_is_nowhere(compare_claim):
    """one that stands nowhere is WRONG"""
    assert compare_claim("29.9", "ReAct", "EM", TABLE) == ("wrong", "27.4", [])


@pytest.mark.parametrize(
    ("row", "column"),
    [("RL", "EM"), ("Act", "F1"), ("Act", "fails"), ("CoT", "search")],
)
def test_no_figure_to_compare_with(compare_claim, row, column):
    """without such a row, a column, or with a dash there, it is NOT_REPORTED: None"""
    found = compare_claim("61.3", row, column, TABLE)
    assert found == (ClaimVerdict.NOT_REPORTED, None, [])


def test_all_the_other_places(compare_claim):
    """whatever the verdict, all other places where it stands are told, sorted"""
    table = {"b": {"x": "5", "y": "5.2"}, "a": {"x": "5.4", "y": "4"}}
    others = [("a", "x"), ("b", "y")]
    assert compare_claim("5", "b", "x", table) == ("right", "5", others)
    assert compare_claim("5", "c", "x", table).places == [
        *others[:1],
        ("b", "x"),
        *others[1:],
    ]
