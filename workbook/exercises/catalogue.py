"""The list of exercises: one data file, read once.

`data/exercises.toml` says what each exercise is called, which function of the package
answers it and which tests decide. This module reads and checks that file; it grades
nothing.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import inspect
import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workbook.paths import DATA, ROOT


class CourseError(Exception):
    """Something that a learner or an author can put right; the message says how."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A notebook. `minutes` is what the top of it says."""

    slug: str
    title: str
    minutes: int

    @property
    def notebook(self) -> Path:
        """Where the notebook is."""
        return ROOT / "notebooks" / f"{self.slug}.ipynb"


@dataclass(frozen=True, slots=True)
class Exercise:
    """One function that a learner writes.

    Args:
        slug: the function's name.
        lesson: the slug of its lesson.
        title: a few words.
        target: where the package answers it, `module:function`.
        tests: the file whose tests take the function as a fixture, from the root.
        difficulty: 1 to 5.
        minutes: how long it takes.
        goal: what to write, in a sentence or two.
        hints: a pointer, a plan, almost the code.
    """

    slug: str
    lesson: str
    title: str
    target: str
    tests: str
    difficulty: int
    minutes: int
    goal: str
    hints: list[str]

    def function(self) -> Callable[..., Any]:
        """Return the package's own function."""
        module, _, name = self.target.partition(":")
        found: Callable[..., Any] = getattr(importlib.import_module(module), name)
        return found

    @property
    def tests_path(self) -> Path:
        """Where the tests are."""
        return ROOT / self.tests

    def signature(self) -> str:
        """Return how the function is called, `parse_turn(text)`."""
        return (
            f"{self.slug}({', '.join(inspect.signature(self.function()).parameters)})"
        )


@functools.cache
def course() -> tuple[Mapping[str, Lesson], Mapping[str, Exercise]]:
    """Return the lessons and the exercises by slug, in the order of the file.

    Raises:
        CourseError: the file is not there, or an entry is not what it should be.
    """
    path = DATA / "exercises.toml"
    try:
        return read_course(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise CourseError(
            f"{path} is missing. The exercises need the whole repository: run"
            " `pip install -e .` in a clone of it."
        ) from None


def read_course(text: str) -> tuple[dict[str, Lesson], dict[str, Exercise]]:
    """Read the text of an exercises.toml.

    Raises:
        CourseError: an entry is not what it should be; the message names it.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise CourseError(f"data/exercises.toml is not TOML: {error}") from None
    lessons: dict[str, Lesson] = _by_slug(Lesson, data.get("lesson", []))
    exercises: dict[str, Exercise] = _by_slug(Exercise, data.get("exercise", []))
    for exercise in exercises.values():
        if exercise.lesson not in lessons:
            raise CourseError(
                f"data/exercises.toml: {exercise.slug} belongs to the lesson"
                f" {exercise.lesson!r}, which has no [[lesson]] entry."
            )
    return lessons, exercises


def _by_slug(kind: type[Any], rows: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for row in rows:
        try:
            entry = kind(**row)
        except TypeError as error:
            name, reason = row.get("slug", "(no slug)"), str(error).partition("() ")[2]
            raise CourseError(f"data/exercises.toml, {name}: {reason}") from None
        if entry.slug in found:
            raise CourseError(f"data/exercises.toml: {entry.slug} is there twice.")
        found[entry.slug] = entry
    return found


def lessons() -> Mapping[str, Lesson]:
    """Return the lessons by slug."""
    return course()[0]


def exercises() -> Mapping[str, Exercise]:
    """Return the exercises by slug."""
    return course()[1]


def find(slug: str) -> Exercise:
    """Return the exercise of that name.

    Raises:
        CourseError: there is none; the message names the nearest one.
    """
    known = exercises()
    if slug in known:
        return known[slug]
    near = near_miss(slug)
    guess = "`python -m workbook progress` lists them."
    if near:
        guess = f"Did you mean {near}?"
    raise CourseError(f"There is no exercise {slug!r}. {guess}")


def near_miss(word: str, known: Iterable[str] | None = None) -> str | None:
    """Return the name that `word` was probably meant to be, or None."""
    names = list(exercises() if known is None else known)
    return next(iter(difflib.get_close_matches(word, names, n=1, cutoff=0.7)), None)
