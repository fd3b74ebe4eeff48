"""Of how many was that a share? What a printed rate gives away."""


def test_the_fractions_that_round_to_it(implied_denominator):
    """all fractions that round to the rate, n from 1 to 30, the smallest n first"""
    assert implied_denominator(96.15) == [(25, 26)]
    assert implied_denominator(92.31) == [(12, 13), (24, 26)]
    assert implied_denominator(84.62) == [(11, 13), (22, 26)]


def test_most_is_the_largest_n(implied_denominator):
    """`most` is the largest n, and is among them"""
    assert implied_denominator(91.67, most=24) == [(11, 12), (22, 24)]
    assert implied_denominator(91.67, most=23) == [(11, 12)]


def test_both_ways_of_rounding_count(implied_denominator):
    """half up or half to even: 12.5 may be 13 or 12, 37.5 only 38, never 37"""
    assert all((1, 8) in implied_denominator(each, 0) for each in (12, 13))
    assert (1, 8) not in implied_denominator(11, 0)
    assert (3, 8) in implied_denominator(38, 0)
    assert (3, 8) not in implied_denominator(37, 0)
    assert all((1, 16) in implied_denominator(each, 1) for each in (6.2, 6.3))
    assert (1, 16) not in implied_denominator(6.4, 1)
    assert (3, 16) in implied_denominator(18.8, 1)
    assert (3, 16) not in implied_denominator(18.7, 1)


def test_the_last_zeros_are_printed_too(implied_denominator):
    """with decimals=2 a rate of 66.7 means 66.70, not 66.67"""
    assert implied_denominator(66.7, most=10) == []
    assert implied_denominator(66.7, decimals=1, most=10) == [(2, 3), (4, 6), (6, 9)]


def test_none_and_all(implied_denominator):
    """0 gives 0 of every n, 100 gives n of n; below 0 and above 100 nothing fits"""
    assert implied_denominator(0)[:2] == [(0, 1), (0, 2)]
    assert implied_denominator(100)[:2] == [(1, 1), (2, 2)]
    assert implied_denominator(103.85) == implied_denominator(-3.85) == []
