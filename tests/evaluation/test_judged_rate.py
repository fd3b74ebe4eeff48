"""How sure a kappa is, and what a judge's errors do to a pass rate."""

import random

import pytest

from workbook.evaluation.statistics import agreement, judged_rate, kappa_interval


@pytest.mark.parametrize("shares", [(0.4, 0.1, 0.1, 0.4), (0.7, 0.1, 0.05, 0.15)])
def test_about_95_of_100_intervals_hold_the_true_kappa(shares):
    """Of 400 drawn rows of 40 answers each, all but one in twenty hold the truth."""
    both, ours_only, theirs_only, none = shares
    a, b = both + ours_only, both + theirs_only
    luck = a * b + (1 - a) * (1 - b)
    true, dice, held = (both + none - luck) / (1 - luck), random.Random(1), 0
    for _ in range(400):
        rows = dice.choices([(1, 1), (1, 0), (0, 1), (0, 0)], shares, k=40)
        low, high = kappa_interval(*zip(*rows, strict=True))
        held += low <= true <= high
    assert 0.92 <= held / 400 <= 0.99


def test_a_few_that_all_agree_leave_a_width():
    """Ten of ten is kappa 1, and not certainty."""
    labels = [True] * 5 + [False] * 5
    low, high = kappa_interval(labels, labels)
    assert 0.4 < low < 0.5
    assert high == agreement(labels, labels) == 1


def test_two_who_say_one_label_have_no_interval():
    """What has no kappa has no interval either."""
    with pytest.raises(ValueError, match="right"):
        kappa_interval(["right"], ["right"])


def labelled(hits, missed, passed, refused):
    """Return pairs of (what the judge says, what is right), so many of each."""
    kinds = [(True, True), (False, True), (True, False), (False, False)]
    times = zip(kinds, (hits, missed, passed, refused), strict=True)
    return [kind for kind, n in times for _ in range(n)]


def test_a_rate_is_mended_by_the_judges_errors():
    """80 % found and 40 % let through: 60 of 100 called right are 50 in truth."""
    found = judged_rate(60, 100, labelled(80, 20, 40, 60))
    assert (found.sensitivity, found.specificity) == (0.8, 0.6)
    assert found.observed == 0.6
    assert found.corrected == pytest.approx(0.5)
    assert found.low < 0.5 < found.high
    assert found.high - found.low > 0.3  # Wilson's of 60 in 100 is 0.19 wide


@pytest.mark.parametrize("few", [(8, 2, 400, 600), (800, 200, 4, 6)])
def test_what_one_does_not_know_of_the_judge_goes_into_the_rate(few):
    """A few labelled answers, right ones or wrong ones, leave a wider interval."""
    wide = judged_rate(60, 100, labelled(*few))
    narrow = judged_rate(60, 100, labelled(800, 200, 400, 600))
    assert wide.corrected == pytest.approx(narrow.corrected)
    assert wide.high - wide.low > 1.2 * (narrow.high - narrow.low)


def test_a_judge_without_errors_changes_nothing():
    """Who errs in none of a thousand labelled answers is believed."""
    found = judged_rate(60, 100, labelled(500, 0, 0, 500))
    assert found.corrected == pytest.approx(found.observed)
    assert (found.low, found.high) == pytest.approx((0.50, 0.69), abs=0.02)


def test_a_rate_stays_a_rate():
    """Fewer called right than the judge lets through by mistake: 0, and not less."""
    assert judged_rate(1, 20, labelled(15, 5, 5, 15)).corrected == 0


@pytest.mark.parametrize(
    ("said", "n", "rows", "told"),
    [
        (6, 5, labelled(1, 0, 0, 1), "6 of 5"),
        (1, 5, labelled(3, 1, 0, 0), "0 wrong"),
        (1, 5, labelled(5, 5, 5, 5), "50%"),
    ],
)
def test_what_no_arithmetic_mends_is_refused(said, n, rows, told):
    """Impossible counts, labels of one kind, and a judge like a coin, are told."""
    with pytest.raises(ValueError, match=told):
        judged_rate(said, n, rows)
