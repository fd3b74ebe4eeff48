"""A learner's notebook, read for its answers.

Only setup and exercise cells are run, without their calls of `check` and `hint`. Later
cells see the package's function, so that one wrong answer does not spoil the next; and
an answer is graded with the helpers that its own cell saw.
"""

import builtins
import linecache
import re
import unicodedata
import warnings
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.grade import grade, harmless
from workbook.exercises.report import Failure, Outcome, Report, describe_error
from workbook.exercises.source import to_python, without_course_calls
from workbook.exercises.time_limit import guarded, time_limit

SETUP_LIMIT_S, CELL_LIMIT_S = 60.0, 5.0
NO_SETUP = "no cell is tagged setup, so nothing that a setup cell imports is there"


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell."""

    number: int  # of all cells, from 1, as a reader counts
    source: str
    tags: frozenset[str]

    @property
    def slugs(self) -> list[str]:
        """The exercises that it defines, as far as can be told from its text."""
        names = re.findall(r"^(?:async )?def (\w+)", self.source, re.MULTILINE)
        return [name for name in names if name in exercises()]


@dataclass
class Answers:
    """The functions that a notebook defines for its exercises."""

    path: Path
    slugs: list[str]  # the exercises that it is about, in the course's order
    problem: str = ""  # why it could not be read, or why its setup failed
    broken: dict[str, Failure] = field(default_factory=dict)  # by exercise
    namespace: dict[str, Any] = field(default_factory=dict)  # as it is by now
    # By exercise: the namespace when its cell had run, its function with it.
    seen: dict[str, dict[str, Any]] = field(default_factory=dict)
    has_setup: bool = True

    def report(self, slug: str) -> Report:
        """Grade one exercise; a `CourseError` says that its tests could not be run."""
        if self.problem or slug in self.broken:
            failure = self.broken.get(slug) or Failure(self.problem)
            return Report(slug, Outcome.RAISED, failures=(failure,))
        if slug not in self.seen:
            missing = Failure(f"no cell defines {slug}")
            return Report(slug, Outcome.NOT_ATTEMPTED, failures=(missing,))
        with patch.dict(self.namespace, self.seen[slug]):
            report = grade(exercises()[slug], self.seen[slug][slug])
        if report.outcome is Outcome.RAISED and not self.has_setup:
            return replace(report, note=f"{NO_SETUP}; {report.note}".rstrip("; "))
        return report


def notebooks_in(path: Path) -> list[Path]:
    """Return the notebooks at or below a path, as a class list, without checkpoints."""
    if path.is_file():
        return [path]
    found = [book for book in path.rglob("*.ipynb") if book.is_file()]
    found = [b for b in found if "/." not in f"/{b.relative_to(path).as_posix()}"]
    if not found:
        what = "holds no notebook" if path.is_dir() else "is not there"
        raise CourseError(f"--answers {path}: it {what}. Give a notebook or a folder.")
    # "Zoe" comes after "anna", "Çelik" before "Dora".
    return sorted(found, key=lambda p: unicodedata.normalize("NFKD", str(p)).casefold())


def read_answers(path: Path) -> Answers:
    """Run what must be run of a notebook. Whatever goes wrong is in the result."""
    of_lesson = [e.slug for e in exercises().values() if e.lesson in path.stem]
    try:
        cells = read_cells(path)
    except CourseError as error:
        return Answers(path, of_lesson or ["(notebook)"], str(error))
    slugs = {slug for cell in cells for slug in cell.slugs} | set(of_lesson)
    answers = Answers(path, [slug for slug in exercises() if slug in slugs])
    answers.has_setup = any("setup" in cell.tags for cell in cells)
    answers.namespace.update(__name__="__main__", __builtins__=builtins)
    with harmless():
        for cell in cells:
            if ("setup" in cell.tags or cell.slugs) and not answers.problem:
                _run(cell, answers)
    return answers


def read_cells(path: Path) -> list[Cell]:
    """Return the code cells of a notebook file, in whatever format it is."""
    import nbformat

    try:
        with warnings.catch_warnings(action="ignore"):  # cells may lack an id
            notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
        return [
            Cell(number, cell.source, frozenset(cell.metadata.get("tags", ())))
            for number, cell in enumerate(notebook.cells, start=1)
            if cell.cell_type == "code"
        ]
    except Exception as error:
        problem = f"{path.name} cannot be read as a notebook: {describe_error(error)}"
        raise CourseError(problem) from None


def _run(cell: Cell, answers: Answers) -> None:
    """Run one cell; note the functions that it defines or why it does not."""
    setup, namespace = "setup" in cell.tags, answers.namespace
    name = f"<{answers.path.name}, cell {cell.number}>"
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
        answers.broken.update(dict.fromkeys(cell.slugs, failure))
    else:
        for slug in cell.slugs:  # a later cell mends an earlier one
            answers.broken.pop(slug, None)
            if callable(namespace.get(slug)):
                answers.seen[slug] = dict(namespace)
    for slug in cell.slugs:
        namespace[slug] = exercises()[slug].function()


def _cell_failure(cell: Cell, error: BaseException) -> Failure:
    if isinstance(error, SyntaxError):
        where = f" in line {error.lineno}" if error.lineno else ""
        text = f"cell {cell.number} has a syntax error{where}: {error.msg}"
        return Failure(text, evidence=(("line", (error.text or "").strip()),))
    guess = "the name is from a cell that is neither setup nor an exercise: not run"
    evidence = (("perhaps", guess),) if isinstance(error, NameError) else ()
    return Failure(f"cell {cell.number}: {describe_error(error)}", evidence=evidence)
