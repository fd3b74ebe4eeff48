"""`check`, `hint` and `solution`: what a learner calls in a notebook.

They find out which exercise is meant, grade it, show the result and note the progress.
None of them raises for what a learner wrote, so that Run All always reaches the end.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from workbook.exercises.catalogue import (
    CourseError,
    Exercise,
    exercises,
    find,
    near_miss,
)
from workbook.exercises.cells import misspelt, source_of, superseded
from workbook.exercises.display import AMBER, Code, Message, Result, show
from workbook.exercises.progress import Progress
from workbook.exercises.report import Failure, Outcome, Report, shorten
from workbook.exercises.sources import source_with_helpers

Function = Callable[..., Any]


def check(function: Function, *, traceback: bool = False) -> Function:
    """Test your function and say what it does not do yet.

    Args:
        function: the function itself, without brackets: `check(parse_turn)`.
        traceback: show the whole traceback of the first failure.

    Returns:
        Your function when it passes, otherwise the package's: a notebook goes on with
        one that works. `parse_turn = check(parse_turn)`.
    """
    try:
        exercise, problem = _exercise_of(function)
        if exercise is None or problem:
            show(Message("check could not start", [problem]))
            return exercise.function() if exercise else function
        report = _report(exercise, function)
        if report is None:
            return exercise.function()
        show(Result(report, traceback))
        _note(lambda: Progress().checked(exercise.slug, report.outcome))
        passed = report.outcome is Outcome.PASSED
        return function if passed else exercise.function()
    except CourseError as error:
        show(Message("check could not run", [str(error)]))
        return function


def _report(exercise: Exercise, function: Function) -> Report | None:
    """Grade, unless the function is not the one that the learner means."""
    slug = exercise.slug
    ours = inspect.unwrap(function) is inspect.unwrap(exercise.function())
    newer = superseded(None if ours else function, slug)
    if newer:
        line = (("line", newer.line),) if newer.line else ()
        failure = Failure(
            newer.reason,
            evidence=(
                *line,
                ("graded", f"nothing: {slug} is still the one from before"),
            ),
        )
        again = "mend that cell, run it, and check again"
        return Report(slug, Outcome.RAISED, failures=(failure,), next_step=again)
    odd = misspelt(None if ours else function, slug)
    if ours:
        lines = [
            f"{slug} is the package's own function: the last check did not pass, and"
            " the notebook goes on with one that works.",
            f"Run the cell with your `def {slug}` again, then this one.",
            *([odd] if odd else []),
        ]
        show(Message(f"{slug} · nothing of yours to check", lines))
        return None
    from workbook.exercises.grade import grade

    report = grade(exercise, function)
    notes = [odd] if odd else []
    if report.outcome in (Outcome.WRONG, Outcome.RAISED):
        report = replace(report, graded=source_of(function))
    return replace(report, notes=(*report.notes, *notes))


def _exercise_of(function: object) -> tuple[Exercise | None, str]:
    """Return the exercise that is meant, and what is wrong with the argument."""
    usage = "check takes the function itself, without brackets: check(parse_turn)"
    if isinstance(function, str):
        near = near_miss(function)
        return (
            None,
            f"{usage.replace('parse_turn', near or 'parse_turn')}. It got text.",
        )
    if isinstance(function, type):
        return None, f"{usage}. It got the class {function.__name__}."
    if not callable(function):
        kind = (
            "None" if function is None else f"a value of type {type(function).__name__}"
        )
        return None, f"{usage}. It got {kind}."
    plain = inspect.unwrap(function)  # functools.cache makes an object of its own
    if not isinstance(plain, (types.FunctionType, types.BuiltinFunctionType)):
        return None, f"{usage}. It got an object of type {type(function).__name__}."
    slug = plain.__name__
    if slug in exercises():
        return exercises()[slug], ""
    if slug == "<lambda>":
        return None, "A lambda has no name to find its exercise by: write it with def."
    near = near_miss(slug)
    guess = f"; did you mean {near}?" if near else "."
    return (
        exercises()[near] if near else None,
        f"There is no exercise {slug}{guess}",
    )


def hint(function: Function | str) -> None:
    """Show the next hint. There are three: a pointer, a plan, almost the code.

    Args:
        function: the function of the exercise, or its name.
    """
    try:
        exercise = find(_slug(function, "hint"))
        seen = Progress().get(exercise.slug).hints
        number = min(seen + 1, len(exercise.hints))
        _note(lambda: Progress().hint_seen(exercise.slug, number))
        lines = [f"{n}. {exercise.hints[n - 1]}" for n in range(1, number + 1)]
        if seen >= len(exercise.hints):
            lines.append(f"That is all of them. solution({exercise.slug}) shows ours.")
        title = f"{exercise.slug} · hint {number} of {len(exercise.hints)}"
        show(Message(title, lines))
    except CourseError as error:
        show(Message(str(error)))


def solution(function: Function | str) -> None:
    """Show the package's own function, with the private helpers that it needs.

    Args:
        function: the function of the exercise, or its name.
    """
    try:
        exercise = find(_slug(function, "solution"))
        source = source_with_helpers(exercise.function())
        show(Code(f"{exercise.slug}, from {exercise.target.partition(':')[0]}", source))
    except CourseError as error:
        show(Message(str(error)))


def _slug(function: object, caller: str) -> str:
    slug = function if isinstance(function, str) else getattr(function, "__name__", "")
    if not slug:
        raise CourseError(
            f"{caller} takes a function or its name: {caller}('parse_turn')."
            f" It got {shorten(function, 60)}."
        )
    return str(slug)


def _note(write: Callable[[], None]) -> None:
    """Keep progress; say so when that is not possible, and go on."""
    try:
        write()
    except CourseError as error:
        show(Message(str(error), colour=AMBER))
