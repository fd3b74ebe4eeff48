"""What the naive loop sends, and what that costs."""

import pytest

from tests.loop.asked import Asked
from workbook.loop.naive import naive_loop

QUESTION = "A book costs 100 dollars. What is left of it after 20 % off?"
CALL = "Thought: part {n}\nAction: Search\nAction Input: part {n}"


def search(words):
    return f"nothing about {words}\nat all"


def prompts_of_the_loop(turns, **options):
    model = Asked([*turns, "Final Answer: 80"])
    naive_loop(model, {"Search": search}, QUESTION, **options)
    return model.prompts


# build_history


def test_the_first_prompt_is_the_question(build_history):
    """without steps, the prompt is `Question: …` and a line break"""
    assert build_history("1+1?", []) == "Question: 1+1?\n"


def test_the_instructions_come_first(build_history):
    """`instructions` come first, and nothing is added between them and the question"""
    expected = "Be brief.\n\nQuestion: 1+1?\n"
    assert build_history("1+1?", [], instructions="Be brief.\n\n") == expected


def test_a_step_adds_its_turn_and_its_observation(build_history):
    """each step adds the model's text, a line break and a line `Observation: …`"""
    steps = [("Action: Sum\nAction Input: 1+1", "2")]
    expected = "Question: 1+1?\nAction: Sum\nAction Input: 1+1\nObservation: 2\n"
    assert build_history("1+1?", steps) == expected


@pytest.mark.parametrize("done", [0, 1, 2, 5])
def test_it_is_what_the_naive_loop_sends(build_history, done):
    """the result is exactly the prompt that `naive_loop` sends after these steps"""
    turns = [CALL.format(n=n) for n in range(5)]
    sent = prompts_of_the_loop(turns, instructions="Use Search.\n")
    steps = [(turns[n], search(f"part {n}")) for n in range(done)]
    assert build_history(QUESTION, steps, instructions="Use Search.\n") == sent[done]


def test_the_steps_are_not_changed(build_history):
    """the list of steps is not changed"""
    steps = [("Action: Sum\nAction Input: 1+1", "2")]
    build_history("1+1?", steps)
    assert steps == [("Action: Sum\nAction Input: 1+1", "2")]


def test_the_models_words_stay_as_they_are(build_history):
    """spaces in the question, the model's text and the observation are kept"""
    expected = "Question: 1+1? \n Action: Sum \n\nObservation:  2 \n\n"
    assert build_history("1+1? ", [(" Action: Sum \n", " 2 \n")]) == expected


# count_tokens_sent


@pytest.mark.parametrize(
    ("first", "growth", "turns", "total"),
    [(9, 5, 0, 0), (200, 50, 1, 200), (200, 50, 2, 450), (200, 50, 4, 1_100)],
)
def test_small_sums_by_hand(count_tokens_sent, first, growth, turns, total):
    """it is the sum of `turns` terms: first, first + growth, first + 2 · growth, …"""
    assert count_tokens_sent(first, growth, turns) == total


def test_large_numbers_are_exact(count_tokens_sent):
    """it is an exact whole number, also when it is very large"""
    expected = 10**24 * 10**6 + 10**6 * (10**6 - 1) // 2
    assert count_tokens_sent(10**24, 1, 10**6) == expected


@pytest.mark.parametrize("numbers", [(-1, 5, 2), (5, -1, 2), (5, 1, -2)])
def test_negative_numbers_are_refused(count_tokens_sent, numbers):
    """a negative argument raises a `ValueError`"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        count_tokens_sent(*numbers)
