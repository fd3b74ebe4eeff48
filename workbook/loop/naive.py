"""The loop that everybody writes first, and the fuse that it needs.

Ten lines around a model. They know no budget, no error and no state; what goes wrong
with them is what the other lessons are about. Nothing here is mended on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from workbook.loop.turns import as_data, parse_turn
from workbook.models.base import Completion, TextModel


def build_history(
    question: str, steps: Iterable[tuple[str, str]], *, preamble: str = ""
) -> str:
    r"""Return the prompt that `naive_loop` sends after these steps, to the character.

    `steps` holds (what the model wrote, observation) for each finished turn.

    >>> build_history("1+1?", [("Action: Sum\nAction Input: 1+1", "2")])
    'Question: 1+1?\nAction: Sum\nAction Input: 1+1\nObservation: 2\n'
    """
    told = "".join(f"{text}\nObservation: {seen}\n" for text, seen in steps)
    return f"{preamble}Question: {question}\n{told}"


def endless_script(calls: int) -> list[str]:
    """Return turns that keep `naive_loop` busy for exactly `calls` calls, no answer.

    They ask for `Search`, in the words of an agent that cannot log in.
    """
    return ["Thought: I try again.\nAction: Search\nAction Input: price"] * calls


def count_tokens_sent(first: int, growth: int, turns: int) -> int:
    """Return how many prompt tokens `turns` calls send in all.

    The prompts have first, first + growth, first + 2·growth … tokens. The sum of such a
    series is turns·first + growth·(0 + 1 + … + (turns - 1)): the second term grows with
    the square of the turns. A negative number raises ValueError.

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
    """

    def __init__(self, model: TextModel, calls: int = 12) -> None:
        if calls < 1:
            raise ValueError(f"a fuse allows at least one call, not {calls}")
        self.name, self.model = model.name, model
        self.calls, self.used = calls, 0

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask the model, or raise `FuseBlown`."""
        if self.used >= self.calls:
            raise FuseBlown(f"asked {self.used} times: the fuse has blown")
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

    A tool gets the text after `Action Input:`. What stands behind the first "Final
    Answer:" is returned, and whatever the model, a tool or an unreadable turn throws is
    raised: that is the point of lesson 01.
    """
    emit("run_started", engine="naive", question=question, tools=list(tools))
    history = f"{preamble}Question: {question}\n"
    number = 0
    while True:
        number += 1
        emit("model_request", prompt=history, stop=[])
        reply = model.complete(history)
        turn = as_data(parse_turn(reply.text))
        emit("model_turn", text=reply.text, turn=turn, usage=reply.usage.as_data())
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
