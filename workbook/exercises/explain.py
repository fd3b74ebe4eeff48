"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the requirement. A second paragraph "perhaps: …" is the test's own
guess at the cause of a wrong result; "perhaps, of ERROR or KeyError: …" is told only
where the function returned ERROR or raised a KeyError.
"""

import ast
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from types import FunctionType, NoneType
from typing import Any

from workbook.exercises.call_recorder import (
    ArgumentChanged,
    InputAsked,
    RecordedCall,
    Watch,
    differs,
)
from workbook.exercises.report import (
    Failure,
    clip,
    describe_error,
    error_place,
    full_traceback,
    shorten,
    with_article,
    written,
)
from workbook.exercises.time_limit import TimeUp

LONG = 160  # characters of two values from which on it is said where they part
Comparison = tuple[str, object, object]  # operator, left, right of an `assert`
Evidence = Iterator[tuple[str, str]]  # label, text

CAUSES: dict[type[BaseException], str] = {  # the first kind that fits counts
    ArgumentChanged: "work on a copy, and return that",
    TimeUp: "a loop whose condition never changes, or that has too many rounds",
    RecursionError: "the function calls itself and has no case in which it stops",
    SystemExit: "return a value; exit() would end the whole program",
    InputAsked: "what you need is in the arguments",
    NotImplementedError: "one way through it still ends at the stub's last line",
    UnboundLocalError: "a variable gets its value only on some ways through",
    NameError: "a misspelt name, or one from a cell that has not been run",
}


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
        errors = [call.error for call in self.watch.calls]
        return isinstance(self.error, TimeUp) or self.error in errors


def explain(seen: Seen) -> Failure:
    """Return the failure that a learner reads."""
    name = seen.test.__name__
    required, *more = _paragraphs(seen.test)
    call, right = _subject(seen)
    evidence: list[tuple[str, str]] = []
    if call:
        arguments = [shorten(value) for value in call.arguments]
        arguments += [f"{key}={shorten(v)}" for key, v in call.keywords.items()]
        evidence.append(("called", f"{seen.watch.name}({', '.join(arguments)})"))
    evidence += _outcome(seen, call, right)
    # What Python prints when the alarm rings in a callback is not the learner's.
    if call and call.printed.strip() and TimeUp.__qualname__ not in call.printed:
        evidence.append(("printed", clip(repr(call.printed), LONG)))
    if cause := _cause(seen, call, right) or _advice(more, call):
        evidence.append(("perhaps", cause))
    traceback = full_traceback(seen.error)
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
            if guess[1] and str(came) not in guess[1].split(" or "):
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
    elif seen.compared and seen.compared[0] in ("==", "is"):
        texts, sides = _asserted(seen.statement)[1:], seen.compared[1:]
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
        late = isinstance(call.error, TimeUp)
        yield "stopped" if late else "raised", describe_error(call.error)
        if call.error.__cause__:
            yield "caused by", describe_error(call.error.__cause__)
        if place := error_place(call.error, seen.watch.original):
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
        yield from _in_the_tests_words(seen, call)


def _in_the_tests_words(seen: Seen, call: RecordedCall | None) -> Evidence:
    """Say what the test wanted as it stands in the test, for want of two values."""
    error, (condition, *sides) = seen.error, _asserted(seen.statement)
    operator, *values = seen.compared or ("",)
    left, right = map(shorten, values or ("", ""))
    if not isinstance(error, AssertionError):
        statement = condition or seen.statement.strip()
        yield "but", f"in the test, {statement} raises {describe_error(error)}"
    elif not condition:
        yield "expected", clip(written(error, str).strip().split("\n")[0], 300)
    elif reason := _reason(error):
        yield from (("expected", condition), ("because", reason))
    elif operator in ("==", "is") and sides:
        yield "expected", f"{sides[0]} {operator} {right}"
        yield "but", f"it is {left}"
    else:
        yield "expected", condition
        shown = call and any(call.result is value for value in values)
        if operator and not shown:
            yield "but", f"{left} {operator} {right} is not so"
    for name in dict.fromkeys(re.findall(r"\b(\w+)\(", condition)):
        helper = seen.test.__globals__.get(name)  # which no learner has seen
        own = getattr(helper, "__module__", "") == seen.test.__module__
        if own and isinstance(helper, FunctionType) and helper.__doc__:
            meaning = " ".join(helper.__doc__.partition("\n\n")[0].split())
            yield "where", f"{name} is the test's own: {meaning}"


def _asserted(statement: str) -> tuple[str, ...]:
    """Return what an `assert` asserts, and its two sides where it compares two."""
    with suppress(SyntaxError):  # of `with …:`, without its block
        match ast.parse(statement.strip()).body:
            case [ast.Assert(test=ast.Compare(left=left, comparators=[right]) as test)]:
                sides = ast.unparse(left), ast.unparse(right)
                return clip(ast.unparse(test), 300), *sides
            case [ast.Assert(test=test)]:
                return (clip(ast.unparse(test), 300),)
    return ("",)


def _reason(error: BaseException) -> str:
    """Return the message of an `assert` that has one."""
    message, _, _ = f"\n{written(error, str)}".partition("\nassert ")
    return clip(message.strip(), 300)


def _cause(seen: Seen, call: RecordedCall | None, right: tuple[object, ...]) -> str:
    """Return a likely cause in a few words, or an empty text."""
    error, watch = seen.error, seen.watch
    if seen.raised or isinstance(error, ArgumentChanged):
        own = f"{watch.original.__name__}()"
        if isinstance(error, TypeError) and own in written(error, str):
            return "keep the parameters of the stub: the tests call it with them"
        return next((CAUSES[kind] for kind in CAUSES if isinstance(error, kind)), "")
    if call is None or call.error:
        return ""
    if call.result is None and right != (None,):
        prints = "it prints its result; return it instead"
        forgot = prints if call.printed.strip() else "did you forget a return?"
        return "" if watch.values else forgot  # with a value, it has a return
    made_in = type(right[0]).__module__ if right else ""
    if made_in == seen.test.__module__ or made_in.startswith("_pytest."):
        return ""  # a class of the test's own file, or an approx, is nothing to return
    return _slip(call, *right) if right else ""


def _slip(call: RecordedCall, wanted: object) -> str:
    """Return what makes a result differ from the one that was wanted."""
    result = call.result
    if len(call.arguments) == 1 and result is call.arguments[0]:
        return "it returns its argument as it came"
    if isinstance(result, str) and isinstance(wanted, str):
        if result.split() == wanted.split():
            return "only spaces or line ends differ"
        return "only capitals differ" if result.lower() == wanted.lower() else ""
    names = {str: "text", int: "a number", float: "a number", NoneType: "None"}
    kinds = (type(result), type(wanted))
    have, want = (names.get(kind) or with_article(kind.__name__) for kind in kinds)
    return f"it returns {have} where {want} is expected" if have != want else ""


def difference(found: Any, wanted: Any) -> str:
    """Say where two texts of many lines, or two long lists, part; '' for short ones."""
    noun, end = "item", object()
    if isinstance(found, str) and isinstance(wanted, str):
        noun, found, wanted = "line", found.split("\n"), wanted.split("\n")
    lists = isinstance(found, list) and isinstance(wanted, list)
    if not lists or len(shorten(found)) + len(shorten(wanted)) <= LONG:
        return ""
    for number, pair in enumerate(zip_longest(found, wanted, fillvalue=end), start=1):
        if differs(*pair):
            have, want = ("nothing" if v is end else shorten(v, 120) for v in pair)
            return f"in {noun} {number}: {have}, not {want}"
    return ""
