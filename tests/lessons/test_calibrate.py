"""What each threshold costs: both ways to be wrong."""

import math

import pytest

PAIRS = [(0.8, True), (0.2, False), (0.6, False), (0.4, True)]
TIED = [(0.4, True), (0.4, False), (0.9, True), (0.1, False)]
UNEVEN = [(0.5, True), (0.2, False), (0.3, False), (0.3, False), (0.4, False)]


def column(rows, name):
    """Return what the rows have under a name."""
    return [getattr(row, name) for row in rows]


@pytest.mark.parametrize(
    ("pairs", "thresholds"), [(PAIRS, [0.2, 0.4, 0.6, 0.8]), (TIED, [0.1, 0.4, 0.9])]
)
def test_a_row_for_each_score(calibrate, pairs, thresholds):
    """each score is a threshold once, the lowest first; the last one is math.inf

    perhaps, of ValueError: the pairs may be read only once, so make a list of them"""
    assert column(calibrate(iter(pairs)), "threshold") == [*thresholds, math.inf]


def test_the_right_that_are_refused(calibrate):
    """`right_refused` is the share of the right ones that score below the threshold"""
    assert column(calibrate(PAIRS), "right_refused") == [0, 0, 0.5, 0.5, 1]
    assert column(calibrate(TIED), "right_refused") == [0, 0, 0.5, 1]
    assert column(calibrate(UNEVEN), "right_refused") == [0, 0, 0, 0, 1]


def test_the_wrong_that_are_accepted(calibrate):
    """`wrong_accepted` is the share of wrong ones that score at least the threshold"""
    assert column(calibrate(PAIRS), "wrong_accepted") == [1, 0.5, 0.5, 0, 0]
    assert column(calibrate(TIED), "wrong_accepted") == [1, 0.5, 0, 0]
    assert column(calibrate(UNEVEN), "wrong_accepted") == [1, 0.75, 0.25, 0, 0]


@pytest.mark.parametrize("pairs", [[], [(0.5, True)], [(0.5, False), (0.2, False)]])
def test_an_error_without_a_rate_is_told(calibrate, pairs):
    """without a right one, or without a wrong one, it raises a ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - whatever it says
        calibrate(pairs)
