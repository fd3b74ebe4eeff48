"""Plausible wrong answers to `count_tokens_sent`, with the tests that catch them."""


def counts_the_last_prompt_only(first, growth, turns):
    if min(first, growth, turns) < 0:
        raise ValueError("negative")
    return first + growth * (turns - 1)


def grows_before_the_first_turn(first, growth, turns):
    if min(first, growth, turns) < 0:
        raise ValueError("negative")
    return turns * first + growth * turns * (turns + 1) // 2


def divides_with_a_slash(first, growth, turns):
    if min(first, growth, turns) < 0:
        raise ValueError("negative")
    return turns * first + growth * turns * (turns - 1) / 2


def takes_negative_numbers(first, growth, turns):
    return turns * first + growth * turns * (turns - 1) // 2


def calculates_with_floats(first, growth, turns):
    if min(first, growth, turns) < 0:
        raise ValueError("negative")
    return int(turns * first + growth * turns * (turns - 1) / 2)


WRONG = {
    counts_the_last_prompt_only: "test_small_sums_by_hand",
    grows_before_the_first_turn: "test_small_sums_by_hand",
    divides_with_a_slash: "test_large_numbers_are_exact",
    takes_negative_numbers: "test_negative_numbers_are_refused",
    calculates_with_floats: "test_large_numbers_are_exact",
}
