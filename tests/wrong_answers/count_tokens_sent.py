"""Plausible wrong answers to `count_tokens_sent`, each with words of its failure."""


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


WRONG = {
    counts_the_last_prompt_only: "200, 200 + 250",
    grows_before_the_first_turn: "200, 200 + 250",
    divides_with_a_slash: "in whole numbers",
    takes_negative_numbers: "tokens and turns are never negative",
}
