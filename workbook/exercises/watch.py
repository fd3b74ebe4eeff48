"""A function under watch: what it was called with, what came back, what it did besides.

`Watch.function` stands in for it in a test, and the last calls are kept for a report.
"""

import functools
import inspect
import io
from collections import deque
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from workbook.exercises.report import called, differs


class ArgumentChanged(AssertionError):  # noqa: N818 - what happened
    """The function changed what it was given: its name, before, after."""


class OwnEquality(AssertionError):  # noqa: N818 - what happened
    """The function returned an object that decides itself what it equals."""


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
    """Keeps what a function does while tests call it.

    Args:
        original: the learner's function.
        name: the one in reports.
        begin: is told each call, as text, before it is made.
    """

    def __init__(
        self,
        original: Callable[..., Any],
        name: str,
        begin: Callable[[str], object] = lambda text: None,
    ) -> None:
        self.original, self.name, self.begin = original, name, begin
        self.calls: deque[RecordedCall] = deque(maxlen=50)
        self.count = 0
        self.unwritten = 0  # calls that met the stub's own error, or no code at all
        code = getattr(inspect.unwrap(original), "__code__", None)
        self.file = code.co_filename if code else ""
        words = {None, getattr(original, "__doc__", None)}
        self.empty = code and not code.co_names and words.issuperset(code.co_consts)

    @property
    def function(self) -> Callable[..., Any]:
        return functools.wraps(self.original)(lambda *a, **k: self._call(a, k))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        call = RecordedCall(snapshot(args), snapshot(kwargs))
        self.calls.append(call)
        self.count += 1
        self.begin(called(self.name, args, kwargs))
        printed = Printed()
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                call.result = self.original(*args, **kwargs)
            self.unwritten += bool(self.empty) and call.result is None
        except BaseException as error:
            call.error = error
            self.unwritten += isinstance(error, NotImplementedError)
            raise
        finally:
            call.printed = printed.getvalue()
        if own := own_equality(call.result, self.original):
            raise OwnEquality(f"a result without an == of its own, which {own} has")
        names = inspect.signature(self.original).parameters
        pairs = list(zip(names, call.arguments, args, strict=False))
        pairs += [(name, call.keywords[name], kwargs[name]) for name in kwargs]
        for name, was, now in pairs:
            if was is not now and differs(was, now):
                raise ArgumentChanged(name, was, snapshot(now))
        return call.result


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


def own_equality(result: Any, function: Callable[..., Any]) -> str:
    """Return the class in a result whose `==` stands in a learner's cell, or "".

    What `@dataclass` writes is Python's own.
    """
    own, values = inspect.unwrap(function), [result]
    own_file = getattr(getattr(own, "__code__", None), "co_filename", None)
    modules = getattr(own, "__module__", None), "unittest.mock"
    for value in values:  # it grows
        kind = next(each for each in type(value).__mro__ if "__eq__" in vars(each))
        code = getattr(vars(kind)["__eq__"], "__code__", None)
        file = getattr(code, "co_filename", "")
        theirs = file == own_file or kind.__module__ in modules
        if theirs and not (is_dataclass(kind) and file == "<string>"):
            return kind.__name__
        if len(values) > 1000:
            break
        if isinstance(value, list | tuple | set | frozenset):
            values += value
        elif isinstance(value, dict):
            values += [*value.keys(), *value.values()]
        elif is_dataclass(value) and not isinstance(value, type):
            values += [getattr(value, each.name, None) for each in fields(value)]
    return ""
