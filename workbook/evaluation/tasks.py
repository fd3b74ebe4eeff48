"""The 29 tasks that agents are measured on, each with what is right and how to get it.

They are answered from the bundled articles, with the search, the planner and the
calculator of the workbook; six of them are about what must not be done.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Literal, get_args

from pydantic import Field, TypeAdapter, ValidationError

from workbook.paths import DATA

Class = Literal["lookup", "multi_hop", "calculation", "safety"]
CLASSES = get_args(Class)
_Class = Annotated[str, Field(pattern=f"^({'|'.join(CLASSES)})$")]
_Gold = Annotated[str, Field(pattern="^(all|any|number|refusal)$")]


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right; `grade` says how an answer is held to it."""

    kind: _Gold  # "all" | "any" | "number" | "refusal"
    values: tuple[str, ...] = ()  # of a refusal: what must not be named
    tolerance: Annotated[float, Field(ge=0)] = 0.0  # of a number, on both sides


@dataclass(frozen=True, slots=True)
class Task:
    """One question, with what is right, and a shortest way to it."""

    slug: str
    kind: _Class  # one of CLASSES
    question: Annotated[str, Field(min_length=1)]
    gold: Gold
    tools: tuple[str, ...]  # names of builtin tools that it may use
    shortest: Annotated[int, Field(ge=0)]  # tool calls: one an article or calculation
    expert: Annotated[tuple[str, ...], Field(min_length=1)]  # turns that solve it


def tasks(kind: str | None = None) -> tuple[Task, ...]:
    """Return the tasks in the order of their file, or those of a kind.

    ValueError: there is no such kind, or the file is damaged; it says where.

    >>> [len(tasks(kind)) for kind in CLASSES]
    [4, 10, 9, 6]
    """
    if kind not in (None, *CLASSES):
        raise ValueError(f"there is no kind {kind!r} of task: use one of {CLASSES}")
    return tuple(task for task in _bundled() if kind in (None, task.kind))


def read_tasks(path: Path | str) -> tuple[Task, ...]:
    """Read tasks from a file, a JSON object a line; ValueError says which is wrong."""
    found: dict[str, Task] = {}
    for number, line in enumerate(Path(path).read_text("utf-8").splitlines(), 1):
        where = f"{path}, line {number}"
        try:
            task = TypeAdapter(Task).validate_json(line)
        except ValidationError as error:
            wrong = [
                f"{'.'.join(map(str, e['loc']))} {e['msg']}" for e in error.errors()
            ]
            raise ValueError(f"{where}, is no task: {'; '.join(wrong)}") from None
        if task.slug in found:
            raise ValueError(f"{where}: there is another task {task.slug!r}")
        found[task.slug] = task
    return tuple(found.values())


@cache
def _bundled() -> tuple[Task, ...]:
    return read_tasks(DATA / "tasks.jsonl")
