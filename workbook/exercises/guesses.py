"""Likely causes of a failure: the mistakes that beginners make most.

Each guess rests on the recorded call alone, and is offered as no more than a guess.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from workbook.exercises.call_recorder import ArgumentChanged, Call, InputAsked, Watch
from workbook.exercises.report import with_article, written
from workbook.exercises.time_limit import TimeUp
from workbook.exercises.verdict import Comparison, Verdict

SMALL = 1000
"""Numbers above this one are not counts, and no slip in counting gives them."""
EXACT = 2**53
"""The largest number up to which a float has every whole number."""


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
        return _guess_none(verdict.watch, call)
    if expected:
        return _guess_value(result, expected.right, call)
    if verdict.stuck or isinstance(result, verdict.watch.kinds):
        return ""
    kinds = in_words(type(result)), in_words(*verdict.watch.kinds)
    return "it returns {} where {} is expected".format(*kinds)


def allowed_kinds(function: Callable[..., Any]) -> tuple[type, ...]:
    """Return the types that a function's annotation allows for its result.

    >>> allowed_kinds(in_words)
    (<class 'str'>,)
    """

    def kinds(annotation: Any) -> tuple[type, ...]:
        origin, parts = get_origin(annotation), get_args(annotation)
        if origin in (Union, UnionType):
            return tuple(kind for part in parts for kind in kinds(part))
        if origin is Literal:
            return tuple(map(type, parts))
        found = origin or annotation
        return (found,) if isinstance(found, type) else (object,)

    return kinds(get_type_hints(function).get("return"))


def in_words(*kinds: type) -> str:
    """Return what a learner calls these types: `text`, `a number`, `a list`.

    >>> in_words(int, float)
    'a number'
    """
    names = {str: "text", int: "a number", float: "a number", NoneType: "None"}
    words = (names.get(kind) or with_article(kind.__name__) for kind in kinds)
    return " or ".join(dict.fromkeys(words))


def _guess_none(watch: Watch, call: Call) -> str:
    if watch.values:  # so it has a return
        way_out = watch.falls_off and NoneType not in watch.kinds
        return "one way through the function ends without a return" if way_out else ""
    if call.printed.strip():
        return "it prints its result; return it instead"
    return "did you forget a return?"


def _guess_error(error: BaseException, watch: Watch) -> str:
    text = written(error, str)
    match error:
        case TimeUp():
            return "a loop whose condition never changes, or that has too many rounds"
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
    if len(call.arguments) == 1 and result is call.arguments[0]:
        return "it returns its argument as it came"
    kinds = in_words(type(result)), in_words(type(wanted))
    if type(result) is int and type(wanted) is int:
        near = abs(result - wanted) == 1 and abs(wanted) < SMALL
        return "one off: where does the count begin?" if near else ""
    if type(result) is float and type(wanted) is int and abs(wanted) > EXACT:
        return "a float keeps 16 digits; an int keeps all of them"
    if isinstance(result, str) and isinstance(wanted, str):
        if result.split() == wanted.split():
            return "only spaces or line ends differ"
        return "only capitals differ" if result.lower() == wanted.lower() else ""
    if kinds[0] != kinds[1]:
        return "it returns {} where {} is expected".format(*kinds)
    if is_dataclass(result) and type(result) is type(wanted):
        names = [
            name
            for name in result.__dataclass_fields__
            if getattr(result, name) != getattr(wanted, name)
        ]
        return f"only {names[0]} differs" if len(names) == 1 else ""
    if isinstance(result, list) and isinstance(wanted, list):
        if sorted(map(repr, result)) == sorted(map(repr, wanted)):
            return "the right items in another order"
        for found, item in zip(result, wanted, strict=False):
            kinds = in_words(type(found)), in_words(type(item))
            plain = type(item).__module__ == "builtins"  # not a stand-in of a test's
            if plain and kinds[0] != kinds[1]:
                return "{} in it, where {} is expected".format(*kinds)
    return ""
