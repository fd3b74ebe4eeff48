"""`check`, `hint` and `solution`: what a learner calls in a notebook.

None of them raises for what a learner wrote, so that Run All always reaches the end.
"""

import functools
import inspect
import types
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from workbook.checks.answer import answer_in, cells_of
from workbook.checks.catalogue import CourseError, exercises, find, near_miss
from workbook.checks.display import Code, Notice, as_message, say_ours, show
from workbook.checks.evidence import shown
from workbook.checks.parts import keep, path_of
from workbook.checks.process import tested

Function = Callable[..., Any]
KEPT = "Your agent keeps your earlier answer, which passed. This notebook runs ours."
_hints: Counter[str] = Counter()  # seen in this kernel


def check(function: Function) -> Function:
    """Test your function, and return it if it passes: then it is a part of your agent.

    Otherwise the package's function is returned, so that the notebook goes on.
    """
    answer = function
    with _shown_errors():
        slug = _name_of(function, "check")
        if near := near_miss(slug):
            answer = instead(exercises()[near].function())
        else:
            raise CourseError(
                f"check finds the exercise by the function's name, and this one's is"
                f" {slug}. Give `def` the name of the exercise; a decorator needs"
                " functools.wraps."
            )
        if inspect.unwrap(function) is inspect.unwrap(find(slug).function()):
            raise CourseError(
                f"{slug} is the package's own function: there is nothing of yours to"
                f" check. Put your `def {slug}` above the check, in the same cell."
            )
        text = answer_in(cells_of(function), slug)
        report = tested(slug, text)
        passed = report["outcome"] == "passed"
        if not passed and path_of(slug).exists():
            report["note"] = f"{KEPT} {report['note']}".strip()
        show(as_message(report))
        if passed:
            answer = function
            keep(slug, text)
    return answer


def instead(ours: Function) -> Function:
    """Return the package's function; in each cell that runs it, it says so."""

    @functools.wraps(ours)
    def answers(*args: Any, **kwargs: Any) -> Any:
        say_ours(ours.__name__)
        return ours(*args, **kwargs)

    return answers


@contextmanager
def _shown_errors() -> Iterator[None]:
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
        f" It got {shown(function, 60)}."
    )


def hint(function: Function | str) -> None:
    """Show the next hint. There are three: a pointer, a plan, code with a gap."""
    with _shown_errors():
        exercise = find(_name_of(function, "hint"))
        slug, hints = exercise.slug, exercise.hints
        number = min(_hints[slug] + 1, len(hints))
        words = hints[: min(number, len(hints) - 1)]
        lines = [(" ", f"{n}. {text}") for n, text in enumerate(words, 1)]
        if _hints[slug] == len(hints):
            lines.append((" ", f"That is all. solution({slug}) shows ours."))
        show(Notice(f"{slug} · hint {number} of {len(hints)}", lines))
        if number == len(hints):
            show(Code("all but one piece, ___", hints[-1]))
        _hints[slug] = number


def solution(function: Function | str) -> None:
    """Show an answer that fits the card, and say where the package has its own."""
    with _shown_errors():
        exercise = find(_name_of(function, "solution"))
        title = f"{exercise.slug}; the package's own is in {exercise.target}"
        show(Code(title.partition(":")[0], exercise.solution))
