"""A function under watch: what it was called with, what came back, what it did besides.

`Watch.function` stands in for it in a test, and the last calls are kept for a report.
"""

import functools
import inspect
import io
import sys
import time
from collections import Counter, deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from types import CodeType
from typing import Any

from workbook.exercises.time_limit import TimeUp, guarded


class ArgumentChanged(AssertionError):  # noqa: N818 - what happened
    """The function changed what it was given: its name, before, after."""


class InputAsked(RuntimeError):  # noqa: N818 - what happened
    """The function asked the person at the keyboard, in a check that has none."""


class Printed(io.StringIO):
    """Keeps the first 2,000 characters of what is printed, and drops the rest."""

    def write(self, text: str, /) -> int:
        super().write(text[: max(0, 2000 - self.tell())])
        return len(text)


@dataclass(slots=True)
class RecordedCall:
    """One call: the arguments as they were before it, and what came of it."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any = None
    error: BaseException | None = None
    printed: str = ""


class Watch:
    """Keeps what a function does while tests call it; `name` is the one in reports."""

    def __init__(self, original: Callable[..., Any], name: str) -> None:
        self.original = original
        self.name = name
        self.calls: deque[RecordedCall] = deque(maxlen=50)
        self.count = 0
        self.values = 0  # calls that gave something else than None
        self.unwritten = 0  # calls that met the stub's own error, or no code at all
        code = getattr(inspect.unwrap(original), "__code__", None)
        words = {None, getattr(original, "__doc__", None)}
        self.empty = code and not code.co_names and words.issuperset(code.co_consts)

    @property
    def function(self) -> Callable[..., Any]:
        return functools.wraps(self.original)(lambda *a, **k: self._call(a, k))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = RecordedCall(snapshot(args), snapshot(kwargs))
        self.calls.append(call)
        self.count += 1
        printed = Printed()
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                call.result = guarded(self.original, *args, **kwargs)
            self.values += call.result is not None
            self.unwritten += bool(self.empty) and call.result is None
        except BaseException as error:
            call.error = error
            self.unwritten += isinstance(error, NotImplementedError)
            raise
        finally:
            call.printed = printed.getvalue()
        names = inspect.signature(self.original).parameters
        pairs = list(zip(names, call.arguments, args, strict=False))
        pairs += [(name, call.keywords[name], kwargs[name]) for name in kwargs]
        for name, was, now in pairs:
            if was is not now and differs(was, now):
                raise ArgumentChanged(name, was, snapshot(now))
        return call.result


Counted = tuple[str, Any, list[tuple[str, int, bool]]]


def count_calls(
    function: Any, other: Any, limit_s: float, args: Any, kwargs: Any
) -> Counted:
    """Call a function; return how it ended, with what, and the calls it made alike.

    "returned" comes with the result, "raised" with the error, "hung" with None, after
    `limit_s` of computing. Of calls that begin with equal values, made by code from the
    function's own module or to `other`: name, how many, whether it was `other`.
    """
    there = getattr(type(function), "count_calls", None)
    if there:  # in another process
        return there(function, other, limit_s, args, kwargs)  # type: ignore[no-any-return]
    home = getattr(inspect.unwrap(function), "__globals__", None)
    others = getattr(inspect.unwrap(other), "__code__", None)
    made: Counter[tuple[CodeType, Any]] = Counter()
    began = time.thread_time()

    def look(frame: Any, event: str, _: Any) -> Any:
        if time.thread_time() - began > limit_s:
            raise TimeUp
        frame.f_trace_opcodes = True  # `while True: pass` has no other event
        code, caller = frame.f_code, frame.f_back
        is_plain = code.co_name[0] != "<" and not code.co_flags & inspect.CO_GENERATOR
        by_them = is_plain and caller and caller.f_globals is home
        if event == "call" and (by_them or code is others):
            made[code, _written(frame.f_locals.values())] += 1
        return look

    traced = sys.gettrace()
    sys.settrace(look)
    try:
        ended: tuple[str, Any] = "returned", function(*args, **kwargs)
    except TimeUp:
        ended = "hung", None
    except Exception as error:
        ended = "raised", error
    finally:
        sys.settrace(traced)
    return *ended, [(c.co_name, n, c is others) for (c, _), n in made.items()]


def _written(values: Any) -> Any:
    """Return arguments as text; those that cannot be written are like no others."""
    try:
        return repr([*values])[:200]
    except Exception:  # an object that is not made yet, in its `__init__`
        return object()


def snapshot(value: Any) -> Any:
    """Return a copy of plain containers, all the way down; other things as they are."""
    kind = type(value)
    try:
        if kind in (list, tuple, set, frozenset):
            return kind(map(snapshot, value))
        if kind is dict:
            return {key: snapshot(item) for key, item in value.items()}
    except RecursionError:  # a list that holds itself
        pass
    return value


def differs(before: Any, after: Any) -> bool:
    """Return whether two values differ, and False when they cannot be compared."""
    try:
        return bool(before != after)
    except Exception:
        return False
