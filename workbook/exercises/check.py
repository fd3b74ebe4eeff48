"""`check`, `hint` and `solution`: what a learner calls in a notebook.

They find out which exercise is meant, grade it, show the result and note the progress.
None of them raises for what a learner wrote, so that Run All always reaches the end.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbook.exercises.catalogue import (
    CourseError,
    Exercise,
    exercises,
    find,
    near_miss,
)
from workbook.exercises.display import Code, Message, as_message, show
from workbook.exercises.progress import Progress
from workbook.exercises.report import Outcome, shorten

Function = Callable[..., Any]
USAGE = "check takes the function itself, without brackets: check(parse_turn). It got"


def check(function: Function, *, traceback: bool = False) -> Function:
    """Test your function and say what it does not do yet.

    Args:
        function: the function itself, without brackets: `check(parse_turn)`.
        traceback: show the whole traceback of the first failure.

    Returns:
        Your function when it passes, otherwise the package's: a notebook goes on with
        one that works. `parse_turn = check(parse_turn)` below your `def`, or `@check`
        above it.
    """
    with _said("check could not run"):
        exercise, problem = _exercise_of(function)
        if exercise is None or problem:
            show(Message("check could not start", [(" ", problem)]))
            return exercise.function() if exercise else function
        from workbook.exercises.grade import grade

        report = grade(exercise, function)
        show(as_message(report, with_traceback=traceback))
        with _said():
            Progress().checked(exercise.slug, report.outcome)
        passed = report.outcome is Outcome.PASSED
        return function if passed else exercise.function()
    return function


@contextmanager
def _said(title: str = "") -> Iterator[None]:
    """Say what stands in the way, and go on."""
    try:
        yield
    except CourseError as error:
        show(Message(title, [(" ", str(error))]) if title else Message(str(error)))


def _exercise_of(function: object) -> tuple[Exercise | None, str]:
    """Return the exercise that is meant, and what is wrong with the argument."""
    plain: Any = inspect.unwrap(function) if callable(function) else function
    if not isinstance(plain, types.FunctionType | types.BuiltinFunctionType):
        return None, f"{USAGE} {shorten(function, 60)}."
    slug = plain.__name__
    if slug not in exercises():
        near = near_miss(slug)
        guess = f"; did you mean {near}?" if near else "."
        return exercises().get(near or ""), f"There is no exercise {slug}{guess}"
    exercise = exercises()[slug]
    if plain is inspect.unwrap(exercise.function()):
        return exercise, (
            f"{slug} is the package's own function: there is nothing of yours to check."
            f" Put your `def {slug}` above the check, in the same cell."
        )
    return exercise, ""


def hint(function: Function | str) -> None:
    """Show the next hint. There are three: a pointer, a plan, almost the code."""
    with _said():
        exercise = _named(function, "hint")
        seen, hints = Progress().get(exercise.slug).hints, exercise.hints
        number = min(seen + 1, len(hints))
        with _said():
            Progress().hint_seen(exercise.slug, number)
        lines = [(" ", f"{n}. {hints[n - 1]}") for n in range(1, number + 1)]
        if seen >= len(hints):
            more = f"That is all of them. solution({exercise.slug}) shows ours."
            lines.append((" ", more))
        show(Message(f"{exercise.slug} · hint {number} of {len(hints)}", lines))


def solution(function: Function | str) -> None:
    """Show the package's own function, with the private helpers that it needs."""
    with _said():
        exercise = _named(function, "solution")
        source = source_with_helpers(exercise.function())
        show(Code(f"{exercise.slug}, from {exercise.target.partition(':')[0]}", source))


def _named(function: object, caller: str) -> Exercise:
    slug = function if isinstance(function, str) else getattr(function, "__name__", "")
    if not slug:
        raise CourseError(
            f"{caller} takes a function or its name: {caller}('parse_turn')."
            f" It got {shorten(function, 60)}."
        )
    return find(slug)


def source_with_helpers(function: Function) -> str:
    """Return a function's source, after that of its module's private helpers.

    What is public can be imported, so all of it together can be pasted into a cell.
    """
    function = inspect.unwrap(function)
    source = inspect.getsource(inspect.getmodule(function) or function)
    lines, nodes = source.splitlines(), {}
    for node in ast.parse(source).body:
        named = getattr(node, "target", None) or getattr(node, "targets", [node])[0]
        nodes[getattr(named, "name", "") or getattr(named, "id", "")] = node
    needed = [function.__name__]
    for name in needed:  # it grows
        for part in ast.walk(nodes[name]):
            used = part.id if isinstance(part, ast.Name) else ""
            if used.startswith("_") and used in nodes and used not in needed:
                needed.append(used)
    shown = []
    order = sorted(needed, key=lambda n: (n == function.__name__, nodes[n].lineno))
    for node in map(nodes.__getitem__, order):
        above = [part.lineno for part in getattr(node, "decorator_list", [])]
        first = min([node.lineno, *above])
        shown.append("\n".join(lines[first - 1 : node.end_lineno]))
    return "\n\n\n".join(shown)
