"""From a failed test to words: what was called, what came back, what was expected.

A test's docstring is the requirement. A second paragraph that starts with "perhaps:"
is the test's own guess at the cause; `guesses` has the general ones.
"""

from __future__ import annotations

import ast
import linecache
import traceback
from collections.abc import Callable, Iterator
from typing import Any

from workbook.exercises.call_recorder import ArgumentChanged, Call
from workbook.exercises.guesses import guess_cause, in_words
from workbook.exercises.report import (
    Failure,
    clip,
    difference,
    shorten,
    without_noise,
    written,
)
from workbook.exercises.time_limit import TimeUp
from workbook.exercises.verdict import Comparison, Verdict

VAGUE = (LookupError, AttributeError, TypeError)
"""Errors with so many causes that the test's own guess is told besides the general."""


def explain(verdict: Verdict) -> Failure:
    """Return the failure that a learner reads."""
    requirement, advice = split_docstring(verdict.docstring, verdict.test)
    call, expected = _subject(verdict)
    evidence: list[tuple[str, str]] = []
    if call:
        evidence.append(("called", _call_text(verdict.watch.name, call)))
    evidence += _outcome_lines(verdict, call, expected)
    try:
        guess = guess_cause(verdict, call, expected)
    except Exception:  # it compares values, and those may refuse to be compared
        guess = ""
    late = call is not None and TimeUp.__qualname__ in call.printed  # not theirs
    if call and call.printed.strip() and not late:
        evidence.append(("printed", clip(repr(call.printed), 160)))
    vague = verdict.raised and isinstance(verdict.error, VAGUE)
    causes = [cause for cause in (guess, advice) if cause]
    evidence += zip(("perhaps", "or"), causes[: 2 if vague else 1], strict=False)
    return Failure(requirement, verdict.test, tuple(evidence))


def split_docstring(docstring: str, test: str) -> tuple[str, str]:
    """Return a test's requirement and its own guess, which may be empty."""
    paragraphs = [" ".join(p.split()) for p in docstring.strip().split("\n\n")]
    requirement = paragraphs[0] or test.removeprefix("test_").replace("_", " ")
    advice = next((p for p in paragraphs[1:] if p.startswith("perhaps:")), "")
    return requirement, advice.removeprefix("perhaps:").strip()


def _subject(verdict: Verdict) -> tuple[Call | None, Comparison | None]:
    """Return the call that the assertion is about, and what it had to be.

    In the comparison that comes back, `left` is what the call returned.
    """
    calls, compared = list(verdict.calls), verdict.comparison
    if compared and not verdict.raised:
        left, right = _may_be_result(verdict)
        equal = compared.operator in ("==", "is")
        for call in reversed(calls):
            if call.returned and left and call.result is compared.left:
                return call, compared if equal else None
            if call.returned and right and call.result is compared.right:
                turned = Comparison(compared.operator, compared.right, compared.left)
                return call, turned if equal else None
    if verdict.raised:
        calls = [c for c in calls if c.error is verdict.error] or calls
    return (calls[-1] if calls else None), None


def _may_be_result(verdict: Verdict) -> tuple[bool, bool]:
    """Return which sides of an `assert` are a call of the function, or a name.

    Of `x.ok is True` neither is, also when the function returned False.
    """
    left, right = [
        isinstance(side, ast.Name)
        or (isinstance(side, ast.Call) and ast.unparse(side.func) == verdict.watch.name)
        for side in _sides(verdict.statement)
    ] or (False, False)
    return left, right


def _outcome_lines(
    verdict: Verdict, call: Call | None, expected: Comparison | None
) -> Iterator[tuple[str, str]]:
    error = verdict.error
    if isinstance(error, ArgumentChanged) and call and call.changed:
        name, before, after = call.changed
        yield "changed", f"{name}, which is now {shorten(after)}"
        yield "expected", f"{name} stays {shorten(before)}"
        return
    if verdict.raised:
        late = isinstance(error, TimeUp)
        yield "stopped" if late else "raised", describe_error(error)
        yield from _place_lines(error, verdict)
        if verdict.wanted:
            yield "expected", str(verdict.wanted)
        elif verdict.due:
            yield "expected", shorten(verdict.due[0])
        return
    if call and call.returned:
        yield "returned", shorten(call.result)
    if expected:
        yield "expected", shorten(expected.right)
        parts = difference(call.result, expected.right) if call else ""
        if parts:
            yield "differs", parts
        if _condition(verdict.statement)[1]:
            yield "because", _message(error)
    elif verdict.wanted and call and call.returned:
        yield "expected", f"{verdict.wanted} is raised"
    elif verdict.wanted and call and call.error:
        yield "raised", describe_error(call.error)
        yield from _place_lines(call.error, verdict)
        yield "expected", str(verdict.wanted)
    elif verdict.stuck and call and not isinstance(call.result, verdict.watch.kinds):
        kinds = in_words(*verdict.watch.kinds), in_words(type(call.result))
        yield "expected", "{}, not {}".format(*kinds)
    else:
        yield from _statement_lines(verdict, call)


