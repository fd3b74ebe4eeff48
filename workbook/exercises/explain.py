"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the requirement. A second paragraph "perhaps: …" is the test's own
guess at the cause of a wrong result; "perhaps, of ERROR or KeyError: …" is told only
where the function returned ERROR or raised a KeyError.

A learner has not read the tests: no name of theirs is told. What an `assert` looked at
is said by the values that it compared, or by the message that it has.
"""

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from contextlib import suppress
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
    full_traceback,
    shorten,
    written,
)
from workbook.exercises.watch import (
    ArgumentChanged,
    InputAsked,
    RecordedCall,
    Watch,
)

Evidence = Iterator[tuple[str, str]]  # label, text

CAUSES: dict[type[BaseException], str] = {  # the first kind that fits counts
    ArgumentChanged: "work on a copy, and return that",
    RecursionError: "the function calls itself too many times in a row",
    SystemExit: "return a value; exit() would end the whole program",
    InputAsked: "what you need is in the arguments",
    UnboundLocalError: "a variable gets its value only on some ways through",
    NameError: "a misspelt name, or one from a cell that has not been run",
}


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
    if cause := _cause(seen, call, right) or _advice(more, call):
        evidence.append(("perhaps", cause))
    traceback = full_traceback(seen.error)
    name = seen.test.__name__
    return Failure(required, name, tuple(evidence), seen.raised, traceback)


def requirement(test: FunctionType) -> str:
    """Return what a test asks for, in a line."""
    return _paragraphs(test)[0]


def _paragraphs(test: FunctionType) -> list[str]:
    paragraphs = (test.__doc__ or test.__name__).strip().split("\n\n")
    return [" ".join(paragraph.split()) for paragraph in paragraphs]


def _advice(paragraphs: list[str], call: RecordedCall | None) -> str:
    """Return the test's own guess, where what came of the call carries it."""
    for paragraph in paragraphs:
        if guess := re.match(r"perhaps(?:, of ([^:]*))?: (.*)", paragraph):
            came = call and (type(call.error).__name__ if call.error else call.result)
            if guess[1] and written(came, str) not in guess[1].split(" or "):
                continue
            if guess[1]:
                return guess[2]
            return "" if call and call.error else guess[2]
    return ""


def _subject(seen: Seen) -> tuple[RecordedCall | None, tuple[object, ...]]:
    """Return the call that the test is about; and, in a tuple, what it had to equal.

    A value stands for the call where the test names it: `x.ok is True` names none.
    """
    calls = list(seen.watch.calls)
    if seen.raised:
        calls = [c for c in calls if c.error is seen.error] or calls
    elif seen.compared and seen.compared.operator in ("==", "is"):
        texts, sides = _sides(seen.statement), seen.compared[1:]
        for text, value, other in zip(texts, sides, sides[::-1], strict=False):
            named = text.isidentifier() or text.startswith(f"{seen.watch.name}(")
            for call in reversed(calls if named else []):
                if not call.error and call.result is value:
                    return call, (other,)
    return (calls[-1] if calls else None), ()


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
    elif reason := _reason(error):
        yield "expected", reason
    elif compared:
        operator, left, right = compared.operator, *map(shorten, compared[1:])
        if operator in ("==", "is"):
            name = _attribute(seen, call)
            yield "expected", f"its {name} is {right}" if name else right
            yield "but", f"it is {left}"
        else:
            yield "expected", f"{left} {operator} {right}"


def _attribute(seen: Seen, call: RecordedCall | None) -> str:
    """Return which attribute of the result was compared, or ""."""
    match _condition(seen.statement), call, seen.compared:
        case ast.Compare(left=ast.Attribute(attr=name)), RecordedCall(result=r), found:
            if found and hasattr(r, name) and not differs(getattr(r, name), found.left):
                return name
    return ""


def _condition(statement: str) -> ast.expr | None:
    """Return what an `assert` asserts."""
    with suppress(SyntaxError):  # of `with …:`, without its block
        match ast.parse(textwrap.dedent(statement).strip()).body:
            case [ast.Assert(test=test)]:
                return test
    return None


def _sides(statement: str) -> tuple[str, ...]:
    """Return the two sides of what an `assert` compares."""
    match _condition(statement):
        case ast.Compare(left=left, comparators=[right]):
            return ast.unparse(left), ast.unparse(right)
    return ()


def _reason(error: BaseException) -> str:
    """Return the message of an `assert` that has one."""
    message, _, _ = f"\n{written(error, str)}".partition("\nassert ")
    return clip(message.strip(), 300)


def _cause(seen: Seen, call: RecordedCall | None, right: tuple[object, ...]) -> str:
    """Return a cause that the evidence carries, in a few words, or an empty text."""
    error, watch = seen.error, seen.watch
    if seen.raised or isinstance(error, ArgumentChanged):
        own = f"{watch.original.__name__}()"
        if isinstance(error, TypeError) and own in written(error, str):
            return "keep the parameters of the stub: the tests call it with them"
        return next((CAUSES[kind] for kind in CAUSES if isinstance(error, kind)), "")
    if call is None or call.error or not right or right[0] is None:
        return ""
    if call.result is None and not _returns_something(watch):
        prints = "it prints its result; return it instead"
        return prints if call.printed.strip() else "no return gives its result back"
    return ""


def _returns_something(watch: Watch) -> bool:
    """Return whether a `return` with a value stands in the function's own lines."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(watch.original)))
    except (OSError, TypeError, SyntaxError):  # a lambda in the middle of a line
        return True
    return any(isinstance(node, ast.Return) and node.value for node in ast.walk(tree))
