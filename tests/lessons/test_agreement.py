"""Agreement beyond luck: what a learner's own kappa must do."""

import pytest


def test_kappa_is_the_part_beyond_luck(agreement):
    """kappa is (observed - by luck) / (1 - by luck), each a share of all answers"""
    ours = ["right"] * 25 + ["wrong"] * 25
    theirs = ["right"] * 20 + ["wrong"] * 5 + ["right"] * 10 + ["wrong"] * 15
    assert agreement(ours, theirs) == pytest.approx(0.4)  # (0.7 - 0.5) / (1 - 0.5)
    assert agreement(theirs, ours) == pytest.approx(0.4)


def test_luck_alone_is_zero(agreement):
    """kappa is 0 if they agree as often as by luck, and below 0 if less often"""
    assert agreement([1, 1, 0, 0], [1, 0, 1, 0]) == 0
    assert agreement([1, 0, 1, 0], [0, 1, 0, 1]) == -1
    assert agreement(["right"] * 10, ["right"] * 9 + ["wrong"]) == pytest.approx(0)


def test_any_labels_can_be_compared(agreement):
    """labels may be any hashable values: words, scores, None"""
    found = agreement([1, "2", None, (3, 4)], [1, "2", (3, 4), None])
    assert found == pytest.approx((2 / 4 - 4 / 16) / (1 - 4 / 16))


def test_two_who_say_one_label_are_refused(agreement):
    """if both give one and the same label to everything, it raises a ValueError

    perhaps, of ZeroDivisionError: luck is 1, and 1 - luck is 0"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        agreement(["right"] * 3, ["right"] * 3)


@pytest.mark.parametrize(("ours", "theirs"), [([], []), ([1, 0], [1, 0, 1])])
def test_rows_that_cannot_be_compared_are_refused(agreement, ours, theirs):
    """no labels, or rows of two lengths, raise a ValueError"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        agreement(ours, theirs)