def _place_lines(error: BaseException, verdict: Verdict) -> Iterator[tuple[str, str]]:
    place = error_place(error, verdict.watch.original)
    if place:
        yield "at", place


def _statement_lines(verdict: Verdict, call: Call | None) -> Iterator[tuple[str, str]]:
    """Say what the test wanted in the test's own words, for want of two values."""
    condition, has_message = _condition(verdict.statement)
    compared, sides = verdict.comparison, _sides(verdict.statement)
    if condition and verdict.stuck:
        yield "expected", condition
        yield "but", f"in the test, this raises {describe_error(verdict.error)}"
    elif condition and has_message:
        yield "expected", condition
        yield "because", _message(verdict.error)
    elif compared and compared.operator in ("==", "is") and sides:
        yield (
            "expected",
            f"{ast.unparse(sides[0])} {compared.operator} {shorten(compared.right)}",
        )
        yield "but", f"it is {shorten(compared.left)}"
    elif condition:
        yield "expected", condition
        values = [compared.left, compared.right] if compared else []
        known = zip(values, _may_be_result(verdict), strict=False)
        if compared and not any(s and call and v is call.result for v, s in known):
            signs = {"!=": "is", "not in": "is in", "in": "is not in"}
            sign = signs.get(compared.operator, f"is not {compared.operator}")
            yield "but", f"{shorten(compared.left)} {sign} {shorten(compared.right)}"
    elif verdict.stuck:
        text = f"{verdict.statement.strip()} raises {describe_error(verdict.error)}"
        yield "but", f"in the test, {text}"
    else:
        message = written(verdict.error, str).strip()
        yield "expected", clip(message.split("\n")[0], 300)


def _message(error: BaseException) -> str:
    """Return what an `assert` says besides its condition."""
    return clip(written(error, str).partition("\nassert ")[0], 300)


def _sides(statement: str) -> list[ast.expr]:
    """Return the two sides of an `assert` that compares two; of another one, none."""
    try:
        match ast.parse(statement.strip()).body:
            case [ast.Assert(test=ast.Compare(left=left, comparators=[right]))]:
                return [left, right]
    except SyntaxError:
        pass
    return []


def _condition(statement: str) -> tuple[str, bool]:
    """Return what an `assert` asserts, and whether it has a message."""
    try:
        node = ast.parse(statement.strip()).body[0]
    except (SyntaxError, IndexError):
        return "", False
    if not isinstance(node, ast.Assert):
        return "", False
    return clip(ast.unparse(node.test), 300), node.msg is not None


def describe_error(error: BaseException) -> str:
    """Return an exception as one line."""
    text = clip(without_noise(" ".join(written(error, str).split())), 240)
    if isinstance(error, TimeUp):
        return text or "not finished in time"
    kind = type(error).__name__
    return f"{kind}: {text}" if text else kind


def full_traceback(error: BaseException) -> str:
    """Return the traceback from the test's own line on, without the machinery's."""
    machinery = ("pluggy", "_pytest", "hypothesis", "workbook/course")
    told = traceback.TracebackException.from_exception(error)
    told.stack = traceback.StackSummary.from_list(
        frame
        for frame in told.stack
        if not any(
            f"/{name}/" in frame.filename.replace("\\", "/") for name in machinery
        )
    )
    return "".join(told.format())


def error_place(error: BaseException, function: Callable[..., Any]) -> str:
    """Return the learner's line that raised: `line 5: x = text[3]`."""
    own = getattr(getattr(function, "__code__", None), "co_filename", None)
    frames = traceback.extract_tb(error.__traceback__)
    frame = next((f for f in reversed(frames) if f.filename == own), None)
    if frame is None:
        return ""
    line = (linecache.getline(frame.filename, frame.lineno or 0) or "").strip()
    return f"line {frame.lineno}: {clip(line, 160)}" if line else ""


def _call_text(name: str, call: Call) -> str:
    arguments = [shorten(value) for value in call.arguments]
    arguments += [f"{key}={shorten(value)}" for key, value in call.keywords.items()]
    return f"{name}({', '.join(arguments)})"
