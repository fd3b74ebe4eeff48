"""Plausible wrong answers to `back_off`, each with the test that must catch it."""

from collections import Counter

from workbook.loop.answers import Order, majority


def _decide(order, react_answer, winner, sure):
    if order is Order.REACT_TO_COT_SC:
        return winner if react_answer is None else react_answer
    return winner if winner and sure else react_answer


def wants_more_than_half(order, react_answer, votes):
    winner, count = majority(votes)
    return _decide(order, react_answer, winner, count > len(votes) / 2)


def counts_only_the_samples_that_answered(order, react_answer, votes):
    winner, count = majority(votes)
    answered = [vote for vote in votes if vote is not None]
    return _decide(order, react_answer, winner, count >= len(answered) / 2)


def counts_spellings(order, react_answer, votes):
    answered = Counter(vote for vote in votes if vote is not None)
    winner, count = answered.most_common(1)[0] if answered else (None, 0)
    return _decide(order, react_answer, winner, count >= len(votes) / 2)


def looks_at_one_order_only(order, react_answer, votes):
    return _decide(Order.REACT_TO_COT_SC, react_answer, majority(votes)[0], True)


WRONG = {
    wants_more_than_half: "test_exactly_half_is_enough",
    counts_only_the_samples_that_answered: "test_a_sample_without_an_answer_counts_as_a_sample",
    counts_spellings: "test_votes_are_compared_normalised",
    looks_at_one_order_only: "test_cot_first_keeps_a_clear_majority",
}
