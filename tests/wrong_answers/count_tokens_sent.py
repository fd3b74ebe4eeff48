"""Plausible wrong answers to `count_tokens_sent`, with the tests that catch them."""


def _refuse_negative(*numbers):
    if min(numbers) < 0:
        raise ValueError("negative")


def grows_before_the_first_turn(first, growth, turns):
    _refuse_negative(first, growth, turns)
    return turns * first + growth * turns * (turns + 1) // 2


def counts_one_turn_at_least(first, growth, turns):
    _refuse_negative(first, growth, turns)
    turns = max(turns, 1)
    return turns * first + growth * turns * (turns - 1) // 2


def calculates_with_floats(first, growth, turns):
    _refuse_negative(first, growth, turns)
    return int(turns * first + growth * turns * (turns - 1) / 2)


def takes_negative_numbers(first, growth, turns):
    return turns * first + growth * turns * (turns - 1) // 2


WRONG = {
    grows_before_the_first_turn: "test_small_sums_by_hand",
    counts_one_turn_at_least: "test_small_sums_by_hand",
    calculates_with_floats: "test_large_numbers_are_exact",
    takes_negative_numbers: "test_negative_numbers_are_refused",
}
