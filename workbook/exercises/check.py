"""`check`, `hint` and `solution`: what a learner calls in a notebook.

None of them raises for what a learner wrote, so that Run All always reaches the end.
"""

import functools
import inspect
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from workbook.exercises.answer import answer_in, cells_of, left_out, statements
from workbook.exercises.catalogue import CourseError, exercises, find, near_miss
from workbook.exercises.display import Code, Notice, as_message, show, tell_ours
from workbook.exercises.progress import Entry, entries, note_check, note_hint
from workbook.exercises.report import Outcome, shorten
from workbook.exercises.worker import tested
from workbook.exercises.your_agent import path_of, write

Function = Callable[..., Any]
KEPT = "Your agent keeps your earlier answer, which passed. This notebook runs ours."
MOVE = "If that changes what your function uses, put it into the cell of `def"


def check(function: Function) -> Function:
    """Test your function, say what it does not do yet, and return one that works.

    That is yours when it passes, and then a part of your agent, too (see `yours`).
    Otherwise it is the package's, so that a notebook goes on; it says so when a cell
    runs it. `parse_turn = check(parse_turn)` stands below your `def`, or `@check` above
    it.
    """
    answer = function
    with _said():
        slug = _name_of(function, "check")
        if near := near_miss(slug):
            answer = instead(exercises()[near].function())
        else:
            raise CourseError(
                f"check finds the exercise by the function's name, and this one's is"
                f" {slug}. Give `def` the name of the exercise; a decorator needs"
                " functools.wraps."
            )
        exercise = find(slug)
        if inspect.unwrap(function) is inspect.unwrap(exercise.function()):
            raise CourseError(
                f"{slug} is the package's own function: there is nothing of yours to"
                f" check. Put your `def {slug}` above the check, in the same cell."
            )
        cells, others = cells_of(function), exercises().keys() - {slug}
        text = answer_in(cells, slug, others)
        report = tested(exercise, text)
        notes = []
        if report.outcome is Outcome.PASSED:
            write(exercise, text)
            answer = function
        elif path_of(slug).exists():
            notes.append(KEPT)
        if report.failures and (lines := left_out(cells, slug, others)):
            named = ", ".join(f"`{line}`" for line in lines)
            notes.append(f"The check does not run {named}. {MOVE} {slug}`.")
        report = replace(report, note=" ".join([*notes, report.note]).strip())
        show(as_message(report))
        note_check(slug, report.outcome)
    return answer


def instead(ours: Function) -> Function:
    """Return the package's function, which says in each cell that runs it that it is.

    A learner then knows that a right result is not that of the answer that failed.
    """

    @functools.wraps(ours)
    def answers(*args: Any, **kwargs: Any) -> Any:
        tell_ours(ours.__name__)
        return ours(*args, **kwargs)

    return answers


@contextmanager
def _said() -> Iterator[None]:
    """Say what stands in the way, and go on."""
    try:
        yield
    except CourseError as error:
        show(Notice(str(error)))
    except KeyboardInterrupt:
        show(Notice("Stopped, as you asked. Nothing of yours is lost."))
        raise KeyboardInterrupt from None


def _name_of(function: object, caller: str) -> str:
    if isinstance(function, str) and caller != "check":
        return function
    plain = inspect.unwrap(function) if callable(function) else function
    if isinstance(plain, types.FunctionType | types.BuiltinFunctionType):
        return plain.__name__
    raise CourseError(
        f"{caller} takes the function itself, without brackets: {caller}(parse_turn)."
        f" It got {shorten(function, 60)}."
    )


def hint(function: Function | str) -> None:
    """Show the next hint. There are three: a pointer, a plan, code with a gap."""
    with _said():
        exercise = find(_name_of(function, "hint"))
        seen, hints = entries().get(exercise.slug, Entry()).hints, exercise.hints
        number = min(seen + 1, len(hints))
        words = hints[: min(number, len(hints) - 1)]
        lines = [(" ", f"{n}. {text}") for n, text in enumerate(words, 1)]
        if seen >= len(hints):
            lines.append((" ", f"That is all. solution({exercise.slug}) shows ours."))
        show(Notice(f"{exercise.slug} · hint {number} of {len(hints)}", lines))
        if number == len(hints):
            show(Code("all but one piece, ___", hints[-1]))
        note_hint(exercise.slug, number)


def solution(function: Function | str) -> None:
    """Show the package's own function, with the private helpers that it needs."""
    with _said():
        exercise = find(_name_of(function, "solution"))
        source = source_with_helpers(exercise.function())
        show(Code(f"{exercise.slug}, from {exercise.target.partition(':')[0]}", source))


def source_with_helpers(function: Function) -> str:
    """Return a function's source, after the private helpers that it needs in a cell."""
    function = inspect.unwrap(function)
    found = statements(inspect.getsource(inspect.getmodule(function) or function))
    homes = {name: each for each in found for name in each.binds}
    needed = [homes[function.__name__]]
    for each in needed:  # it grows
        private = [homes[name] for name in each.uses & homes.keys() if name[0] == "_"]
        needed += [helper for helper in private if helper not in needed]
    helpers = [each for each in found if each in needed[1:]]
    return "\n\n\n".join(each.text for each in [*helpers, needed[0]])
