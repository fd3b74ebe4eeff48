"""The same tasks, two versions: what a learner's own comparison must do."""

import itertools

import pytest

BOTH, WON, LOST, NEITHER = (True, True), (False, True), (True, False), (False, False)


def test_pairs_are_counted(paired_difference):
    """both, won (right after only), lost (right before only) and neither are counted"""
    found = paired_difference([BOTH] * 4 + [WON] * 3 + [LOST] * 2 + [NEITHER])
    assert (found.both, found.won, found.lost, found.neither) == (4, 3, 2, 1)


def test_the_difference_is_of_the_shares(paired_difference):
    """the difference is the share right after minus the share right before"""
    found = paired_difference([BOTH] * 4 + [WON] * 3 + [LOST] * 2 + [NEITHER])
    assert found.difference == pytest.approx(0.1)
    assert paired_difference([LOST, NEITHER]).difference == -0.5


@pytest.mark.parametrize(("won", "lost"), [(6, 0), (0, 6), (5, 1), (2, 7), (3, 2)])
def test_p_counts_the_tosses_of_a_coin(paired_difference, won, lost):
    """p is the share of all tosses of won + lost coins that are at least as uneven"""
    tosses = list(itertools.product((0, 1), repeat=won + lost))
    far = [abs(2 * sum(toss) - won - lost) >= abs(won - lost) for toss in tosses]
    p = paired_difference([WON] * won + [LOST] * lost).p
    assert p == pytest.approx(sum(far) / len(tosses))


def test_tasks_that_did_not_change_say_nothing(paired_difference):
    """tasks that are right both times, or never, do not change p"""
    changed = [WON] * 8 + [LOST]
    few, many = [*changed, BOTH], changed + [BOTH, NEITHER] * 200
    assert paired_difference(few).p == paired_difference(many).p == 0.0390625


@pytest.mark.parametrize("each", [0, 1, 4])
def test_p_is_at_most_one(paired_difference, each):
    """p is 1 if as many were won as lost, or none at all"""
    assert paired_difference([WON, LOST] * each + [BOTH]).p == 1


# Tossing all the coins is right as well: it takes twice as long at each step, and is
# told so at one that comes to its end. With thousands it would be deaf for ever.
@pytest.mark.parametrize(
    ("won", "lost", "p"),
    [
        (11, 9, 0.823803),
        (12, 10, 0.831812),
        (13, 10, 0.677639),
        (14, 10, 0.541256),
        (15, 10, 0.424356),
        (1_600, 1_500, 0.075372),
    ],
)
def test_thousands_of_tasks_are_compared(paired_difference, won, lost, p):
    """p is right for thousands of tasks, given as any iterable

    perhaps, of OverflowError: whole numbers of any size can be divided by each other"""
    pairs = itertools.chain([WON] * won, [LOST] * lost)
    assert paired_difference(pairs).p == pytest.approx(p, abs=1e-6)


def test_no_pairs_are_refused(paired_difference):
    """no pairs raise a ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        paired_difference([])
