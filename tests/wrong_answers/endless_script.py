"""Plausible wrong answers to `endless_script`, with the tests that catch them."""


def answers_at_last(calls):
    turn = "Thought: again\nAction: Search\nAction Input: price"
    return [turn] * (calls - 1) + ["Final Answer: I give up."] * (calls > 0)


def has_no_action(calls):
    return ["Thought: I have to think about it once more."] * calls


def always_one_turn(calls):
    return ["Action: Search\nAction Input: price"]


def gives_a_tuple(calls):
    return ("Action: Search\nAction Input: price",) * calls


def gives_pairs(calls):
    return [("Search", "price")] * calls


WRONG = {
    answers_at_last: "test_the_loop_stays_busy_for_exactly_that_many_calls",
    has_no_action: "test_the_loop_stays_busy_for_exactly_that_many_calls",
    always_one_turn: "test_the_loop_stays_busy_for_exactly_that_many_calls",
    gives_a_tuple: "test_the_script_is_a_list_of_texts",
    gives_pairs: "test_the_script_is_a_list_of_texts",
}
