"""What every text world here has in common: a task, a step, and an answer to anything.

A world never raises for what an agent wrote; the same task and actions give the
same texts, as in ReAct's experiments (arXiv:2210.03629).
"""

import json
import tomllib
import unicodedata
from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from workbook.loop.text_world import StepResult
from workbook.paths import DATA
from workbook.runtime.calls import clipped

OVER = "There is no task: call reset(task) to begin."

TaskT = TypeVar("TaskT")
RowT = TypeVar("RowT")


class TextWorld(ABC, Generic[TaskT]):
    """The bookkeeping that the three worlds share."""

    forms: str  # the verbs of this world, told to an agent that used another

    def __init__(self) -> None:
        self.steps, self.done = 0, False
        self.task: TaskT | None = None

    def reset(self, task: TaskT) -> str:
        """Begin `task` and return the first observation."""
        self.task, self.steps, self.done = task, 0, False
        return self._begin(task)

    def step(self, action: str, /) -> StepResult:
        """Take one action and count it; a thought is one that changes nothing."""
        self.steps += 1
        if self.task is None or self.done:
            return StepResult(OVER, done=True)
        if action.strip().casefold().startswith(("think:", "think[")):
            return StepResult("OK.")
        result = self._act(self.task, action)
        if result is None:
            invalid = f"Invalid action: {echo(action)!r}. You can use: {self.forms}."
            return StepResult(invalid)
        self.done = result.done
        return result

    @abstractmethod
    def _begin(self, task: TaskT) -> str:
        """Set the world up for a task."""

    @abstractmethod
    def _act(self, task: TaskT, action: str) -> StepResult | None:
        """Carry an action out; None when the world has no such verb."""


def echo(text: str) -> str:
    """Return what an agent wrote, short enough to be said back, and as text to send."""
    return clipped(text.strip(), 60)


def same_letters(text: str) -> str:
    """Return `text` in plain, small letters with single blanks, to compare names."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def rows_of(file: str, kind: type[RowT], table: str = "") -> tuple[RowT, ...]:
    """Read what a file of `data/` has of a kind: a JSON object a line, or a table."""
    text = (DATA / file).read_text("utf-8")
    rows = tomllib.loads(text)[table] if table else map(json.loads, text.splitlines())
    return tuple(
        kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in row.items()})
        for row in rows
    )
