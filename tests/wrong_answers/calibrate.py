"""Plausible wrong answers to `calibrate`, each with the test that must catch it."""

import math

from workbook.lessons.grounding import Cost


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


def calibrates(**mistake):
    """Return a function that makes one of these mistakes."""
    return lambda pairs: rows_of(pairs, **mistake)


def has_a_row_for_each_pair(pairs):
    pairs = list(pairs)
    return rows_of(pairs, thresholds=sorted(score for score, _ in pairs))


def swaps_the_errors(pairs):
    return [Cost(row[0], row[2], row[1]) for row in rows_of(pairs)]


def reads_the_pairs_twice(pairs):
    right = [score for score, is_right in pairs if is_right]
    wrong = [score for score, is_right in pairs if not is_right]
    both = [(s, True) for s in right] + [(s, False) for s in wrong]
    return rows_of(both)


ROWS = "test_a_row_for_each_score"

WRONG = {
    calibrates(last=()): ROWS,
    has_a_row_for_each_pair: ROWS,
    reads_the_pairs_twice: ROWS,
    calibrates(below=lambda s, t: s <= t): "test_the_right_that_are_refused",
    swaps_the_errors: "test_the_right_that_are_refused",
    calibrates(above=lambda s, t: s > t): "test_the_wrong_that_are_accepted",
    calibrates(of_all=True): "test_the_wrong_that_are_accepted",
    calibrates(check=False): "test_an_error_without_a_rate_is_told",
}
