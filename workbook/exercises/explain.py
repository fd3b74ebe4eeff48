"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the requirement. A second paragraph "perhaps: …" is the test's own
guess at the cause of a wrong result; "perhaps, of ERROR or KeyError: …" is told only
where the function returned ERROR or raised a KeyError.

A learner has not read the tests: no name of theirs is told. What an `assert` looked at
is said by the values that it compared, or by the message that it has.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import NamedTuple

from workbook.exercises.report import (
    LONG,
    Failure,
    called,
    clip,
    describe_error,
    difference,
    differs,
    error_place,
    shorten,
    written,
)
from workbook.exercises.watch import ArgumentChanged, RecordedCall, Watch

Evidence = Iterator[tuple[str, str]]  # label, text


class Comparison(NamedTuple):
    """What an `assert` compared."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True, slots=True)
class Seen:
    """All that was seen of a test that failed."""

    test: FunctionType
    error: BaseException
    statement: str  # of the test, or of a helper in its file
    watch: Watch
    compared: Comparison | None  # where an `assert` compared
    wanted: str  # the exception that the test waited for, in words

    @property
    def raised(self) -> bool:
        """Whether the learner's code raised, and not the test."""
        return self.error in [call.error for call in self.watch.calls]


def explain(seen: Seen) -> Failure:
    """Return the failure that a learner reads."""
    required, *more = _paragraphs(seen.test)
    call, right = _subject(seen)
    evidence: list[tuple[str, str]] = []
    if call:
        text = called(seen.watch.name, call.arguments, call.keywords)
        evidence.append(("called", text))
    evidence += _outcome(seen, call, right)
    if call and call.printed.strip():
        evidence.append(("printed", clip(repr(call.printed), LONG)))
    if guess := _advice(more, call):
        evidence.append(("perhaps", guess))
    return Failure(required, seen.test.__name__, tuple(evidence), seen.raised)


def requirement(test: FunctionType) -> str:
    """Return what a test asks for, in a line."""
    return _paragraphs(test)[0]


def _paragraphs(test: FunctionType) -> list[str]:
    paragraphs = (test.__doc__ or test.__name__).strip().split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs]


def _advice(paragraphs: list[str], call: RecordedCall | None) -> str:
    """Return the test's own guess, where what came of the call carries it."""
    error = call.error if call else None
    came = type(error).__name__ if error else written(call and call.result, str)
    for paragraph in paragraphs:
        guess = re.match(r"perhaps(?:, of ([^:]*))?: (.*)", paragraph)
        if guess and (came in guess[1].split(" or ") if guess[1] else not error):
            return guess[2]
    return ""


def _subject(seen: Seen) -> tuple[RecordedCall | None, tuple[object, ...]]:
    """Return the call that the test is about; and, in a tuple, what it had to equal.

    A value stands for the call where the test names it: `x.ok is True` names none.
    """
    calls = list(seen.watch.calls)
    if seen.raised:
        calls = [c for c in calls if c.error is seen.error]
    elif seen.compared and seen.compared.operator in ("==", "is"):
        texts, sides = _sides(seen.statement), seen.compared[1:]
        for text, value, other in zip(texts, sides, sides[::-1], strict=False):
            named = text.isidentifier() or text.startswith(f"{seen.watch.name}(")
            for call in reversed(calls if named else []):
                if not call.error and call.result is value:
                    return call, (other,)
    return (calls[-1] if calls else None), ()


def _sides(statement: str) -> tuple[str, ...]:
    """Return the two sides of what an `assert` compares."""
    try:
        body = ast.parse(textwrap.dedent(statement).strip()).body
    except SyntaxError:  # of `with …:`, without its block
        return ()
    match body:
        case [ast.Assert(test=ast.Compare(left=left, comparators=[right]))]:
            return ast.unparse(left), ast.unparse(right)
    return ()


def _outcome(
    seen: Seen, call: RecordedCall | None, right: tuple[object, ...]
) -> Evidence:
    """Yield what came of the call, and what should have."""
    if isinstance(seen.error, ArgumentChanged):
        name, before, after = seen.error.args
        yield "changed", f"{name}, which is now {shorten(after)}"
        yield "expected", f"{name} stays {shorten(before)}"
        return
    if call and not call.error:
        yield "returned", shorten(call.result)
    elif call and call.error and (seen.raised or seen.wanted):
        yield "raised", describe_error(call.error)
        if call.error.__cause__:
            yield "caused by", describe_error(call.error.__cause__)
        if place := error_place(call.error, seen.watch.file):
            yield "at", place
    if seen.wanted:
        yield "expected", seen.wanted + ("" if call and call.error else " is raised")
    elif right and call:
        yield "expected", shorten(right[0])
        if parts := difference(call.result, *right):
            yield "differs", parts
        if reason := _reason(seen.error):
            yield "because", reason
    elif not seen.raised:
        yield from _asserted(seen, call)


def _asserted(seen: Seen, call: RecordedCall | None) -> Evidence:
    """Say what the test wanted of something else than the result."""
    error, compared = seen.error, seen.compared
    if not isinstance(error, AssertionError):
        yield "but", f"what came back cannot be used: {describe_error(error)}"
    elif reason := _reason(error):  # it says what the test saw
        yield "but", reason
    elif compared:
        operator, left, right = compared.operator, *map(shorten, compared[1:])
        if operator in ("==", "is"):
            name = "".join(_sides(seen.statement)[:1]).rpartition(".")[2]
            value = getattr(call and call.result, name, _asserted)  # or none of its own
            is_own = not differs(value, compared.left)
            yield "expected", f"its {name} is {right}" if is_own else right
            yield "but", f"it is {left}"
        else:
            yield "expected", f"{left} {operator} {right}"


def _reason(error: BaseException) -> str:
    """Return the message of an `assert` that has one."""
    message, _, _ = f"\n{written(error, str)}".partition("\nassert ")
    return clip(message.strip(), 300)
