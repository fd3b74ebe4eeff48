"""What every text world here has in common: a task, a step, and an answer to anything.

A world is a small program that answers actions written as text. It never raises for
what an agent wrote, it counts the steps that were taken, and with the same seed it
answers the same actions with the same texts. How many steps an agent may take is not
its business: that belongs to whoever runs the agent. The manner is that of ReAct's
experiments (Yao et al., ICLR 2023, arXiv:2210.03629, sections 3 and 4).
"""

from __future__ import annotations

import unicodedata
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from workbook.loop.text_world import StepResult

NO_TASK = "There is no task yet: call reset(task) first."
OVER = "The run is over: call reset(task) to begin again."
LONGEST_ECHO = 60  # characters of what an agent wrote that are said back

TaskT = TypeVar("TaskT")


class TextWorld(ABC, Generic[TaskT]):
    """The bookkeeping that the three worlds share.

    Attributes:
        name: `wiki`, `house` or `shop`.
        forms: the verbs of this world, told to an agent that used another.
        seed: whatever a world leaves to chance is drawn from it.
        steps: actions taken since the last reset, invalid ones included.
        done: whether the run is over.
    """

    name: str
    forms: str

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.steps = 0
        self.done = False
        self.task: TaskT | None = None

    def reset(self, task: TaskT) -> str:
        """Begin `task` and return the first observation."""
        self.task = task
        self.steps = 0
        self.done = False
        return self._begin(task)

    def step(self, action: str, /) -> StepResult:
        """Take one action and count it. Any string gets an answer.

        A thought (`think: …` or `think[…]`) is answered with "OK." and changes nothing.
        What the world has no verb for is answered with "Invalid action"; it costs a
        step like any other.
        """
        self.steps += 1
        if self.task is None:
            return StepResult(NO_TASK)
        if self.done:
            return StepResult(OVER, done=True)
        if action.strip().casefold().startswith(("think:", "think[")):
            return StepResult("OK.")
        result = self._act(self.task, action)
        if result is None:
            invalid = f"Invalid action: {echo(action)!r}. You can use: {self.forms}."
            return StepResult(invalid)
        self.done = result.done
        return result

    def actions(self) -> tuple[str, ...]:
        """Return what makes sense now; nothing before a reset and after the end."""
        return () if self.task is None or self.done else self._legal()

    @abstractmethod
    def _begin(self, task: TaskT) -> str:
        """Set the world up for a task."""

    @abstractmethod
    def _act(self, task: TaskT, action: str) -> StepResult | None:
        """Carry an action out; None when the world has no such verb."""

    @abstractmethod
    def _legal(self) -> tuple[str, ...]:
        """Return the actions that make sense now."""


def echo(text: str) -> str:
    """Return what an agent wrote, short enough to be said back, and as text to send."""
    said = text.strip()
    if len(said) > LONGEST_ECHO:
        said = said[:LONGEST_ECHO] + "…"
    return said.encode("utf-8", "replace").decode("utf-8")


def same_letters(text: str) -> str:
    """Return `text` in the form in which names are compared.

    Full-width characters become plain ones, capitals small ones, and any run of blanks
    one blank.
    """
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
