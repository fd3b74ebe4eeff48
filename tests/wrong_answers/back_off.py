"""Plausible wrong answers to `back_off`, each with the test that must catch it."""

from collections import Counter

from workbook.loop.voting import Order, majority


def wants_more_than_half(order, react_answer, votes):
    winner, count = majority(votes)
    if order is Order.REACT_TO_COT_SC:
        return react_answer if react_answer is not None else winner
    return winner if count > len(votes) / 2 else react_answer


def counts_only_the_samples_that_answered(order, react_answer, votes):
    winner, count = majority(votes)
    if order is Order.REACT_TO_COT_SC:
        return react_answer if react_answer is not None else winner
    answered = [vote for vote in votes if vote is not None]
    return winner if answered and count >= len(answered) / 2 else react_answer


def counts_spellings(order, react_answer, votes):
    answered = [vote for vote in votes if vote is not None]
    winner, count = Counter(answered).most_common(1)[0] if answered else (None, 0)
    if order is Order.REACT_TO_COT_SC:
        return react_answer if react_answer is not None else winner
    return winner if answered and count >= len(votes) / 2 else react_answer


def looks_at_one_order_only(order, react_answer, votes):
    winner, _ = majority(votes)
    return react_answer if react_answer is not None else winner


WRONG = {
    wants_more_than_half: "test_exactly_half_is_enough",
    counts_only_the_samples_that_answered: "test_a_sample_without_an_answer_counts_as_a_sample",
    counts_spellings: "test_votes_are_compared_normalised",
    looks_at_one_order_only: "test_cot_first_keeps_a_clear_majority",
}
