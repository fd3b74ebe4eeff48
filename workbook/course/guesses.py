"""Likely causes of a failure: the mistakes that beginners make most.

Each guess rests on the recorded call alone, and is offered as no more than a guess.
"""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from workbook.course.limits import TimeUp
from workbook.course.report import written
from workbook.course.verdict import Comparison, Verdict
from workbook.course.watching import ArgumentChanged, Call, InputAsked, Watch


def guess_cause(
    verdict: Verdict, call: Call | None, expected: Comparison | None
) -> str:
    """Return a likely cause in a few words, or an empty text.

    Args:
        verdict: the failed test.
        call: the call that its assertion is about.
        expected: the comparison with what the call returned on its left.
    """
    if isinstance(verdict.error, ArgumentChanged):
        return "work on a copy, and return that"
    if verdict.raised:
        return _guess_error(verdict.error, verdict.watch)
    if call is None or not call.returned:
        return ""
    result = call.result
    if result is None and not (expected and expected.right is None):
        if call.printed.strip():
            return "it prints its result; return it instead"
        return "did you forget a return?"
    if expected and expected.operator == "==":
        return _guess_value(result, expected.right, call)
    return ""


def _guess_error(error: BaseException, watch: Watch) -> str:
    text = written(error, str)
    match error:
        case TimeUp():
            return "a loop whose condition never changes, or that never reaches its end"
        case RecursionError():
            return "the function calls itself and has no case in which it stops"
        case SystemExit():
            return "return a value; exit() would end the whole program"
        case InputAsked():
            return "what you need is in the arguments"
        case NotImplementedError():
            return "one way through the function still ends at the stub's last line"
        case UnboundLocalError():
            return "a variable gets its value only on some ways through the function"
        case NameError():
            return "a misspelt name, or one from a cell that has not been run"
        case TypeError() if f"{watch.original.__name__}()" in text:
            return "keep the parameters of the stub: the tests call it with them"
        case AttributeError() | TypeError() if "NoneType" in text:
            return "something found nothing and gave None: a search, a get, a function"
        case IndexError() | KeyError():
            return "the thing looked up is not always there; ask first"
    return ""


def _guess_value(result: Any, wanted: Any, call: Call) -> str:
    numbers = (int, float)
    if any(result is argument for argument in call.arguments):
        return "it returns its argument as it came"
    if isinstance(result, bool) or isinstance(wanted, bool):
        kinds = type(result).__name__, type(wanted).__name__
        return (
            ""
            if kinds[0] == kinds[1]
            else f"it returns {_a(kinds[0])} where {_a(kinds[1])} is expected"
        )
    if isinstance(result, str) and isinstance(wanted, numbers):
        return "it returns text where a number is expected"
    if isinstance(wanted, str) and isinstance(result, numbers):
        return "it returns a number where text is expected"
    if isinstance(result, numbers) and isinstance(wanted, numbers):
        return (
            "one off: where does the count begin?" if abs(result - wanted) == 1 else ""
        )
    if isinstance(result, str) and isinstance(wanted, str):
        if result.split() == wanted.split():
            return "only spaces or line ends differ"
        return "only capitals differ" if result.lower() == wanted.lower() else ""
    if type(result) is not type(wanted):
        kinds = type(result).__name__, type(wanted).__name__
        return f"it returns {_a(kinds[0])} where {_a(kinds[1])} is expected"
    if is_dataclass(result):
        names = [
            name
            for name in result.__dataclass_fields__
            if getattr(result, name) != getattr(wanted, name)
        ]
        return f"only {names[0]} differs" if len(names) == 1 else ""
    lists = isinstance(result, list) and isinstance(wanted, list)
    if lists and sorted(map(repr, result)) == sorted(map(repr, wanted)):
        return "the right items in another order"
    return ""


def _a(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"
