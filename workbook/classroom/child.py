"""The process in which a learner's cells run: it computes, and judges nothing.

It is confined before the first cell. What it is asked comes as data on its standard
input, and goes back as data on what was its standard output.
"""

import builtins
import inspect
import io
import os
import sys
import types
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import workbook
from workbook.classroom.channel import Channel
from workbook.classroom.sandbox import confine
from workbook.exercises import check as exercises_check
from workbook.exercises.call_recorder import InputAsked, Printed, count_calls
from workbook.exercises.catalogue import CourseError, exercises, near_miss
from workbook.exercises.check import named_for_check
from workbook.exercises.grade import TIME_LIMIT_S
from workbook.exercises.report import (
    Failure,
    clip,
    describe_error,
    error_place,
    full_traceback,
)
from workbook.exercises.time_limit import guarded, time_limit

Told = tuple[Any, dict[str, Any]]  # a result, and what stands beside it


class Learner:
    """One notebook: IPython's own shell, whose `check` asks the one who judges."""

    def __init__(self, channel: Channel, limits: list[str]) -> None:
        self.channel, self.limits = channel, limits
        main = types.ModuleType("__main__")
        sys.modules["__main__"] = main
        self.shell = make_shell(main)
        self.namespace = main.__dict__
        exercises_check.check = workbook.check = self.check

    def serve(self, what: str, /, *args: Any, **kwargs: Any) -> Told:
        return getattr(self, f"do_{what}")(*args, **kwargs)  # type: ignore[no-any-return]

    def do_limits(self) -> Told:
        return self.limits, {}

    def do_run(self, number: int, source: str, slugs: list[str]) -> Told:
        """Run one cell; return why it failed, or which functions are there now."""
        done = self.shell.run_cell(source, store_history=True)
        if error := done.error_before_exec or done.error_in_exec:
            failure = _cell_failure(number, error)
            return {"failed": failure.requirement, "evidence": [*failure.evidence]}, {}
        defined = [slug for slug in slugs if callable(self.namespace.get(slug))]
        return {"defined": defined}, {}

    def do_check(self, slug: str) -> Told:
        """Check a function that no cell has checked."""
        self.check(self.namespace.get(slug))
        return None, {}

    def check(self, function: Any, *, traceback: bool = False) -> Any:
        """Stand in for `check`: the verdict is made elsewhere, now, and given back."""
        try:
            slug = named_for_check(function)
        except CourseError as error:
            self.channel.ask(0, "refused", str(error))
            near = exercises().get(near_miss(getattr(function, "__name__", "")) or "")
            return near.function() if near else function
        known = slug in self.namespace
        self.namespace.setdefault(slug, function)  # so that it finds itself
        passed = self.channel.ask(0, "grade", slug, function, _about(function))
        if not known:
            del self.namespace[slug]
        return function if passed else exercises()[slug].function()

    def do_call(self, function: Any, /, *args: Any, **kwargs: Any) -> Told:
        """Call an answer; return the result, and the arguments that it changed."""
        given: dict[Any, Any] = {**dict(enumerate(args)), **kwargs}
        before = {name: self._told(each) for name, each in given.items()}
        printed = Printed()
        try:
            shown = redirect_stdout(printed), redirect_stderr(printed)
            with shown[0], shown[1], time_limit(TIME_LIMIT_S):
                result = guarded(function, *args, **kwargs)
        except BaseException as error:
            place, whole = error_place(error, function), full_traceback(error)
            told = {"place": place, "traceback": whole, "printed": printed.getvalue()}
            error.__dict__["_told"] = told
            raise
        now = {name: self._told(each) for name, each in given.items()}
        changed = [[name, given[name]] for name in given if before[name] != now[name]]
        return (result, changed), {"printed": printed.getvalue()}

    def do_count_calls(self, *given: Any) -> Told:
        """Call a function of the learner's under watch; we alone are asked for that."""
        return count_calls(*given), {}

    def _told(self, value: Any) -> bytes:
        """Return what a container that can change holds, to be compared."""
        if not isinstance(value, list | dict | set):
            return b""
        with self.channel.coding:
            return self.channel.wire.dumps(value)


def make_shell(main: types.ModuleType) -> Any:
    """Return IPython's shell, as a kernel has it, without its history."""
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    quiet = Config({"HistoryManager": {"enabled": False}})
    shell: Any = InteractiveShell.instance(
        config=quiet, user_module=main, user_ns=main.__dict__
    )
    shell.showtraceback = shell.showsyntaxerror = lambda *a, **k: None
    shell.ask_exit = sys.exit
    shell.enable_gui = lambda gui=None: None  # `%matplotlib` asks for it
    shell.system = lambda command: None  # of `!ls`: there is no process to be had
    shell.getoutput = lambda command, **options: []
    return shell


def refuse(*_: object) -> str:
    raise InputAsked("input() waits for a person; use the function's arguments")


def _about(function: Callable[..., Any]) -> dict[str, Any]:
    """Return what a report says of a function: its parameters, whether it is a stub."""
    code = getattr(inspect.unwrap(function), "__code__", None)
    words = {None, getattr(function, "__doc__", None)}
    empty = bool(code and not code.co_names and words.issuperset(code.co_consts))
    try:
        parameters = [
            [each.name, int(each.kind)]
            for each in inspect.signature(function).parameters.values()
        ]
    except (TypeError, ValueError):
        parameters = [["args", 2], ["kwargs", 4]]
    return {"parameters": parameters, "empty": empty}


def _cell_failure(number: int, error: BaseException) -> Failure:
    if isinstance(error, SyntaxError):
        where = f" in line {error.lineno}" if error.lineno else ""
        text = f"cell {number} has a syntax error{where}: {error.msg}"
        return Failure(
            text, evidence=(("line", clip((error.text or "").strip(), 160)),)
        )
    guess = "the name is from a cell further down, or from one that was not run"
    evidence = (("perhaps", guess),) if isinstance(error, NameError) else ()
    return Failure(f"cell {number}: {describe_error(error)}", evidence=evidence)


def main() -> None:
    """Take the line for ourselves, so that nothing that is printed gets onto it."""
    read, write, nothing = os.dup(0), os.dup(1), os.open(os.devnull, os.O_RDWR)
    for each in (0, 1, 2):
        os.dup2(nothing, each)
    sys.stdin, sys.stdout, sys.stderr = io.StringIO(), Printed(), Printed()
    builtins.input = refuse
    limits = confine(Path.cwd())  # before there is a second thread
    channel = Channel(read, write, trusted=True)
    channel.roots[0] = Learner(channel, limits).serve
    channel.serve_forever()
    os._exit(0)  # whatever threads it has begun


if __name__ == "__main__":
    main()
