"""The questions that lesson 02 asks, and the world in which each may be answered.

The arithmetic ones are read from `data/arithmetic.jsonl`; those about the encyclopedia
are `workbook.props.wiki`'s.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache

from workbook.evaluation.grading import same_number
from workbook.loop.text_world import ToolWorld
from workbook.paths import DATA
from workbook.props.wiki import WikiTask, WikiWorld
from workbook.tools.calculator import safe_eval


@dataclass(frozen=True, slots=True)
class ArithmeticQuestion:
    """A small sum in words.

    Args:
        slug: unique, such as `aq01`.
        text: the question.
        answers: the right number, as text.
        calculations: how many calls of a calculator it takes.
    """

    slug: str
    text: str
    answers: tuple[str, ...]
    calculations: int


@cache
def arithmetic_questions() -> tuple[ArithmeticQuestion, ...]:
    """Read the twenty questions: fourteen of one calculation, six of two."""
    lines = (DATA / "arithmetic.jsonl").read_text("utf-8").splitlines()
    return tuple(
        ArithmeticQuestion(
            row["question_id"], row["question"], (row["answer"],), row["calculations"]
        )
        for row in map(json.loads, lines)
    )


def calculator_world(question: ArithmeticQuestion) -> ToolWorld:
    """Return a world with a calculator, in which the question can be answered.

    The calculator shows six digits of what is no whole number: a small model would
    copy all sixteen and have no tokens left for its action.
    """
    return ToolWorld({"Calculator": _calculate}, question.answers[0], same_number)


def wiki_world(task: WikiTask) -> WikiWorld:
    """Return the encyclopedia, opened at a question."""
    world = WikiWorld()
    world.reset(task)
    return world


def _calculate(expression: str) -> str:
    value = safe_eval(expression)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
