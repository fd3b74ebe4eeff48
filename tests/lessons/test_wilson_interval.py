"""The range in which a rate may lie: what a learner's own must do."""

import math

import pytest


def test_the_interval_is_wilsons(wilson_interval):
    """the low end comes first, then the high one, both by Wilson's formula"""
    assert wilson_interval(10, 20) == pytest.approx((0.2993, 0.7007), abs=6e-5)
    assert wilson_interval(81, 263) == pytest.approx((0.2553, 0.3662), abs=6e-5)
    assert wilson_interval(15, 148) == pytest.approx((0.0624, 0.1605), abs=6e-5)
    assert wilson_interval(1, 29) == pytest.approx((0.0061, 0.1718), abs=6e-5)


@pytest.mark.parametrize("n", [1, 7, 20, 29, 300])
def test_nothing_and_everything_stay_possible(wilson_interval, n):
    """after 0 of n it begins at exactly 0, after n of n it ends at exactly 1"""
    low, high = wilson_interval(0, n)
    assert low == 0 < high < 1
    low, high = wilson_interval(n, n)
    assert 0 < low < 1
    assert high == 1


def test_z_is_how_sure_one_wants_to_be(wilson_interval):
    """z is 1.96 by default; a larger z is wider; with 0 both ends are the share"""
    assert wilson_interval(5, 20) == wilson_interval(5, 20, 1.96)
    (low, high), (lower, higher) = wilson_interval(5, 20), wilson_interval(5, 20, 2.576)
    assert lower < low < high < higher
    assert wilson_interval(5, 20, 0) == pytest.approx((0.25, 0.25))


@pytest.mark.parametrize(("successes", "n"), [(0, 0), (-1, 5), (6, 5), (1, -5)])
def test_impossible_counts_are_refused(wilson_interval, successes, n):
    """n below 1, and successes below 0 or above n, raise a ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        wilson_interval(successes, n)


@pytest.mark.parametrize("z", [-1, math.nan, math.inf])
def test_an_impossible_z_is_refused(wilson_interval, z):
    """a z below 0, or one that is not finite, raises a ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        wilson_interval(1, 5, z)
