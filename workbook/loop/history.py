"""What the naive loop sends, how long it gets, and what that costs.

Every turn the whole history goes to the model again, so a history that grows by a
little each turn costs tokens with the square of the turns. Pure functions: no model is
asked here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Step(NamedTuple):
    """One finished turn: what the model wrote, and what the runtime answered."""

    text: str
    observation: str


def build_history(
    question: str, steps: Iterable[tuple[str, str]], *, preamble: str = ""
) -> str:
    r"""Return the prompt that `naive_loop` sends after these steps, to the character.

    Args:
        question: the user's question.
        steps: (what the model wrote, observation) for each finished turn, in order.
        preamble: what stands before the question: instructions, examples.

    >>> build_history("1+1?", [Step("Action: Sum\nAction Input: 1+1", "2")])
    'Question: 1+1?\nAction: Sum\nAction Input: 1+1\nObservation: 2\n'
    """
    told = "".join(f"{text}\nObservation: {seen}\n" for text, seen in steps)
    return f"{preamble}Question: {question}\n{told}"


def endless_script(calls: int) -> list[str]:
    """Return turns that keep `naive_loop` busy for exactly `calls` calls, no answer.

    The tool that they ask for is called `Search`, and the words are those of an agent
    that cannot log in and tries once more.

    Raises:
        ValueError: `calls` is negative.
    """
    if calls < 0:
        raise ValueError(f"a script has 0 turns or more, not {calls}")
    turn = (
        "Thought: The login failed. I try again.\nAction: Search\nAction Input: price"
    )
    return [turn] * calls


def count_tokens_sent(first: int, growth: int, turns: int) -> int:
    """Return how many prompt tokens `turns` calls send in all.

    The prompts have first, first + growth, first + 2·growth … tokens. The sum of such a
    series is turns·first + growth·(0 + 1 + … + (turns - 1)): the second term grows with
    the square of the turns.

    Args:
        first: tokens of the first prompt.
        growth: tokens that each turn adds to the next prompt.
        turns: calls made.

    Raises:
        ValueError: a number is negative.

    >>> count_tokens_sent(first=200, growth=50, turns=4)
    1100
    """
    for name, value in (("first", first), ("growth", growth), ("turns", turns)):
        if value < 0:
            raise ValueError(f"{name} is {value}: tokens and turns are never negative")
    return turns * first + growth * turns * (turns - 1) // 2
