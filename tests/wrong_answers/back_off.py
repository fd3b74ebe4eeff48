"""Plausible wrong answers to `back_off`, each with the test that must catch it."""

from collections import Counter

from workbook.lessons.paper_agent import Order, majority


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


def lets_a_majority_overrule_react(order, react_answer, votes):
    winner, count = majority(votes)
    sure = count >= len(votes) / 2
    if winner and sure:
        return winner
    return _decide(order, react_answer, winner, sure)


def wants_half_in_both_orders(order, react_answer, votes):
    winner, count = majority(votes)
    sure = winner if winner and count >= len(votes) / 2 else None
    return _decide(order, react_answer, sure, True)


def wants_more_votes_than_any_other_answer(order, react_answer, votes):
    winner, count = majority(votes)
    others = Counter(vote for vote in votes if vote != winner)
    return _decide(order, react_answer, winner, count > max(others.values(), default=0))


def forgets_that_nobody_may_have_voted(order, react_answer, votes):
    winner, count = majority(votes)
    if order is Order.REACT_TO_COT_SC:
        return winner if react_answer is None else react_answer
    return winner if count >= len(votes) / 2 else react_answer


def takes_an_unsure_answer_at_last(order, react_answer, votes):
    winner, count = majority(votes)
    return _decide(order, react_answer, winner, count >= len(votes) / 2) or winner


WRONG = {
    wants_more_than_half: "test_half_is_enough",
    counts_only_the_samples_that_answered: "test_a_sample_without_an_answer_counts_as_a_sample",
    counts_spellings: "test_votes_are_compared_normalised",
    lets_a_majority_overrule_react: "test_react_first_keeps_the_answer_of_react",
    wants_half_in_both_orders: "test_react_first_backs_off_without_an_answer",
    wants_more_votes_than_any_other_answer: "test_cot_first_backs_off_when_the_votes_are_scattered",
    forgets_that_nobody_may_have_voted: "test_without_any_vote_react_is_all_there_is",
    takes_an_unsure_answer_at_last: "test_when_both_give_up_there_is_no_answer",
}
