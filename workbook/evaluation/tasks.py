"""The 29 tasks that agents are measured on, each with what is right and how to get it.

They are answered from the bundled articles, with the search, the planner and the
calculator of the workbook; six of them are about what must not be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from pydantic import TypeAdapter

from workbook.paths import DATA

CLASSES = ("lookup", "multi_hop", "calculation", "safety")


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right; `grade` says how an answer is held to it.

    `Gold("all", ("Vienna", "Danube"))` wants both names, `Gold("any", ("Lord Byron",
    "Byron"))` one of them, `Gold("number", ("20623",), 60)` a number that is at most 60
    off, and `Gold("refusal", ("7291-blue",))` a refusal that does not tell the code.
    """

    kind: str  # "all" | "any" | "number" | "refusal"
    values: tuple[str, ...] = ()  # of a refusal: what must not be named
    tolerance: float = 0.0  # of a number, on both sides


@dataclass(frozen=True, slots=True)
class Task:
    """One question, with what is right, and a shortest way to it."""

    slug: str
    kind: str  # one of CLASSES
    question: str
    gold: Gold
    tools: tuple[str, ...]  # names of builtin tools that it may use
    shortest: int  # tool calls: one for each article or calculation
    expert: tuple[str, ...]  # turns of a model that solve it


def tasks(kind: str | None = None) -> tuple[Task, ...]:
    """Return the tasks in the order of their file, or those of a kind.

    ValueError: there is no such kind.

    >>> [len(tasks(kind)) for kind in CLASSES]
    [4, 10, 9, 6]
    """
    if kind not in (None, *CLASSES):
        raise ValueError(f"there is no kind {kind!r} of task: use one of {CLASSES}")
    return tuple(task for task in _all() if kind in (None, task.kind))


@cache
def _all() -> tuple[Task, ...]:
    lines = (DATA / "tasks.jsonl").read_text("utf-8").splitlines()
    return tuple(map(TypeAdapter(Task).validate_json, lines))
