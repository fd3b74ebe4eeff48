"""What counts as right, and how far a share of right answers can be trusted."""

import itertools
import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.evaluation.grading import (
    bootstrap_interval,
    matches_any,
    paired_difference,
    paired_interval,
    same_number,
    tasks_needed,
    wilson_interval,
)

TRIALS = st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@pytest.mark.parametrize(
    "answer",
    ["1692", "1,692", " $1692.00", "1692 apples", "There are 1692.", "１，６９２"],
)
def test_the_same_number_in_other_clothes_is_right(answer):
    """Commas, currency, words around it and full-width digits are no fault."""
    assert same_number(answer, "1692")


@pytest.mark.parametrize(
    "answer",
    ["16.92", "-1692", "11692", "1692.5", "47 * 36 = 1692", "", "many", "1,69,2"],
)
def test_another_number_or_two_numbers_are_wrong(answer):
    """A decimal point or a sign counts, and an answer is one number, not several."""
    assert not same_number(answer, "1692")


@pytest.mark.parametrize("answer", [".5", "$0.50", "a share of .5"])
def test_a_number_may_begin_with_its_point(answer):
    """A half is a half, with a zero before the point or without."""
    assert same_number(answer, "0.5")


def test_an_endless_number_is_wrong_and_no_accident():
    """A model that does not stop writing digits is wrong; grading goes on."""
    assert not same_number("1" * 5000, "1692")


def test_a_gold_answer_that_is_no_number_is_refused():
    """A typing error in the data is told and does not count as a wrong answer."""
    with pytest.raises(ValueError, match="one number"):
        same_number("4", "four")


@pytest.mark.parametrize("answer", [None, ""])
def test_no_answer_is_never_right(answer):
    """A run that gave up is wrong, whatever would have been right."""
    assert not matches_any(answer, [""])


def test_any_accepted_answer_will_do():
    """One accepted answer is enough."""
    assert matches_any("cervantes", ["Miguel de Cervantes", "Cervantes"])
    assert not matches_any("Lope de Vega", ["Miguel de Cervantes", "Cervantes"])


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


# bootstrap_interval, tasks_needed


def test_the_interval_of_a_mean_difference_is_the_same_each_time():
    """It is drawn, with a seed: what is said once can be said again."""
    seconds = [0.5, -1.0, 2.0, 3.5, 0.0, 1.0, 4.0]
    low, high = bootstrap_interval(seconds)
    assert min(seconds) < low < sum(seconds) / 7 < high < max(seconds)
    assert bootstrap_interval(seconds) == (low, high)
    assert bootstrap_interval(seconds, seed=2) != (low, high)
    with pytest.raises(ValueError, match="no differences"):
        bootstrap_interval([])


def test_drawn_intervals_and_reckoned_ones_agree():
    """On forty tasks that won ten and lost two, both intervals say nearly the same."""
    pairs = pairs_of(20, 10, 2, 8)
    drawn = bootstrap_interval([after - before for before, after in pairs])
    assert drawn == pytest.approx(paired_interval(paired_difference(pairs)), abs=0.04)


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
