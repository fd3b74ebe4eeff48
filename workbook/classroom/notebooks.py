"""A learner's notebook, read for its answers.

Only the cells tagged `setup` and the cells that define an exercise's function are run,
in their order, in a namespace of their own; calls of `check`, `hint` and the like are
taken out first. As in the notebook, the cells after an exercise see the package's
function, so that one wrong answer does not spoil the next; and an answer is graded with
the helpers that its own cell saw, also where a later cell has another of that name.
"""

from __future__ import annotations

import builtins
import json
import linecache
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbook.classroom.stripping import to_python, without_course_calls
from workbook.exercises.call_recorder import harmless
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.explain import describe_error
from workbook.exercises.report import Failure, Outcome, Report
from workbook.exercises.time_limit import guarded, time_limit

SETUP_LIMIT_S = 60.0
CELL_LIMIT_S = 5.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell. `number` counts all cells from 1, as a reader does."""

    number: int
    source: str
    tags: frozenset[str]


@dataclass
class Answers:
    """The functions that a notebook defines for its exercises.

    Args:
        path: the notebook.
        slugs: the exercises that it is about, in the course's order.
        problem: why it could not be read, or why its setup failed; else empty.
        functions: what the notebook defines.
        broken: for an exercise without a function, what went wrong.
        namespace: what the cells have defined by now.
        seen: what each function's cell had defined when it had run.
        has_setup: whether a cell is tagged `setup`.
    """

    path: Path
    slugs: list[str]
    problem: str = ""
    functions: dict[str, Callable[..., Any]] = field(default_factory=dict)
    broken: dict[str, Failure] = field(default_factory=dict)
    namespace: dict[str, Any] = field(default_factory=dict)
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    has_setup: bool = True

    def report(self, slug: str) -> Report:
        """Grade one exercise.

        Raises:
            CourseError: the exercise's own tests could not be run.
        """
        from workbook.exercises.grade import grade

        if self.problem or slug in self.broken:
            failure = self.broken.get(slug) or Failure(self.problem)
            return Report(slug, Outcome.RAISED, failures=(failure,))
        if slug not in self.functions:
            missing = Failure(f"no cell defines {slug}")
            return Report(slug, Outcome.NOT_ATTEMPTED, failures=(missing,))
        with _as_seen(self.namespace, self.seen[slug]):
            report = grade(exercises()[slug], self.functions[slug])
        if report.outcome is Outcome.RAISED and not self.has_setup:
            return replace(report, notes=(*report.notes, _NO_SETUP))
        return report


def notebooks_in(path: Path) -> list[Path]:
    """Return the notebooks at or below a path by name, without checkpoints.

    Raises:
        CourseError: there are none.
    """
    if path.is_file():
        return [path]
    found = [
        notebook
        for notebook in sorted(path.rglob("*.ipynb"), key=_as_in_a_list)
        if notebook.is_file()
        and not any(part.startswith(".") for part in notebook.relative_to(path).parts)
    ]
    if not found:
        what = "holds no notebook" if path.is_dir() else "is not there"
        raise CourseError(f"--answers {path}: it {what}. Give a notebook or a folder.")
    return found


def _as_in_a_list(path: Path) -> list[str]:
    """Sort as a class list does: "Zoe" after "anna", "Çelik" before "Dora"."""
    return [unicodedata.normalize("NFKD", part).casefold() for part in path.parts]


def read_answers(path: Path) -> Answers:
    """Run what must be run of a notebook. Whatever goes wrong is in the result."""
    try:
        cells = read_cells(path)
    except CourseError as error:
        return Answers(path, list(_of_lesson(path)) or ["(notebook)"], str(error))
    wanted = [c for c in cells if "setup" in c.tags or _defined(c)]
    slugs = {slug for cell in cells for slug in _defined(cell)} | set(_of_lesson(path))
    answers = Answers(path, [slug for slug in exercises() if slug in slugs])
    answers.has_setup = any("setup" in cell.tags for cell in cells)
    with harmless():
        for cell in wanted:
            if not answers.problem:
                _run(cell, answers)
    return answers


def read_cells(path: Path) -> list[Cell]:
    """Return the code cells of a notebook file.

    Raises:
        CourseError: it is not a notebook.
    """
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if "worksheets" in content:
            raise ValueError("it is of nbformat 3; open it in JupyterLab and save it")
        return [
            Cell(
                number,
                "".join(cell["source"]),
                frozenset((cell.get("metadata") or {}).get("tags", ())),
            )
            for number, cell in enumerate(content["cells"], start=1)
            if cell["cell_type"] == "code"
        ]
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        reason = describe_error(error)
        raise CourseError(
            f"{path.name} cannot be read as a notebook: {reason}"
        ) from None


def _of_lesson(path: Path) -> Iterator[str]:
    """Yield the exercises of the lesson that a file's name contains."""
    for exercise in exercises().values():
        if exercise.lesson in path.stem:
            yield exercise.slug


def _defined(cell: Cell) -> list[str]:
    """Return the exercises that a cell defines, as far as can be told from its text."""
    lines = cell.source.splitlines()
    names = (
        line.split("def ", 1)[1].partition("(")[0].strip()
        for line in lines
        if line.startswith(("def ", "async def "))
    )
    return [name for name in names if name in exercises()]


def _run(cell: Cell, answers: Answers) -> None:
    """Run one cell; note the functions that it defines or why it does not."""
    setup, slugs = "setup" in cell.tags, _defined(cell)
    name = f"<{answers.path.name}, cell {cell.number}>"
    namespace = answers.namespace
    namespace.setdefault("__name__", "__main__")
    namespace.setdefault("__builtins__", builtins)
    try:
        source = to_python(cell.source)
        linecache.cache[name] = (len(source), None, source.splitlines(True), name)
        code = compile(without_course_calls(source), name, "exec")
        with time_limit(SETUP_LIMIT_S if setup else CELL_LIMIT_S):
            guarded(exec, code, namespace)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        failure = _cell_failure(cell, error)
        if setup:
            answers.problem = f"the setup cell failed: {failure.requirement}"
        answers.broken.update(dict.fromkeys(slugs, failure))
    else:
        for slug in slugs:  # a later cell mends an earlier one
            answers.broken.pop(slug, None)
            if callable(namespace.get(slug)):
                answers.functions[slug] = namespace[slug]
                answers.seen[slug] = dict(namespace)
    for slug in slugs:
        namespace[slug] = exercises()[slug].function()


def _cell_failure(cell: Cell, error: BaseException) -> Failure:
    if isinstance(error, SyntaxError):
        where = f" in line {error.lineno}" if error.lineno else ""
        text = f"cell {cell.number} has a syntax error{where}: {error.msg}"
        line = (error.text or "").strip()
        return Failure(text, evidence=(("line", line),) if line else ())
    guess: tuple[tuple[str, str], ...] = ()
    if isinstance(error, NameError):
        guess = (("perhaps", _OTHER_CELL),)
    return Failure(f"cell {cell.number}: {describe_error(error)}", evidence=guess)


_OTHER_CELL = (
    "the name is from a cell that is neither setup nor an exercise; those are not run"
)


_NO_SETUP = "no cell is tagged setup, so nothing that a setup cell imports is there"


@contextmanager
def _as_seen(namespace: dict[str, Any], seen: dict[str, Any]) -> Iterator[None]:
    """Bind names for a while to what they were; one that came later stays."""
    now = dict(namespace)
    namespace.update(seen)
    try:
        yield
    finally:
        namespace.clear()
        namespace.update(now)
