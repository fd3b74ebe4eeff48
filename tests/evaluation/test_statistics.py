"""How far a share, a difference of two, a kappa and a judge can be trusted."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.evaluation.statistics import (
    agreement,
    judged_rate,
    kappa_interval,
    paired_difference,
    paired_interval,
    tasks_needed,
)

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
KINDS = (True, True), (False, True), (True, False), (False, False)


def pairs_of(*counts):
    """Return so many pairs of each of `KINDS`: of paired ways both, won, lost, neither.

    Of (what a judge says, what is right) they are: found, missed, let through, refused.
    """
    return [kind for kind, n in zip(KINDS, counts, strict=True) for _ in range(n)]


# paired_difference


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
    alike = paired_difference(pairs_of(18, 4, 2, 16))
    apart = paired_difference(pairs_of(11, 11, 9, 9))
    narrow, wide = (high - low for low, high in map(paired_interval, (alike, apart)))
    assert narrow < 0.8 * wide


@given(PAIRS)
@settings(max_examples=100, deadline=None)
def test_a_difference_lies_in_its_interval_and_can_be_turned_over(pairs):
    """Which way comes first changes the sign, and nothing that was found."""
    there = paired_difference(pairs)
    back = paired_difference([(after, before) for before, after in pairs])
    low, high = paired_interval(there)
    slack = 1e-9
    assert -1 - slack <= low <= there.difference + slack
    assert there.difference - slack <= high <= 1 + slack
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
    for difference, changed in [(0, 0.1), (0.2, 0.1), (0.5, 1.5)]:
        with pytest.raises(ValueError, match=str(changed)):
            tasks_needed(difference, changed)


# agreement


@pytest.mark.parametrize("shares", [(0.4, 0.1, 0.1, 0.4), (0.7, 0.1, 0.05, 0.15)])
def test_about_95_of_100_intervals_hold_the_true_kappa(shares):
    """Of 400 drawn rows of 40 answers each, all but one in twenty hold the truth."""
    both, theirs_only, ours_only, _ = shares
    a, b = both + ours_only, both + theirs_only
    luck = a * b + (1 - a) * (1 - b)
    true, dice, held = (both + shares[3] - luck) / (1 - luck), random.Random(1), 0
    for _ in range(400):
        rows = dice.choices(KINDS, shares, k=40)
        low, high = kappa_interval(*zip(*rows, strict=True))
        held += low <= true <= high
    assert 0.92 <= held / 400 <= 0.99


def test_a_few_that_all_agree_leave_a_width():
    """Ten of ten is kappa 1, and not certainty; one label for all is no kappa."""
    labels = [True] * 5 + [False] * 5
    low, high = kappa_interval(labels, labels)
    assert 0.4 < low < 0.5
    assert high == agreement(labels, labels) == 1
    with pytest.raises(ValueError, match="right"):
        kappa_interval(["right"], ["right"])


# judged_rate


def test_a_rate_is_mended_by_the_judges_errors():
    """80 % found and 40 % let through: 60 of 100 called right are 50 in truth."""
    found = judged_rate(60, 100, pairs_of(80, 20, 40, 60))
    assert found.corrected == pytest.approx(0.5)
    assert found.low < 0.5 < found.high
    assert found.high - found.low > 0.3  # Wilson's of 60 in 100 is 0.19 wide


@pytest.mark.parametrize("few", [(8, 2, 400, 600), (800, 200, 4, 6)])
def test_what_one_does_not_know_of_the_judge_goes_into_the_rate(few):
    """A few labelled answers, right ones or wrong ones, leave a wider interval."""
    wide = judged_rate(60, 100, pairs_of(*few))
    narrow = judged_rate(60, 100, pairs_of(800, 200, 400, 600))
    assert wide.corrected == pytest.approx(narrow.corrected)
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)


def test_a_judge_without_errors_changes_nothing():
    """Who errs in no labelled answer is believed; and no rate is below 0."""
    found = judged_rate(60, 100, pairs_of(500, 0, 0, 500))
    assert found.corrected == pytest.approx(0.6)
    assert (found.low, found.high) == pytest.approx((0.50, 0.69), abs=0.02)
    assert judged_rate(1, 20, pairs_of(15, 5, 5, 15)).corrected == 0


@pytest.mark.parametrize(
    ("said", "n", "rows", "told"),
    [
        (6, 5, pairs_of(1, 0, 0, 1), "6 of 5"),
        (1, 5, pairs_of(3, 1, 0, 0), "0 wrong"),
        (1, 5, pairs_of(5, 5, 5, 5), "50%"),
    ],
)
def test_what_no_arithmetic_mends_is_refused(said, n, rows, told):
    """Impossible counts, labels of one kind, and a judge like a coin, are told."""
    with pytest.raises(ValueError, match=told):
        judged_rate(said, n, rows)
