"""Plausible wrong answers to `calibrate`, each with the test that must catch it."""

import math

from workbook.trust.calibration import Cost


def rows_of(pairs, *, below=lambda s, t: s < t, above=lambda s, t: s >= t, of_all=False,
            thresholds=None, last=(math.inf,), check=True):  # fmt: skip
    """Calibrate as one should; each argument makes one mistake."""
    pairs = list(pairs)
    right = [score for score, is_right in pairs if is_right]
    wrong = [score for score, is_right in pairs if not is_right]
    if check and not (right and wrong):
        raise ValueError(f"{len(right)} right, {len(wrong)} wrong")
    at = thresholds or sorted({score for score, _ in pairs})
    n_right = len(pairs) if of_all else len(right) or 1
    n_wrong = len(pairs) if of_all else len(wrong) or 1
    return [
        Cost(
            t,
            sum(below(s, t) for s in right) / n_right,
            sum(above(s, t) for s in wrong) / n_wrong,
        )
        for t in [*at, *last]
    ]


def forgets_to_accept_nothing(pairs):
    return rows_of(pairs, last=())


def has_a_row_for_each_pair(pairs):
    pairs = list(pairs)
    return rows_of(pairs, thresholds=sorted(score for score, _ in pairs))


def takes_tenths(pairs):
    return rows_of(pairs, thresholds=[n / 10 for n in range(11)])


def refuses_the_threshold_itself(pairs):
    return rows_of(pairs, below=lambda s, t: s <= t)


def accepts_only_above_it(pairs):
    return rows_of(pairs, above=lambda s, t: s > t)


def divides_by_all(pairs):
    return rows_of(pairs, of_all=True)


def swaps_the_errors(pairs):
    return [Cost(row[0], row[2], row[1]) for row in rows_of(pairs)]


def says_nothing_of_an_empty_side(pairs):
    return rows_of(pairs, check=False)


def reads_the_pairs_twice(pairs):
    right = [score for score, is_right in pairs if is_right]
    wrong = [score for score, is_right in pairs if not is_right]
    both = [(s, True) for s in right] + [(s, False) for s in wrong]
    return rows_of(both)


WRONG = {
    forgets_to_accept_nothing: "test_a_row_for_each_score",
    has_a_row_for_each_pair: "test_a_row_for_each_score",
    takes_tenths: "test_a_row_for_each_score",
    refuses_the_threshold_itself: "test_the_right_that_are_refused",
    accepts_only_above_it: "test_the_wrong_that_are_accepted",
    divides_by_all: "test_shares_are_of_their_own_kind",
    swaps_the_errors: "test_the_right_that_are_refused",
    says_nothing_of_an_empty_side: "test_an_error_without_a_rate_is_told",
    reads_the_pairs_twice: "test_one_error_falls_where_the_other_grows",
}
