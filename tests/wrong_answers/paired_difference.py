"""Plausible wrong answers to `paired_difference`, and the test that must catch each."""

import math
from collections import Counter

from workbook.lessons.evaluation import Paired


def tail_of(won, lost):
    ways = sum(math.comb(won + lost, k) for k in range(min(won, lost) + 1))
    return ways / 2 ** (won + lost)


def both_tails(won, lost, unchanged):
    return min(1.0, 2 * tail_of(won, lost))


def compares(p=both_tails, *, swapped=False, of_changed=False, empty=False):
    """Return a function that compares as one should, but for one mistake."""

    def paired_difference(pairs):
        counts = Counter(pairs)
        if not counts and not empty:
            raise ValueError("no pairs")
        both, neither = counts[True, True], counts[False, False]
        won, lost = counts[False, True], counts[True, False]
        n = won + lost if of_changed else both + won + lost + neither
        difference, chance = (won - lost) / (n or 1), p(won, lost, both + neither)
        if swapped:
            won, lost = lost, won
        return Paired(both, won, lost, neither, difference, chance)

    return paired_difference


def one_side(won, lost, unchanged):
    return 1.0 if won == lost else tail_of(won, lost)


def takes_lost_for_the_smaller(won, lost, unchanged):
    ways = sum(math.comb(won + lost, k) for k in range(lost + 1))
    return min(1.0, 2 * ways / 2 ** (won + lost))


def this_split_alone(won, lost, unchanged):
    ways = 2 * math.comb(won + lost, won) / 2 ** (won + lost)
    return 1.0 if won == lost else ways


def more_than_one(won, lost, unchanged):
    return 2 * tail_of(won, lost)


def a_coin_for_every_task(won, lost, unchanged):
    n = won + lost + unchanged
    tail = sum(math.comb(n, k) for k in range(min(won, lost) + 1))
    return 1.0 if won == lost else min(1.0, 2 * tail / 2**n)


def floats_that_run_out(won, lost, unchanged):
    each = 0.5 ** (won + lost)
    tail = sum(math.comb(won + lost, k) * each for k in range(min(won, lost) + 1))
    return min(1.0, 2 * tail)


WRONG = {
    compares(swapped=True): "test_pairs_are_counted",
    compares(of_changed=True): "test_the_difference_is_of_the_shares",
    compares(takes_lost_for_the_smaller): "test_p_counts_the_tosses_of_a_coin",
    compares(one_side): "test_p_counts_the_tosses_of_a_coin",
    compares(this_split_alone): "test_p_counts_the_tosses_of_a_coin",
    compares(more_than_one): "test_p_is_at_most_one",
    compares(a_coin_for_every_task): "test_tasks_that_did_not_change_say_nothing",
    compares(floats_that_run_out): "test_thousands_of_tasks_are_compared",
    compares(empty=True): "test_no_pairs_are_refused",
}
