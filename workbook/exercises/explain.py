"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the requirement. A second paragraph that starts with "perhaps:"
is the test's own guess at the cause. The general guesses are few: each rests on what
was seen of the call, since a wrong guess is worse than none.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from workbook.exercises.call_recorder import (
    ArgumentChanged,
    Call,
    InputAsked,
    Watch,
    differs,
)
from workbook.exercises.report import (
    Failure,
    clip,
    describe_error,
    error_place,
    shorten,
    with_article,
    written,
)
from workbook.exercises.time_limit import TimeUp

LONG = 160
"""Characters of two values from which on it is said where they part."""


CAUSES: dict[type[BaseException], str] = {
    ArgumentChanged: "work on a copy, and return that",
    TimeUp: "a loop whose condition never changes, or that has too many rounds",
    RecursionError: "the function calls itself and has no case in which it stops",
    SystemExit: "return a value; exit() would end the whole program",
    InputAsked: "what you need is in the arguments",
    NotImplementedError: "one way through the function still ends at the stub's last"
    " line",
    UnboundLocalError: "a variable gets its value only on some ways through the"
    " function",
    NameError: "a misspelt name, or one from a cell that has not been run",
}
"""What an exception is mostly due to; the first kind that fits counts."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two sides of the `assert` that failed."""

    operator: str
    left: object
    right: object


@dataclass(frozen=True, slots=True)
class Verdict:
    """A failed test with all that was seen of it."""

    test: str
    docstring: str
    error: BaseException
    statement: str  # of the test, or of a helper in its file
    calls: Sequence[Call]
    comparison: Comparison | None  # where an `assert` compared
    watch: Watch
    kinds: tuple[type, ...]  # those that the function's annotation allows
    wanted: str  # the exception that the test waited for, in words

    @property
    def raised(self) -> bool:
        """Whether the learner's code raised, and not the test."""
        return isinstance(self.error, TimeUp) or any(
            call.error is self.error for call in self.calls
        )


def explain(verdict: Verdict) -> Failure:
    """Return the failure that a learner reads."""
    requirement, advice = split_docstring(verdict.docstring, verdict.test)
    call, expected = _subject(verdict)
    evidence: list[tuple[str, str]] = []
    if call:
        arguments = [shorten(value) for value in call.arguments]
        arguments += [f"{key}={shorten(v)}" for key, v in call.keywords.items()]
        evidence.append(("called", f"{verdict.watch.name}({', '.join(arguments)})"))
    evidence += _outcome(verdict, call, expected)
    # What Python prints when the alarm rings in a callback is not the learner's.
    if call and call.printed.strip() and TimeUp.__qualname__ not in call.printed:
        evidence.append(("printed", clip(repr(call.printed), LONG)))
    cause = _cause(verdict, call, expected) or advice
    if cause:
        evidence.append(("perhaps", cause))
    return Failure(requirement, verdict.test, tuple(evidence))


def split_docstring(docstring: str, test: str) -> tuple[str, str]:
    """Return a test's requirement and its own guess, which may be empty."""
    paragraphs = [" ".join(p.split()) for p in docstring.strip().split("\n\n")]
    requirement = paragraphs[0] or test.removeprefix("test_").replace("_", " ")
    advice = next((p for p in paragraphs[1:] if p.startswith("perhaps:")), "")
    return requirement, advice.removeprefix("perhaps:").strip()


def _subject(verdict: Verdict) -> tuple[Call | None, Comparison | None]:
    """Return the call that the assertion is about, and what it had to be.

    In the comparison that comes back, `left` is what the call returned. A value stands
    for the call where the test names it: of `x.ok is True` neither side does.
    """
    calls, compared = list(verdict.calls), verdict.comparison
    if verdict.raised:
        calls = [c for c in calls if c.error is verdict.error] or calls
    elif compared:
        turned = Comparison(compared.operator, compared.right, compared.left)
        texts = _asserted(verdict.statement)[1:]
        for text, sides in zip(texts, (compared, turned), strict=False):
            named = text.isidentifier() or text.startswith(f"{verdict.watch.name}(")
            for call in reversed(calls if named else []):
                if call.returned and call.result is sides.left:
                    return call, sides
    return (calls[-1] if calls else None), None


def _outcome(
    verdict: Verdict, call: Call | None, compared: Comparison | None
) -> Iterator[tuple[str, str]]:
    """Yield what came of the call, and what should have."""
    error = verdict.error
    if isinstance(error, ArgumentChanged) and call and call.changed:
        name, before, after = call.changed
        yield "changed", f"{name}, which is now {shorten(after)}"
        yield "expected", f"{name} stays {shorten(before)}"
        return
    returned = call is not None and call.returned
    if call and returned:
        yield "returned", shorten(call.result)
    elif call and call.error and (verdict.raised or verdict.wanted):
        late = isinstance(call.error, TimeUp)
        yield "stopped" if late else "raised", describe_error(call.error)
        if place := error_place(call.error, verdict.watch.original):
            yield "at", place
    if verdict.wanted:
        yield "expected", verdict.wanted + (" is raised" if returned else "")
    elif verdict.raised:
        return
    elif compared and compared.operator in ("==", "is"):
        yield "expected", shorten(compared.right)
        if parts := difference(compared.left, compared.right):
            yield "differs", parts
        if reason := _reason(error):
            yield "because", reason
    elif call and returned and not isinstance(call.result, verdict.kinds):
        kinds = in_words(*verdict.kinds), in_words(type(call.result))
        yield "expected", "{}, not {}".format(*kinds)
    else:
        yield from _in_the_tests_words(verdict, compared)


