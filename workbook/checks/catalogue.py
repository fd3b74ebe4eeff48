"""The exercises: the files in `data/exercises/`, read once; tests check the entries."""

import ast
import difflib
import functools
import importlib
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from workbook.paths import DATA, ROOT


class CourseError(Exception):
    """Something that a learner or an author can put right; the message says how."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """A notebook: a lesson, or a lab that goes further than its lesson."""

    slug: str
    title: str
    minutes: int  # as the top of it says
    lab: bool = False

    @property
    def notebook(self) -> Path:
        folder = ROOT / "notebooks" / ("labs" if self.lab else "")
        return folder / f"{self.slug}.ipynb"


@dataclass(frozen=True, slots=True)
class Exercise:
    """One function that a learner writes."""

    slug: str  # the function's name
    lesson: str
    title: str
    target: str  # where the package answers it, `module:function`
    tests: str  # the file whose tests take the function as a fixture, from the root
    difficulty: int  # 1 to 5
    minutes: int
    goal: str  # what to write, in a sentence or two
    hints: list[str]  # a pointer, a plan, the code with one gap, ___
    gap: str  # what stands there
    role: str = ""  # what it does in the learner's agent; see `your_agent`
    raises: tuple[str, ...] = ()  # what it may raise, as its card says
    calls_back: bool = False  # it calls a model, tools or handlers, which may raise

    def function(self) -> Callable[..., Any]:
        """Return the package's own function."""
        module, _, name = self.target.partition(":")
        return cast(Callable[..., Any], getattr(importlib.import_module(module), name))

    @property
    def solution(self) -> str:
        """The last hint with its gap filled: an answer that fits the card."""
        return self.hints[-1].replace("___", self.gap).strip() + "\n"

    @property
    def tests_path(self) -> Path:
        return ROOT / self.tests

    def rules(self) -> dict[str, str]:
        """Return what is tested: a test's name, and what a failing check says of it."""
        tree = ast.parse(self.tests_path.read_text(encoding="utf-8"))
        return {
            node.name: (ast.get_docstring(node) or node.name).splitlines()[0].strip()
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
            if self.slug in [argument.arg for argument in node.args.args]
        }


@functools.cache
def _course() -> dict[str, Any]:
    """Return the rows of all files, in order: `lesson`, labs among them, `exercise`."""
    rows: dict[str, Any] = {"lesson": [], "exercise": []}
    for path in sorted((DATA / "exercises").glob("*.toml")):
        for kind, found in tomllib.loads(path.read_text(encoding="utf-8")).items():
            rows[kind] += found
    if not rows["lesson"]:
        raise CourseError(
            f"{DATA / 'exercises'} holds no exercises. They need the whole repository:"
            " run `pip install -e .` in a clone of it."
        )
    return rows


@functools.cache
def lessons() -> dict[str, Lesson]:
    """Return the lessons and labs by slug, each lab after its lesson."""
    return {row["slug"]: Lesson(**row) for row in _course()["lesson"]}


@functools.cache
def exercises() -> dict[str, Exercise]:
    """Return the exercises by slug, in the order of the files."""
    return {row["slug"]: Exercise(**row) for row in _course()["exercise"]}


def near_miss(word: str) -> str | None:
    """Return the exercise that `word` was probably meant to be, or None."""
    return next(iter(difflib.get_close_matches(word, exercises(), 1, 0.7)), None)


def find(slug: str) -> Exercise:
    """Return the exercise of that name; a `CourseError` names the nearest one."""
    if slug in exercises():
        return exercises()[slug]
    near, others = near_miss(slug), "`python -m workbook progress` lists them."
    guess = f"Did you mean {near}?" if near else others
    raise CourseError(f"There is no exercise {slug!r}. {guess}")
