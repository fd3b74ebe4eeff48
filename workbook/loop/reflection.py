"""Two other ways to spend more than one run: a second look, and a plan before it."""

from collections.abc import Callable
from typing import TypeVar

End = TypeVar("End")
Run = Callable[[str], End]


def second_look(
    run: Run[End],
    question: str,
    failed: Callable[[End], bool],
    reflect: Callable[[str, End], str],
) -> list[End]:
    """Run; where that failed, run again, with a note on what to do otherwise.

    Source: Reflexion, Shinn et al., 2023, arXiv:2303.11366.
    """
    first = run(question)
    if not failed(first):
        return [first]
    return [first, run(f"{question} {reflect(question, first)}")]


def plan_and_act(plan: Callable[[str], str], act: Run[End], question: str) -> End:
    """Let one model write a plan, and another one act on the question with it."""
    return act(f"{question} {plan(question)}")
