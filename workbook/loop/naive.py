"""The loop that everybody writes first, and the fuse that it needs.

Ten lines around a model. They know no budget, no error and no state; what goes wrong
with them is what the other lessons are about. Nothing here is mended on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from typing import Any, NamedTuple

from workbook.loop.turns import as_data, parse_turn
from workbook.models.base import Completion, TextModel


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
    """
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


Emit = Callable[..., Any]
"""Takes a kind of trace event and its fields: `emit("tool_call", tool="Search", …)`."""


def ignore(kind: str, /, **fields: Any) -> None:
    """An `emit` that keeps nothing."""


class FuseBlown(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """The model was asked more often than the fuse allows."""


class Fuse:
    """A model that refuses to be asked more than `calls` times.

    A seat belt, not a design: the loop inside does not know that it is there, and what
    the loop had found out by then is gone.

    Args:
        model: the model that is asked.
        calls: how many times at the most, one or more.
    """

    def __init__(self, model: TextModel, calls: int = 12) -> None:
        if calls < 1:
            raise ValueError(f"a fuse allows at least one call, not {calls}")
        self.name = model.name
        self.model = model
        self.calls = calls
        self.used = 0

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask the model, or raise `FuseBlown`."""
        if self.used >= self.calls:
            raise FuseBlown(
                f"the model was asked {self.used} times: the fuse has blown"
            )
        self.used += 1
        return self.model.complete(prompt, stop=stop)


def naive_loop(
    model: TextModel,
    tools: Mapping[str, Callable[[str], object]],
    question: str,
    *,
    preamble: str = "",
    emit: Emit = ignore,
) -> str:
    """Ask, look for an answer, run a tool, append, and ask again, without end.

    Args:
        model: anything that continues a text.
        tools: name to function; the function gets the text after `Action Input:`.
        question: the user's question.
        preamble: what stands before the question: instructions, examples.
        emit: is told what happens, as trace events.

    Returns:
        What stands behind the first "Final Answer:".

    Raises:
        Exception: whatever the model, a tool or an unreadable turn throws. That is the
            point of lesson 01.
    """
    emit("run_started", engine="naive", question=question, tools=list(tools))
    history = f"{preamble}Question: {question}\n"
    number = 0
    while True:
        number += 1
        emit("model_request", prompt=history, stop=[])
        reply = model.complete(history)
        emit(
            "model_turn",
            text=reply.text,
            turn=as_data(parse_turn(reply.text)),
            usage=asdict(reply.usage),
        )
        history += reply.text
        if "Final Answer:" in reply.text:
            answer = reply.text.split("Final Answer:")[1].strip()
            emit("run_finished", state="DONE", reason="final_answer", answer=answer)
            return answer
        tool, argument = re.search(  # type: ignore[union-attr]
            r"Action: (.*)\nAction Input: (.*)", reply.text
        ).groups()
        call_id = f"call_{number}"
        emit("tool_call", call_id=call_id, tool=tool, arguments={"input": argument})
        result = tools[tool](argument)
        observation, ok = str(result), getattr(result, "ok", True)
        emit("observation", call_id=call_id, tool=tool, ok=ok, text=observation)
        history += f"\nObservation: {observation}\n"
