"""What the naive loop sends, and what that costs."""

import pytest

from workbook.loop.naive import naive_loop
from workbook.models.script import Script

QUESTION = "A book costs 100 dollars. What is left of it after 20 % off?"
CALL = "Thought: part {n}\nAction: Search\nAction Input: part {n}"


def search(words):
    return f"nothing about {words}\nat all"


def prompts_of_the_loop(turns, **options):
    model = Script([*turns, "Final Answer: 80"])
    naive_loop(model, {"Search": search}, QUESTION, **options)
    return [request.prompt for request in model.requests]


# build_history


def test_the_first_prompt_is_the_question(build_history):
    """before the first turn, the prompt is the question on a line of its own"""
    assert build_history("1+1?", []) == "Question: 1+1?\n"


def test_a_preamble_stands_before_the_question(build_history):
    """the preamble comes first, as it is, and nothing is put behind it"""
    expected = "Be brief.\n\nQuestion: 1+1?\n"
    assert build_history("1+1?", [], preamble="Be brief.\n\n") == expected


def test_a_step_adds_its_turn_and_its_observation(build_history):
    """a finished turn adds what the model wrote, then its Observation line"""
    steps = [("Action: Sum\nAction Input: 1+1", "2")]
    expected = "Question: 1+1?\nAction: Sum\nAction Input: 1+1\nObservation: 2\n"
    assert build_history("1+1?", steps) == expected


@pytest.mark.parametrize("done", [0, 1, 2, 5])
def test_it_is_what_the_naive_loop_sends(build_history, done):
    """after any number of steps, it is what `naive_loop` sends, to the character"""
    turns = [CALL.format(n=n) for n in range(5)]
    sent = prompts_of_the_loop(turns, preamble="Use Search.\n")
    steps = [(turns[n], search(f"part {n}")) for n in range(done)]
    assert build_history(QUESTION, steps, preamble="Use Search.\n") == sent[done]


def test_the_steps_are_not_changed(build_history):
    """the list of steps is read, not changed"""
    steps = [("Action: Sum\nAction Input: 1+1", "2")]
    build_history("1+1?", steps)
    assert steps == [("Action: Sum\nAction Input: 1+1", "2")]


def test_the_models_words_stay_as_they_are(build_history):
    """what the model wrote and what the tool gave are put in as they are, spaces too"""
    expected = "Question: 1+1? \n Action: Sum \n\nObservation:  2 \n\n"
    assert build_history("1+1? ", [(" Action: Sum \n", " 2 \n")]) == expected


# count_tokens_sent


@pytest.mark.parametrize(
    ("first", "growth", "turns", "total"),
    [
        (200, 50, 1, 200),
        (200, 50, 2, 450),
        (200, 50, 4, 1_100),
        (7, 0, 3, 21),
        (9, 5, 0, 0),
    ],
)
def test_small_sums_by_hand(count_tokens_sent, first, growth, turns, total):
    """1 call sends `first`, 2 calls twice `first` and once `growth`; 0 calls send 0"""
    assert count_tokens_sent(first, growth, turns) == total


@pytest.mark.parametrize("turns", [0, 3, 10, 45])
def test_it_is_the_sum_of_all_prompts(count_tokens_sent, turns):
    """it is the sum of all prompts, each `growth` longer than the one before"""
    expected = sum(291 + 53 * turn for turn in range(turns))
    assert count_tokens_sent(291, 53, turns) == expected


def test_large_numbers_are_exact(count_tokens_sent):
    """it is a whole number, exact to the last digit, however large"""
    expected = 10**24 * 10**6 + 10**6 * (10**6 - 1) // 2
    assert count_tokens_sent(10**24, 1, 10**6) == expected


@pytest.mark.parametrize("numbers", [(-1, 5, 2), (5, -1, 2), (5, 1, -2)])
def test_negative_numbers_are_refused(count_tokens_sent, numbers):
    """a negative number is refused with a `ValueError`"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        count_tokens_sent(*numbers)
