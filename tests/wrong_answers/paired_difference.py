"""Plausible wrong answers to `paired_difference`, and the test that must catch each."""

import math
from collections import Counter

from workbook.evaluation.grading import Paired


def counted(pairs):
    counts = Counter(pairs)
    found = counts[True, True], counts[False, True], counts[True, False]
    if not counts:
        raise ValueError("no pairs")
    return *found, counts[False, False]


def tail_of(won, lost):
    return sum(math.comb(won + lost, k) for k in range(min(won, lost) + 1))


def result(both, won, lost, neither, p):
    n = both + won + lost + neither
    return Paired(both, won, lost, neither, (won - lost) / n, p)


def won_and_lost_are_swapped(pairs):
    both, won, lost, neither = counted(pairs)
    p = min(1.0, 2 * tail_of(won, lost) / 2 ** (won + lost))
    return result(both, lost, won, neither, p)


def difference_of_the_changed_alone(pairs):
    both, won, lost, neither = counted(pairs)
    p = min(1.0, 2 * tail_of(won, lost) / 2 ** (won + lost))
    return Paired(both, won, lost, neither, (won - lost) / max(won + lost, 1), p)


def looks_at_one_side(pairs):
    both, won, lost, neither = counted(pairs)
    if won == lost:
        return result(both, won, lost, neither, 1.0)
    return result(both, won, lost, neither, tail_of(won, lost) / 2 ** (won + lost))


def of_this_split_alone(pairs):
    both, won, lost, neither = counted(pairs)
    if won == lost:
        return result(both, won, lost, neither, 1.0)
    p = 2 * math.comb(won + lost, won) / 2 ** (won + lost)
    return result(both, won, lost, neither, p)


def may_be_more_than_one(pairs):
    both, won, lost, neither = counted(pairs)
    p = 2 * tail_of(won, lost) / 2 ** (won + lost)
    return result(both, won, lost, neither, p)


def throws_a_coin_for_every_task(pairs):
    both, won, lost, neither = counted(pairs)
    if not won + lost or won == lost:
        return result(both, won, lost, neither, 1.0)
    n = both + won + lost + neither
    tail = sum(math.comb(n, k) for k in range(min(won, lost) + 1))
    return result(both, won, lost, neither, min(1.0, 2 * tail / 2**n))


def floats_run_out(pairs):
    both, won, lost, neither = counted(pairs)
    half = 0.5 ** (won + lost)
    p = min(1.0, 2 * sum(math.comb(won + lost, k) * half
                         for k in range(min(won, lost) + 1)))  # fmt: skip
    return result(both, won, lost, neither, p)


def no_pairs_are_no_difference(pairs):
    pairs = list(pairs)
    if not pairs:
        return Paired(0, 0, 0, 0, 0.0, 1.0)
    both, won, lost, neither = counted(pairs)
    p = min(1.0, 2 * tail_of(won, lost) / 2 ** (won + lost))
    return result(both, won, lost, neither, p)


WRONG = {
    won_and_lost_are_swapped: "test_pairs_are_counted",
    difference_of_the_changed_alone: "test_the_difference_is_of_the_shares",
    looks_at_one_side: "test_p_counts_the_throws_of_a_coin",
    of_this_split_alone: "test_p_counts_the_throws_of_a_coin",
    may_be_more_than_one: "test_p_is_at_most_one",
    throws_a_coin_for_every_task: "test_tasks_that_did_not_change_say_nothing",
    floats_run_out: "test_thousands_of_tasks_are_compared",
    no_pairs_are_no_difference: "test_no_pairs_are_refused",
}
