"""What must hold for every exercise, each as a function that returns the breaches.

The suite runs them over data/exercises.toml: an exercise that is solved as it ships,
has an empty hint, or is never checked by its notebook fails the build.
"""

from __future__ import annotations

import ast
import inspect
import runpy
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from workbook.classroom.notebooks import Cell, read_cells
from workbook.classroom.stripping import to_python
from workbook.exercises.catalogue import ROOT, CourseError, Exercise, Lesson, exercises
from workbook.exercises.display import Result
from workbook.exercises.report import Outcome

WRONG_ANSWERS = 2


def entry(exercise: Exercise) -> Iterator[str]:
    """Three hints that say something, a goal, a title, figures in their range."""
    if len(exercise.hints) != 3 or len(set(exercise.hints)) != 3:
        yield f"{exercise.slug} has {len(set(exercise.hints))} hints, not three"
    for name in ("title", "goal"):
        if not getattr(exercise, name).strip():
            yield f"{exercise.slug} has no {name}"
    if not all(hint.strip() for hint in exercise.hints):
        yield f"{exercise.slug} has an empty hint"
    if exercise.difficulty not in range(1, 6):
        yield f"{exercise.slug}: difficulty {exercise.difficulty} is not 1 to 5"
    if exercise.minutes < 1:
        yield f"{exercise.slug}: {exercise.minutes} minutes"
    if exercise.function().__name__ != exercise.slug:
        yield f"{exercise.slug}: its target is {exercise.function().__name__}"


def lesson_minutes(lesson: Lesson) -> Iterator[str]:
    """The exercises fit into the time that the lesson names."""
    total = sum(e.minutes for e in exercises().values() if e.lesson == lesson.slug)
    if total > lesson.minutes:
        yield f"{lesson.slug}: {total} minutes of exercises in {lesson.minutes}"


def package_answer(exercise: Exercise) -> Iterator[str]:
    """The package's own function passes."""
    from workbook.exercises.grade import grade

    report = grade(exercise, exercise.function())
    if report.outcome is not Outcome.PASSED:
        yield str(Result(report))


def stub_of(exercise: Exercise) -> Callable[..., Any]:
    """Return a stub with the exercise's name and signature."""

    def stub(*args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError("your code here")

    stub.__name__ = exercise.slug
    stub.__signature__ = inspect.signature(exercise.function())  # type: ignore[attr-defined]
    return stub


def stub_answer(exercise: Exercise) -> Iterator[str]:
    """The stub counts as not attempted."""
    from workbook.exercises.grade import grade

    report = grade(exercise, stub_of(exercise))
    if report.outcome is not Outcome.NOT_ATTEMPTED:
        yield f"the stub of {exercise.slug} is graded as:\n{Result(report)}"


def wrong_answers(exercise: Exercise) -> Mapping[Callable[..., Any], str]:
    """Return the wrong answers, each with the words that its failure must show.

    Raises:
        CourseError: there is no such file, or it has no `WRONG`.
    """
    path = ROOT / "tests" / "wrong_answers" / f"{exercise.slug}.py"
    if not path.is_file():
        raise CourseError(f"{exercise.slug} has no wrong answers: {path} is missing")
    found = runpy.run_path(str(path)).get("WRONG")
    if not isinstance(found, dict):
        raise CourseError(f"{path} has no WRONG, a dict of function to words")
    return found


def wrong_answers_fail(exercise: Exercise) -> Iterator[str]:
    """At least two wrong answers; each one fails, and says so in its words."""
    from workbook.exercises.grade import grade

    answers = wrong_answers(exercise)
    if len(answers) < WRONG_ANSWERS:
        yield f"{exercise.slug} has {len(answers)} wrong answers, not {WRONG_ANSWERS}"
    for function, words in answers.items():
        report = grade(exercise, function)
        text = str(Result(report))
        if report.outcome not in (Outcome.WRONG, Outcome.RAISED):
            yield f"{function.__name__} is graded as {report.outcome}"
        elif not words or words not in text:
            yield f"{function.__name__} fails without the words {words!r}:\n{text}"


def notebook(exercise: Exercise, lesson: Lesson) -> Iterator[str]:
    """The notebook has a setup cell, and a typed stub that it really checks."""
    slug, name = exercise.slug, lesson.notebook.name
    if not lesson.notebook.is_file():
        yield f"{lesson.notebook} is missing"
        return
    cells = read_cells(lesson.notebook)
    if not cells or "setup" not in cells[0].tags:
        yield f"{name}: the first code cell is not tagged setup"
    with_stub = [n for n, cell in enumerate(cells) if _function(cell, slug)]
    if len(with_stub) != 1:
        yield f"{name}: {len(with_stub)} cells define {slug}, not one"
        return
    number = with_stub[0]
    if "exercise" not in cells[number].tags:
        yield f"{name}, cell {cells[number].number}: not tagged exercise"
    if not any(_checks(cell, slug) for cell in cells[number : number + 2]):
        yield f"{name}: no `{slug} = check({slug})` in the stub's cell or the next one"
    function = _function(cells[number], slug)
    if function is not None:
        yield from (f"{name}, {slug}: {breach}" for breach in _stub(function, exercise))


def _stub(function: ast.FunctionDef, exercise: Exercise) -> Iterator[str]:
    if not ast.get_docstring(function):
        yield "no docstring"
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    if function.returns is None or any(a.annotation is None for a in named):
        yield "not every parameter and the result has a type"
    ours = list(inspect.signature(exercise.function()).parameters)
    if [a.arg for a in named] != ours:
        yield f"takes {[a.arg for a in named]}, the package's takes {ours}"
    match function.body[-1]:
        case ast.Raise(exc=ast.Call(func=ast.Name(id="NotImplementedError"))):
            pass
        case _:
            yield "does not end in `raise NotImplementedError(…)`"


def _function(cell: Cell, slug: str) -> ast.FunctionDef | None:
    for node in ast.parse(to_python(cell.source)).body:
        if isinstance(node, ast.FunctionDef) and node.name == slug:
            return node
    return None


def _checks(cell: Cell, slug: str) -> bool:
    wanted = ast.dump(ast.parse(f"{slug} = check({slug})").body[0])
    return any(
        ast.dump(node) == wanted for node in ast.parse(to_python(cell.source)).body
    )
