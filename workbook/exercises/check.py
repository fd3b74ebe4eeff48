"""`check`, `hint` and `solution`: what a learner calls in a notebook.

They find out which exercise is meant, grade it, show the result and note the progress.
None of them raises for what a learner wrote, so that Run All always reaches the end.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Callable
from typing import Any

from workbook.exercises.catalogue import (
    CourseError,
    Exercise,
    exercises,
    find,
    near_miss,
)
from workbook.exercises.display import Code, Message, Result, show
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
    try:
        exercise, problem = _exercise_of(function)
        if exercise is None or problem:
            show(Message("check could not start", [problem]))
            return exercise.function() if exercise else function
        from workbook.exercises.grade import grade

        report = grade(exercise, function)
        show(Result(report, traceback))
        _note(lambda: Progress().checked(exercise.slug, report.outcome))
        passed = report.outcome is Outcome.PASSED
        return function if passed else exercise.function()
    except CourseError as error:
        show(Message("check could not run", [str(error)]))
        return function


def _exercise_of(function: object) -> tuple[Exercise | None, str]:
    """Return the exercise that is meant, and what is wrong with the argument."""
    plain: Any = inspect.unwrap(function) if callable(function) else function
    if isinstance(function, str):
        return None, f"{USAGE} the text {function!r}."
    if isinstance(function, type):
        return None, f"{USAGE} the class {function.__name__}."
    if not isinstance(plain, types.FunctionType | types.BuiltinFunctionType):
        return None, f"{USAGE} {shorten(function, 60)}."
    slug = plain.__name__
    if slug == "<lambda>":
        return None, "A lambda has no name to find its exercise by: write it with def."
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


def source_with_helpers(function: Function) -> str:
    """Return a function's source, after that of its module's private helpers.

    What is public can be imported, so all of it together can be pasted into a cell.
    Helpers stand in the order of the file, those of helpers with them.
    """
    function = inspect.unwrap(function)
    source = inspect.getsource(inspect.getmodule(function) or function)
    nodes: dict[str, ast.stmt] = {}
    for node in ast.parse(source).body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                nodes[name] = node
            case ast.Assign(targets=[ast.Name(id=name)]):
                nodes[name] = node
            case ast.AnnAssign(target=ast.Name(id=name)):
                nodes[name] = node
    needed = [function.__name__]
    for name in needed:  # it grows
        for part in ast.walk(nodes[name]):
            name = part.id if isinstance(part, ast.Name) else ""
            if name.startswith("_") and name in nodes and name not in needed:
                needed.append(name)
    lines = source.splitlines()
    helpers = [
        "\n".join(lines[_first_line(node) - 1 : node.end_lineno])
        for node in sorted((nodes[n] for n in needed[1:]), key=lambda node: node.lineno)
    ]
    return "\n\n\n".join([*helpers, inspect.getsource(function)])


def _first_line(node: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(part.lineno for part in decorators)])


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
        show(Message(str(error)))
