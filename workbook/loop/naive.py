"""The loop that everybody writes first, and the fuse that it needs.

Ten lines around a model. They know no budget, no error and no state; what goes wrong
with them is what the other lessons are about. Nothing here is mended on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from workbook.loop.parsing import parse_turn
from workbook.models.base import Completion, TextModel

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
        emit("model_turn", **turn_fields(reply))
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
        observation = str(tools[tool](argument))
        emit("observation", call_id=call_id, tool=tool, ok=True, text=observation)
        history += f"\nObservation: {observation}\n"


def turn_fields(reply: Completion) -> dict[str, Any]:
    """Return the fields of a `model_turn` event for a completion."""
    turn = parse_turn(reply.text)
    return {
        "text": reply.text,
        "turn": {"kind": type(turn).__name__.lower(), **asdict(turn)},
        "usage": asdict(reply.usage),
    }
