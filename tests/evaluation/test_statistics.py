"""How far a share of right answers can be trusted, and a difference of two."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.evaluation.statistics import (
    paired_difference,
    paired_interval,
    tasks_needed,
    wilson_interval,
)

TRIALS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(TRIALS, st.floats(0.1, 4))
@settings(max_examples=50, deadline=None)
def test_the_interval_lies_within_0_and_1_and_holds_the_share(trials, z):
    """A rate is between 0 and 1, and the observed one is always possible."""
    successes, n = trials
    low, high = wilson_interval(successes, n, z)
    assert 0 <= low <= successes / n <= high <= 1


@given(TRIALS)
@settings(max_examples=50, deadline=None)
def test_each_end_is_z_standard_errors_from_the_share(trials):
    """Wilson's own definition: the ends solve |share - p| = z·sqrt(p(1 - p) / n)."""
    successes, n = trials
    for end in wilson_interval(successes, n):
        error = math.sqrt(end * (1 - end) / n)
        assert abs(successes / n - end) == pytest.approx(1.96 * error, abs=1e-9)


def test_more_trials_make_it_narrower():
    """Ten times as many questions say more at the same share."""
    few, many = wilson_interval(6, 20), wilson_interval(60, 200)
    assert many[1] - many[0] < few[1] - few[0]


# paired_difference

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def pairs_of(both, won, lost, neither):
    """Return pairs of (right before, right after), so many of each."""
    kinds = [(True, True), (False, True), (True, False), (False, False)]
    times = zip(kinds, (both, won, lost, neither), strict=True)
    return [pair for pair, n in times for _ in range(n)]


@pytest.mark.parametrize(
    "rates",
    [(0.25, 0.25, 0.25, 0.25), (0.5, 0.3, 0.05, 0.15), (0.05, 0.05, 0.5, 0.4)],
)
def test_about_95_of_100_intervals_hold_the_truth(rates):
    """Of all that can come of 20 questions, weighed by how often it does."""
    held = 0.0
    for both, won, lost in itertools.product(range(21), repeat=3):
        counts = both, won, lost, 20 - both - won - lost
        if counts[-1] < 0:
            continue
        ways = math.factorial(20) / math.prod(map(math.factorial, counts))
        chance = ways * math.prod(r**k for r, k in zip(rates, counts, strict=True))
        low, high = paired_interval(paired_difference(pairs_of(*counts)))
        held += chance * (low <= rates[1] - rates[2] <= high)
    assert 0.94 <= held <= 0.98


def test_ways_that_go_together_say_more():
    """Of the same shares, pairs that mostly agree leave less to luck."""
    found = [
        paired_difference(pairs_of(*counts))
        for counts in ((18, 4, 2, 16), (11, 11, 9, 9))
    ]
    assert found[0].difference == found[1].difference
    alike, apart = (high - low for low, high in map(paired_interval, found))
    assert alike < 0.8 * apart


@given(PAIRS)
@settings(max_examples=100, deadline=None)
def test_the_difference_lies_in_its_interval(pairs):
    """Whatever came of the questions, and between -1 and 1."""
    found = paired_difference(pairs)
    low, high = paired_interval(found)
    slack = 1e-9
    assert -1 - slack <= low <= found.difference + slack
    assert found.difference - slack <= high <= 1 + slack
    assert 0 < found.p <= 1
    assert sum(found[:4]) == len(pairs)


@given(PAIRS)
@settings(max_examples=100, deadline=None)
def test_the_other_way_round_is_the_same_turned_over(pairs):
    """Which way comes first changes the sign, and nothing that was found."""
    there = paired_difference(pairs)
    back = paired_difference([(after, before) for before, after in pairs])
    low, high = paired_interval(there)
    assert paired_interval(back) == pytest.approx((-high, -low))
    assert (back.won, back.lost, back.p) == (there.lost, there.won, there.p)


# tasks_needed


def test_so_many_tasks_show_the_difference_four_times_of_five():
    """Played 400 times with as many tasks as are said to be needed."""
    dice, found = random.Random(1), 0
    for _ in range(400):
        n = tasks_needed(0.2, 0.3)
        kinds = dice.choices(["won", "lost", "same"], [0.25, 0.05, 0.7], k=n)
        won, lost = kinds.count("won"), kinds.count("lost")
        found += paired_difference(pairs_of(0, won, lost, n - won - lost)).p < 0.05
    assert 0.72 < found / 400 < 0.85


def test_fewer_changes_or_a_larger_difference_need_fewer_tasks():
    """And what cannot be is refused: none, or more difference than change."""
    assert tasks_needed(0.05, 0.05) < tasks_needed(0.05, 0.1) < tasks_needed(0.05, 0.2)
    assert tasks_needed(-0.1, 0.2) == tasks_needed(0.1, 0.2) < tasks_needed(0.05, 0.2)
    assert tasks_needed(0.05, 0.1, power=0.9) > tasks_needed(0.05, 0.1)
    for difference, changed in [(0, 0.1), (0.2, 0.1), (0.5, 1.5)]:
        with pytest.raises(ValueError, match=str(changed)):
            tasks_needed(difference, changed)
