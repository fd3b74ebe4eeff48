"""What every text world here has in common: a task, a step, and an answer to anything.

A world never raises for what an agent wrote, and with the same seed it answers the same
actions with the same texts, as in ReAct's experiments (arXiv:2210.03629).
"""

from __future__ import annotations

import json
import unicodedata
from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

from workbook.loop.text_world import StepResult
from workbook.paths import DATA

NO_TASK = "There is no task yet: call reset(task) first."
OVER = "The run is over: call reset(task) to begin again."
LONGEST_ECHO = 60  # characters of what an agent wrote that are said back

TaskT = TypeVar("TaskT")


class TextWorld(ABC, Generic[TaskT]):
    """The bookkeeping that the three worlds share; chance is drawn from the seed."""

    name: str
    forms: str
    """The verbs of this world, told to an agent that used another."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.steps = 0
        self.done = False
        self.task: TaskT | None = None

    def reset(self, task: TaskT) -> str:
        """Begin `task` and return the first observation."""
        self.task, self.steps, self.done = task, 0, False
        return self._begin(task)

    def step(self, action: str, /) -> StepResult:
        """Take one action and count it; a thought is one that changes nothing."""
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
    """Return `text` in plain, small letters with single blanks, to compare names."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def rows_of(file: str) -> list[dict[str, Any]]:
    """Read a file of `data/`: one JSON object a line, a list in it as a tuple."""
    lines = (DATA / file).read_text("utf-8").splitlines()
    return [
        {k: tuple(v) if isinstance(v, list) else v for k, v in json.loads(line).items()}
        for line in lines
    ]
