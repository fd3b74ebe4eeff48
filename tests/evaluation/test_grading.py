"""What counts as right, and how far a share of right answers can be trusted."""

import itertools
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.evaluation.grading import (
    matches_any,
    paired_difference,
    same_number,
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


@pytest.mark.parametrize(
    ("successes", "n", "low", "high"),
    [
        (0, 20, 0.0, 0.1611),
        (10, 20, 0.2993, 0.7007),
        (20, 20, 0.8389, 1.0),
        (81, 263, 0.2553, 0.3662),  # Newcombe 1998, table I, method 3
        (15, 148, 0.0624, 0.1605),
        (1, 29, 0.0061, 0.1718),
    ],
)
def test_the_interval_is_wilsons(successes, n, low, high):
    """The interval agrees with published values to four digits."""
    assert wilson_interval(successes, n) == pytest.approx((low, high), abs=6e-5)


@given(TRIALS, st.floats(0.1, 4))
@settings(max_examples=50, deadline=None)
def test_the_interval_lies_within_0_and_1_and_holds_the_share(trials, z):
    """A rate is between 0 and 1, and the observed one is always possible."""
    successes, n = trials
    low, high = wilson_interval(successes, n, z)
    assert 0 <= low <= successes / n <= high <= 1


@given(st.integers(1, 500))
@settings(max_examples=50, deadline=None)
def test_nothing_and_everything_stay_possible(n):
    """After 0 of n the range begins at 0, after n of n it ends at 1, exactly."""
    assert wilson_interval(0, n)[0] == 0
    assert wilson_interval(n, n)[1] == 1


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


@pytest.mark.parametrize(
    ("successes", "n", "z"),
    [
        *((0, 0, 2), (-1, 5, 2), (6, 5, 2), (1, 5, -1)),
        *((1, 5, math.nan), (1, 5, math.inf), (math.nan, 5, 2)),
    ],
)
def test_impossible_counts_are_refused(successes, n, z):
    """No trials, or more successes than trials, is a mistake of the caller."""
    with pytest.raises(ValueError, match="no rate"):
        wilson_interval(successes, n, z)


# paired_difference

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)


def pairs_of(both, won, lost, neither):
    """Return pairs of (right before, right after), so many of each."""
    kinds = [(True, True), (False, True), (True, False), (False, False)]
    times = zip(kinds, (both, won, lost, neither), strict=True)
    return [pair for pair, n in times for _ in range(n)]


def test_what_is_compared_are_pairs():
    """Right both times, won, lost, wrong both times: they add up to the questions."""
    found = paired_difference(pairs_of(4, 3, 2, 1))
    assert found[:4] == (4, 3, 2, 1)
    assert found.difference == pytest.approx(0.1)


@pytest.mark.parametrize(("won", "lost"), list(itertools.product(range(6), repeat=2)))
def test_p_counts_the_throws_of_a_coin(won, lost):
    """Of all ways in which the changes could fall, those that part so far, or more."""
    throws = list(itertools.product((0, 1), repeat=won + lost))
    far = [abs(2 * sum(throw) - won - lost) >= abs(won - lost) for throw in throws]
    p = paired_difference(pairs_of(5, won, lost, 5)).p
    assert p == pytest.approx(sum(far) / len(throws))


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
        found = paired_difference(pairs_of(*counts))
        held += chance * (found.low <= rates[1] - rates[2] <= found.high)
    assert 0.94 <= held <= 0.98


def test_ways_that_go_together_say_more():
    """Of the same shares, pairs that mostly agree leave less to luck."""
    alike, apart = (
        paired_difference(pairs_of(*counts))
        for counts in ((18, 4, 2, 16), (11, 11, 9, 9))
    )
    assert alike.difference == apart.difference
    assert alike.high - alike.low < 0.8 * (apart.high - apart.low)


@given(PAIRS)
@settings(max_examples=100, deadline=None)
def test_the_difference_lies_in_its_interval(pairs):
    """Whatever came of the questions, and between -1 and 1."""
    found = paired_difference(pairs)
    slack = 1e-9
    assert -1 - slack <= found.low <= found.difference + slack
    assert found.difference - slack <= found.high <= 1 + slack
    assert 0 < found.p <= 1
    assert sum(found[:4]) == len(pairs)


@given(PAIRS)
@settings(max_examples=100, deadline=None)
def test_the_other_way_round_is_the_same_turned_over(pairs):
    """Which way comes first changes the sign, and nothing that was found."""
    there = paired_difference(pairs)
    back = paired_difference([(after, before) for before, after in pairs])
    assert (back.low, back.high) == pytest.approx((-there.high, -there.low))
    assert (back.won, back.lost, back.p) == (there.lost, there.won, there.p)


def test_questions_that_did_not_change_say_nothing_against_luck():
    """Where no question changed p is 1; the interval has some width all the same."""
    found = paired_difference(pairs_of(10, 0, 0, 10))
    assert found.p == 1
    assert found.low < 0 < found.high


def test_no_pairs_are_refused():
    """There is nothing to compare."""
    with pytest.raises(ValueError, match="0 trials"):
        paired_difference([])
