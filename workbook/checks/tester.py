"""The process that `process.Worker` talks to: `python -m workbook.checks.tester ROOM`.

It takes answers from stdin, a line of JSON each, runs pytest once on each, and writes
a line on stdout before each test: the report that holds if it never returns.
"""

import builtins
import contextlib
import faulthandler
import functools
import inspect
import io
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from types import ModuleType
from typing import Any, Literal

import pytest
from _pytest.assertion import util as assertion_util
from hypothesis import HealthCheck, Phase, settings

from workbook.checks import evidence
from workbook.checks.answer import as_module
from workbook.checks.catalogue import Exercise, exercises, find
from workbook.checks.process import DUMPED
from workbook.paths import ROOT

IDLE_S = 600.0  # after which a process that nobody asks ends
PRINTED = 2000  # characters of a call's output
UNUSED = """
    cacheprovider capture debugging doctest faulthandler junitxml legacypath logging
    pastebin setuponly setupplan stepwise subtests terminal threadexception unittest
    unraisableexception warnings
"""
ARGUMENTS = [
    *(f"-pno:{name}" for name in UNUSED.split()),
    *("--disable-plugin-autoload", "--noconftest", "--import-mode=importlib"),
    *(f"--rootdir={ROOT}", f"--confcutdir={ROOT}", "-o", "addopts="),
]
OWN_EQUALITY = re.compile(r"__eq__|\bmock\b")
_raises = pytest.raises
settings.register_profile(  # without a database, the same way each time
    "workbook-check",
    settings.get_profile("ci"),
    max_examples=25,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


class InputAsked(RuntimeError):  # noqa: N818 - what happened
    """The function asked the person at the keyboard, in a check that has none."""


class EndsAll(AssertionError):  # noqa: N818 - what happened
    """The function raised what would end pytest: KeyboardInterrupt, its own Exit."""


def main(room: str) -> None:
    """Test answers until stdin ends; first import the room of an exercise."""
    requests, out, places = os.fdopen(os.dup(0), "rb"), os.dup(1), os.dup(2)
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    builtins.input = _refuse
    faulthandler.enable(places)  # a crash writes its line
    jobs: queue.Queue[bytes] = queue.Queue()

    def read() -> None:
        for line in requests:
            if line == b"where\n":
                faulthandler.dump_traceback(places)
                os.write(places, DUMPED)
            else:
                jobs.put(line)
        os._exit(0)

    def send(**what: Any) -> None:
        line = f"{mark}{json.dumps(what)}\n".encode()
        while line:
            line = line[os.write(out, line) :]

    threading.Thread(target=read, daemon=True).start()
    with contextlib.suppress(Exception):  # its first answer reports a broken room
        find(room).function()
    settings.load_profile("workbook-check")
    while job := json.loads(jobs.get(timeout=IDLE_S)):
        mark = job.pop("mark")
        send(**_tested(send=send, **job))


def _refuse(*_: object) -> str:
    raise InputAsked("input() waits for a person; use the function's arguments")


def _tested(slug: str, text: str, tests: str, send: Any) -> dict[str, Any]:
    exercise, file = find(slug), f"<{slug}>"
    tests = tests or str(exercise.tests_path)
    failure: dict[str, Any] = {"rule": "its cell can be run", "test": ""}
    report = {"slug": slug, "met": 0, "of": len(exercise.rules()), "note": ""}
    report |= {"outcome": "your code raised", "failures": [failure]}
    send(begun=report)
    try:
        function = as_module(slug, text, file)
        if own := OWN_EQUALITY.search(text):
            raise TypeError(f"{own[0]} decides itself what it equals: no result")
    except BaseException as error:
        failure["evidence"] = [("raised", evidence.in_words(error))]
        if place := evidence.error_place(error, file):
            failure["evidence"].append(("at", place))
        return {"found": report}
    run = Run(exercise, function, send)
    for name, module in [*sys.modules.items()]:  # data that another answer changed
        if getattr(module, "__file__", None) == tests:
            del sys.modules[name]
    pytest.raises = run.raises  # type: ignore[assignment]
    assertion_util._config = None  # pytest leaves it set
    plugins = [run, fixtures(**{slug: lambda: run.watched})]
    if pytest.main([*ARGUMENTS, tests], plugins) == pytest.ExitCode.INTERNAL_ERROR:
        run.broken = run.broken or "pytest itself broke"  # never a pass
    if run.broken or not run.rules:
        why = run.broken or f"no test in {tests} takes {slug}"
        return {"refused": f"The tests of {slug} cannot run: {why}."}
    return {"found": run.report()}


def fixtures(**subjects: Callable[[], Callable[..., Any]]) -> ModuleType:
    """Return a pytest plugin with a fixture an exercise: of `subjects`, else ours."""
    plugin = ModuleType("workbook_subjects")
    for slug, exercise in exercises().items():
        subject = subjects.get(slug, exercise.function)
        # A session's: hypothesis refuses the fixtures of a single test.
        fixture = pytest.fixture(scope="session", name=slug)
        setattr(plugin, slug, fixture(lambda subject=subject: subject()))
    return plugin


class Run:
    """The pytest plugin of one run: an exercise's tests, the function, the failures."""

    def __init__(self, exercise: Exercise, function: Any, send: Any) -> None:
        self.exercise, self.function, self.send = exercise, function, send
        self.rules: dict[str, list[str]] = {}
        self.begun: set[str] = set()
        self.failures: dict[str, dict[str, Any]] = {}  # the first of each rule
        self.raised: set[str] = set()  # rules whose test the function ended
        self.seen = evidence.Seen()  # of the test that runs
        self.count = self.unwritten = 0
        self.broken = ""
        code = getattr(inspect.unwrap(function), "__code__", None)
        self.file = getattr(code, "co_filename", "")
        words = {None, getattr(function, "__doc__", None)}
        self.is_empty = code and not code.co_names and words.issuperset(code.co_consts)
        self.watched = functools.wraps(function)(lambda *a, **k: self._call(a, k))

    def _call(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        names = [*inspect.signature(self.function).parameters]
        given = [*zip(names, args, strict=False), *kwargs.items()]
        before = {name: evidence.plain(value) for name, value in given}
        texts = [evidence.shown(value) for value in args]
        texts += [f"{name}={evidence.clip(before[name])}" for name in kwargs]
        call = evidence.Call(f"{self.exercise.slug}({', '.join(texts)})")
        self.seen.calls.append(call)
        self.count += 1
        self.send(call=call.text)
        printed = io.StringIO()
        out, err = contextlib.redirect_stdout, contextlib.redirect_stderr
        try:
            with out(printed), err(printed):
                call.result = self.function(*args, **kwargs)
            self.unwritten += bool(self.is_empty) and call.result is None
        except BaseException as error:
            call.error = error
            self.unwritten += isinstance(error, NotImplementedError)
            raise
        finally:
            call.printed = printed.getvalue()[:PRINTED]
        for name, value in given:
            is_plain = type(value) in (list, dict, set, tuple)
            if is_plain and (after := evidence.plain(value)) != before[name]:
                raise evidence.ArgumentChanged(name, before[name], after)
        return call.result

    @contextlib.contextmanager
    def raises(self, kinds: Any, **options: Any) -> Iterator[Any]:
        """Do what `pytest.raises` does, and remember what is waited for."""
        self.seen.wanted = evidence.wanted_error(kinds, options.get("match"))
        with _raises(kinds, **options) as info:
            yield info
        self.seen.wanted = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        items[:] = [i for i in items if self.exercise.slug in i.fixturenames]
        for item in items:
            paragraphs = (item.function.__doc__ or item.originalname).strip()
            lines = [" ".join(each.split()) for each in paragraphs.split("\n\n")]
            self.rules[item.originalname] = lines

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken = str(report.longrepr).strip().splitlines()[-1]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Generator[None]:
        """Say what holds if it never ends; note both sides of a failing comparison."""
        name = item.originalname
        self.begun.add(name)
        never = {"rule": self.rules[name][0], "test": name}
        first = {name: never}  # also in place of what it has failed with
        report = self.report(first | self.failures | first)
        self.send(begun=report | {"outcome": "your code raised"})
        self.seen = seen = evidence.Seen()
        # pytest's own explanation compares line by line: minutes, for a megabyte.
        assertion_util._reprcompare = lambda *both: setattr(seen, "compared", both)
        try:
            yield
        except (KeyboardInterrupt, pytest.exit.Exception) as error:
            raise EndsAll from error

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Function, call: Any) -> Any:
        """Keep the first failure of each rule, in place of pytest's text."""
        name, info = item.originalname, call.excinfo
        if info and call.when != "call":
            self.broken = f"{item.name}: {evidence.in_words(info.value)}"
        elif info and name not in self.failures:
            error = info.value.__cause__ if info.type is EndsAll else info.value
            own = [entry for entry in info.traceback if entry.path == item.path]
            statement = str(own[-1].statement) if own else ""
            rule, *guesses = self.rules[name]
            try:
                about = error, statement, guesses, self.file
                found = [*evidence.evidence(self.seen, *about)]
            except Exception as problem:  # an object in the answer is not what it says
                found = [("raised", evidence.in_words(problem))]
            self.failures[name] = {"rule": rule, "test": name, "evidence": found}
            if error in [each.error for each in self.seen.calls]:
                self.raised.add(name)
        end: Literal["failed", "passed"] = "failed" if info else "passed"
        return pytest.TestReport(item.nodeid, item.location, {}, end, None, "call")

    def report(self, failures: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return what was found, with these failures in place of those kept."""
        failed = [*(self.failures if failures is None else failures).values()]
        total, left = len(self.rules), len(self.rules) - len(self.begun)
        report = {"slug": self.exercise.slug, "of": total, "failures": failed}
        report |= {"note": "", "met": len(self.begun) - len(failed)}
        if not failed and not left:
            return report | {"outcome": "passed"}
        if 0 < self.count == self.unwritten:  # a stub
            goal = {"rule": self.exercise.goal, "test": "", "evidence": []}
            return report | {"outcome": "not attempted", "met": 0, "failures": [goal]}
        raised = bool(failed) and failed[0]["test"] in self.raised
        note = f"{left} of {total} tests were not run." if left else ""
        return report | {
            "outcome": "your code raised" if raised else "wrong",
            "note": note,
        }


if __name__ == "__main__":
    main(sys.argv[1])
