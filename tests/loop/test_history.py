"""What the naive loop sends, and what that costs."""

import pytest

from tests.loop.asked import Asked
from workbook.loop.naive import build_history as ours
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


ONE = ("Action: Sum\nAction Input: 1+1", "2")
TWO = ("Action: Sum\nAction Input: 2+2", "4")


@pytest.mark.parametrize("steps", [[], [ONE]], ids=["no step", "a step"])
def test_the_instructions_come_first(build_history, steps):
    """`instructions` come first, and nothing is added between them and the question"""
    expected = "Be brief.\n\n" + build_history("1+1?", steps)
    assert build_history("1+1?", steps, instructions="Be brief.\n\n") == expected


def test_a_step_adds_its_turn_and_its_observation(build_history):
    """each step adds the model's text, a line break and a line `Observation: …`"""
    start = build_history("1+1?", [])
    expected = f"{start}Action: Sum\nAction Input: 1+1\nObservation: 2\n"
    assert build_history("1+1?", [ONE]) == expected


def test_the_steps_follow_each_other(build_history):
    """all steps are in the prompt, in their order"""
    second = build_history("1+1?", [TWO]).removeprefix(build_history("1+1?", []))
    expected = build_history("1+1?", [ONE]) + second
    assert build_history("1+1?", [ONE, TWO]) == expected


def test_the_models_words_stay_as_they_are(build_history):
    """spaces in the question, the model's text and the observation are kept"""
    prompt = build_history("1+1? ", [(" Action: Sum \n", " 2 \n")])
    for part in ("1+1? ", " Action: Sum \n", " 2 \n"):
        assert part in prompt, f"{part!r} is not in {prompt!r}"


@pytest.mark.parametrize("done", [0, 1, 2, 5])
def test_it_is_what_the_naive_loop_sends(done):
    """the result is exactly the prompt that `naive_loop` sends after these steps"""
    turns = [CALL.format(n=n) for n in range(5)]
    sent = prompts_of_the_loop(turns, instructions="Use Search.\n")
    steps = [(turns[n], search(f"part {n}")) for n in range(done)]
    assert ours(QUESTION, steps, instructions="Use Search.\n") == sent[done]


# count_tokens_sent


@pytest.mark.parametrize(
    ("first", "growth", "turns", "total"),
    [(9, 5, 0, 0), (200, 50, 1, 200), (200, 50, 2, 450), (200, 50, 4, 1_100)],
)
def test_small_sums_by_hand(count_tokens_sent, first, growth, turns, total):
    """it is the sum of `turns` terms: first, first + growth, first + 2 · growth, …"""
    assert count_tokens_sent(first, growth, turns) == total


def test_large_numbers_are_exact(count_tokens_sent):
    """it is an exact whole number (an int), also when it is very large"""
    expected = 10**24 * 10**6 + 10**6 * (10**6 - 1) // 2
    assert count_tokens_sent(10**24, 1, 10**6) == expected


@pytest.mark.parametrize("numbers", [(-1, 5, 2), (5, -1, 2), (5, 1, -2)])
def test_negative_numbers_are_refused(count_tokens_sent, numbers):
    """a negative argument raises a `ValueError`"""
    with pytest.raises(ValueError):  # noqa: PT011 - in any words
        count_tokens_sent(*numbers)
