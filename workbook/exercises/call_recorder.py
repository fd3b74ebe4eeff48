"""A function under watch: what it was called with, what came back, what it did besides.

`Watch.function` stands in for a learner's function in a test. It passes everything on,
and keeps the last calls so that a failure can show them. It knows no test.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import inspect
import io
import sys
import textwrap
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from typing import Any

from workbook.exercises.time_limit import guarded

KEPT_CALLS = 50
KEPT_CHARACTERS = 2000
_DOES_NOTHING = {"NOP", "LOAD_CONST", "RETURN_CONST", "RETURN_VALUE"}


class ArgumentChanged(AssertionError):  # noqa: N818 - what happened
    """The function changed what it was given."""


class InputAsked(RuntimeError):  # noqa: N818 - what happened
    """The function asked the person at the keyboard, in a check that has none."""


class Printed(io.StringIO):
    """Keeps the first characters of what is printed, and drops the rest."""

    def write(self, text: str, /) -> int:
        """Keep what there is room for."""
        super().write(text[: max(0, KEPT_CHARACTERS - self.tell())])
        return len(text)


@dataclass(slots=True)
class Call:
    """One call: the arguments as they were before it, and what came of it."""

    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    result: Any = None
    error: BaseException | None = None
    printed: str = ""
    returned: bool = False
    changed: tuple[str, Any, Any] | None = None  # name, before, after


@dataclass
class Watch:
    """Keeps what a function does while tests call it.

    Args:
        original: the function.
        name: what to call it in a report.
        mutates: whether it may change its arguments; otherwise that is a failure.
        kinds: the types that its result may have.
    """

    original: Callable[..., Any]
    name: str
    mutates: bool = False
    kinds: tuple[type, ...] = (object,)
    calls: deque[Call] = field(default_factory=lambda: deque(maxlen=KEPT_CALLS))
    count: int = 0
    unwritten: int = 0
    values: int = 0  # calls that gave something else than None

    @property
    def function(self) -> Callable[..., Any]:
        """The function to hand to a test."""

        @functools.wraps(self.original)
        def watched(*args: Any, **kwargs: Any) -> Any:
            return self._call(args, kwargs)

        return watched

    @property
    def is_stub(self) -> bool:
        """Whether nothing is written yet.

        Every call so far met a `raise NotImplementedError` of its own, or there is
        nothing but a docstring, `pass` or `...`.
        """
        return self.count > 0 and (self.count == self.unwritten or self._is_empty)

    @property
    def _is_empty(self) -> bool:
        code = getattr(inspect.unwrap(self.original), "__code__", None)
        return code is not None and all(
            step.opname == "RESUME"
            or (step.opname in _DOES_NOTHING and step.argval is None)
            for step in dis.get_instructions(code)
        )

    @property
    def falls_off(self) -> bool:
        """Whether a way through the function surely ends without a `return`."""
        try:
            source = textwrap.dedent(inspect.getsource(self.original))
            function = ast.parse(source).body[0]
        except (OSError, SyntaxError, TypeError):
            return False
        return isinstance(function, ast.FunctionDef) and _falls_off(function.body)

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        before = snapshot(args), snapshot(kwargs)
        call = Call(*before)
        self.calls.append(call)
        self.count += 1
        printed = Printed()
        try:
            with redirect_stdout(printed), redirect_stderr(printed):
                call.result = guarded(self.original, *args, **kwargs)
            call.returned = True
            self.values += call.result is not None
        except BaseException as error:
            call.error = error
            self.unwritten += self._is_unwritten(error)
            raise
        finally:
            call.printed = printed.getvalue()
            if not self.mutates:
                call.changed = self._changed(before, (args, kwargs))
        if call.changed:
            raise ArgumentChanged("the arguments stay as they were")
        return call.result

    def _is_unwritten(self, error: BaseException) -> bool:
        trace = error.__traceback__
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        own = getattr(inspect.unwrap(self.original), "__code__", None)
        return (
            isinstance(error, NotImplementedError)
            and trace is not None
            and trace.tb_frame.f_code is own
        )

    def _changed(self, before: Any, after: Any) -> tuple[str, Any, Any] | None:
        (args, kwargs), (args_now, kwargs_now) = before, after
        try:
            names = list(inspect.signature(self.original).parameters)
        except (TypeError, ValueError):
            names = []
        names += [f"argument {n + 1}" for n in range(len(names), len(args))]
        pairs = list(zip(names, args, args_now, strict=False))
        pairs += [(name, kwargs[name], kwargs_now[name]) for name in kwargs]
        for name, was, now in pairs:
            if was is not now and differs(was, now):
                return name, was, snapshot(now)
        return None


def _falls_off(body: list[ast.stmt]) -> bool:
    match body[-1]:
        case ast.If(body=then, orelse=otherwise):
            return not otherwise or _falls_off(then) or _falls_off(otherwise)
        case ast.With(body=inner):
            return _falls_off(inner)
        case ast.Return() | ast.Raise() | ast.While() | ast.Try() | ast.Match():
            return False
    return True


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


@contextmanager
def harmless() -> Iterator[None]:
    """Keep learners' code from printing, asking, and ending the process.

    `input()` raises `InputAsked`; `exit()` in a notebook, which otherwise ends the
    kernel after the cell, raises `SystemExit` as `sys.exit()` does.
    """

    def leave(*status: object, **_: object) -> None:
        raise SystemExit(*status)

    def refuse(*_: object) -> str:
        raise InputAsked("input() waits for a person; use the function's arguments")

    shell = None
    if "IPython" in sys.modules:
        shell = sys.modules["IPython"].get_ipython()
    ask = builtins.input
    if shell is not None:
        leave_shell = shell.ask_exit
        shell.ask_exit = leave
    builtins.input = refuse
    sink = Printed()
    try:
        with redirect_stdout(sink), redirect_stderr(sink):
            yield
    finally:
        builtins.input = ask
        if shell is not None:
            shell.ask_exit = leave_shell