def _in_the_tests_words(
    verdict: Verdict, about: Comparison | None
) -> Iterator[tuple[str, str]]:
    """Say what the test wanted as it stands in the test, for want of two values."""
    error, compared = verdict.error, verdict.comparison
    condition, *sides = _asserted(verdict.statement)
    if not isinstance(error, AssertionError):
        statement = condition or verdict.statement.strip()
        yield "but", f"in the test, {statement} raises {describe_error(error)}"
    elif not condition:
        yield "expected", clip(written(error, str).strip().split("\n")[0], 300)
    elif reason := _reason(error):
        yield "expected", condition
        yield "because", reason
    elif compared and compared.operator in ("==", "is") and sides:
        right = shorten(compared.right)
        yield "expected", f"{sides[0]} {compared.operator} {right}"
        yield "but", f"it is {shorten(compared.left)}"
    else:
        yield "expected", condition
        if compared and not about:
            left, right = shorten(compared.left), shorten(compared.right)
            yield "but", f"{left} {compared.operator} {right} is not so"


def _asserted(statement: str) -> tuple[str, ...]:
    """Return what an `assert` asserts, and its two sides where it compares two.

    >>> _asserted("assert f(1) == 2, 'a message'")
    ('f(1) == 2', 'f(1)', '2')
    """
    try:
        nodes = ast.parse(statement.strip()).body
    except SyntaxError:
        return ("",)
    match nodes:
        case [ast.Assert(test=ast.Compare(left=left, comparators=[right]) as test)]:
            return clip(ast.unparse(test), 300), ast.unparse(left), ast.unparse(right)
        case [ast.Assert(test=test)]:
            return (clip(ast.unparse(test), 300),)
    return ("",)


def _reason(error: BaseException) -> str:
    """Return the message of an `assert` that has one."""
    message, _, _ = f"\n{written(error, str)}".partition("\nassert ")
    return clip(message.strip(), 300)


def _cause(verdict: Verdict, call: Call | None, compared: Comparison | None) -> str:
    """Return a likely cause in a few words, or an empty text."""
    error, watch = verdict.error, verdict.watch
    if verdict.raised or isinstance(error, ArgumentChanged):
        own = f"{watch.original.__name__}()"
        if isinstance(error, TypeError) and own in written(error, str):
            return "keep the parameters of the stub: the tests call it with them"
        found = (cause for kind, cause in CAUSES.items() if isinstance(error, kind))
        return next(found, "")
    if call is None or not call.returned:
        return ""
    equal = compared is not None and compared.operator in ("==", "is")
    if call.result is None and not (compared and compared.right is None):
        if watch.values:  # so it has a return
            return ""
        prints = "it prints its result; return it instead"
        return prints if call.printed.strip() else "did you forget a return?"
    return _slip(call, compared.right) if compared and equal else ""


def _slip(call: Call, wanted: object) -> str:
    """Return what makes a result differ from the one that was wanted."""
    result = call.result
    if len(call.arguments) == 1 and result is call.arguments[0]:
        return "it returns its argument as it came"
    if isinstance(result, str) and isinstance(wanted, str):
        if result.split() == wanted.split():
            return "only spaces or line ends differ"
        return "only capitals differ" if result.lower() == wanted.lower() else ""
    have, want = in_words(type(result)), in_words(type(wanted))
    return f"it returns {have} where {want} is expected" if have != want else ""


class _Nothing:
    def __repr__(self) -> str:
        return "nothing"


def difference(found: object, wanted: object) -> str:
    """Say where two texts of many lines, or two long lists, part; '' for short ones.

    >>> difference(["a" * 60, "b" * 60, "c"], ["a" * 60, "b" * 60, "d"])
    "in item 3: 'c', not 'd'"
    """
    match found, wanted:
        case str(), str():
            noun, ours, theirs = "line", found.split("\n"), wanted.split("\n")
        case list(), list():
            noun, ours, theirs = "item", found, wanted
        case _:
            return ""
    if len(shorten(found)) + len(shorten(wanted)) <= LONG:
        return ""
    pairs = zip_longest(ours, theirs, fillvalue=_Nothing())
    for number, (have, want) in enumerate(pairs, start=1):
        if differs(have, want):
            return f"in {noun} {number}: {shorten(have, 120)}, not {shorten(want, 120)}"
    return ""


def result_kinds(function: Callable[..., Any]) -> tuple[type, ...]:
    """Return the types that a function's annotation allows for its result.

    >>> result_kinds(in_words)
    (<class 'str'>,)
    """
    hint = get_type_hints(function).get("return", object)
    several = get_origin(hint) in (Union, UnionType, Literal)
    parts = get_args(hint) if several else (hint,)
    kinds = tuple(
        get_origin(p) or (p if isinstance(p, type) else type(p)) for p in parts
    )
    return (object,) if Any in kinds else kinds


def in_words(*kinds: type) -> str:
    """Return what a learner calls these types: `text`, `a number`, `a list`.

    >>> in_words(int, float)
    'a number'
    """
    names = {str: "text", int: "a number", float: "a number", NoneType: "None"}
    words = (names.get(kind) or with_article(kind.__name__) for kind in kinds)
    return " or ".join(dict.fromkeys(words))
