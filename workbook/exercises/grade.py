"""Running an exercise's tests on a function: pytest, in this process, in silence.

`grade` collects the tests that take the exercise's fixture, hands them the function
under watch, and returns a `Report`. It writes no file, keeps no state, loads no plugin
of the environment, and leaves the interpreter as it found it. What may never come back
is sent ahead.
"""

import builtins
import inspect
import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from itertools import zip_longest
from types import MappingProxyType, ModuleType
from typing import Any, Literal

import pytest
from _pytest.assertion import util as assertion_util

from workbook.exercises.ahead import (
    Tell,
    possible,
    run_ahead,
    told_in_the_terminal,
)
from workbook.exercises.call_recorder import InputAsked, Printed, Watch
from workbook.exercises.catalogue import CourseError, Exercise, exercises
from workbook.exercises.explain import Comparison, Seen, explain, requirement
from workbook.exercises.report import Failure, Outcome, Report, error_in_words
from workbook.exercises.time_limit import TimeUp, time_limit
from workbook.paths import ROOT, user_cache

TIME_LIMIT_S = 2.0  # of computing time, for one test

_UNUSED = """
    cacheprovider capture debugging doctest faulthandler junitxml legacypath logging
    pastebin setuponly setupplan stepwise subtests terminal threadexception unittest
    unraisableexception warnings
"""
_ARGUMENTS = [
    *(argument for name in _UNUSED.split() for argument in ("-p", f"no:{name}")),
    *("--disable-plugin-autoload", "--noconftest", "--import-mode=importlib"),
    *(f"--rootdir={ROOT}", f"--confcutdir={ROOT}", "-o", "addopts="),
]
_raises = pytest.raises


def grade(
    exercise: Exercise, function: Callable[..., Any], *, ahead: bool = False
) -> Report:
    """Run the exercise's tests on a function; a `CourseError`: they cannot be run.

    With `ahead` a copy of this process tries them first, where that is possible.
    """
    slug = exercise.slug
    run = _Run(exercise, Watch(function, slug), ahead and possible())
    quiet = warnings.catch_warnings(action="ignore")  # of marks without their plugin
    with harmless(), quiet, pytest.MonkeyPatch.context() as patch, _quick(exercise):
        _keep_apart(patch, exercise)
        patch.setattr(pytest, "raises", run.raises)
        own = inspect.unwrap(function)
        if own.__name__ == slug:  # so that it finds itself, below `@check` too
            patch.setitem(getattr(own, "__globals__", {}), slug, function)
        plugins = [run, fixtures(**{slug: lambda: run.watch.function})]
        told = ahead and not run.ahead
        with told_in_the_terminal() if told else nullcontext():
            code = pytest.main([*_ARGUMENTS, str(exercise.tests_path)], plugins=plugins)
    if code == pytest.ExitCode.INTERRUPTED and not run.broken:
        raise KeyboardInterrupt
    if run.broken or not run.requirements:
        reason = run.broken or f"no test in {exercise.tests} takes {slug}"
        raise CourseError(
            f"The tests of {slug} cannot run: {reason}. The exercises need the whole"
            " repository: `pip install -e .` in a clone of it."
        )
    return run.found or run.report()


def fixtures(**subjects: Callable[[], Callable[..., Any]]) -> ModuleType:
    """Return a pytest plugin with a fixture an exercise: of `subjects`, else ours."""
    plugin = ModuleType("workbook_subjects")
    ours = {slug: exercise.function for slug, exercise in exercises().items()}
    for slug, subject in {**ours, **subjects}.items():
        # A session's: hypothesis refuses the fixtures of a single test.
        fixture = pytest.fixture(scope="session", name=slug)
        setattr(plugin, slug, fixture(lambda subject=subject: subject()))
    return plugin


@contextmanager
def harmless() -> Iterator[None]:
    """Keep learners' code from printing, asking, and ending the process or kernel."""

    def refuse(*_: object) -> str:
        raise InputAsked("input() waits for a person; use the function's arguments")

    sink = Printed()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtins, "input", refuse)
        if "IPython" in sys.modules and (shell := sys.modules["IPython"].get_ipython()):
            patch.setattr(shell, "ask_exit", sys.exit)
        with redirect_stdout(sink), redirect_stderr(sink):
            yield


def _keep_apart(patch: pytest.MonkeyPatch, exercise: Exercise) -> None:
    """Have the test file imported afresh, and what pytest changes put back."""
    for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
        patch.delenv(name, raising=False)
    patch.setenv("PYTEST_CURRENT_TEST", "")
    # Not into the folder of the notebook.
    patch.setenv("HYPOTHESIS_STORAGE_DIRECTORY", str(user_cache() / "hypothesis"))
    patch.setattr(assertion_util, "_config", None)
    for name, module in list(sys.modules.items()):
        if getattr(module, "__file__", None) == str(exercise.tests_path):
            patch.delitem(sys.modules, name)


@contextmanager
def _quick(exercise: Exercise) -> Iterator[None]:
    """Let property tests run without a database, the same way each time."""
    path = exercise.tests_path
    if not path.is_file() or b"hypothesis" not in path.read_bytes():
        yield
        return
    from hypothesis import HealthCheck, Phase, settings

    before = settings.get_current_profile_name()
    settings.register_profile(
        "workbook-check",
        settings.get_profile("ci"),  # no database, no deadline, not random
        max_examples=25,
        phases=[Phase.explicit, Phase.generate, Phase.shrink],
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )
    settings.load_profile("workbook-check")
    try:
        yield
    finally:
        settings.load_profile(before)


class _Run:
    """The pytest plugin of one run: keeps an exercise's tests and what they found."""

    def __init__(self, exercise: Exercise, watch: Watch, ahead: bool) -> None:
        self.exercise = exercise
        self.watch = watch
        self.ahead = ahead
        self.tell: Tell = lambda report: None
        self.found: Report | None = None  # by the copy, and final
        self.requirements: set[str] = set()
        self.begun: set[str] = set()
        self.failures: dict[str, Failure] = {}  # the first of each requirement
        self.broken = ""
        self._compared: Comparison | None = None
        self._wanted = ""

    @contextmanager
    def raises(self, kinds: Any, **options: Any) -> Iterator[Any]:
        """Do what `pytest.raises` does, and remember what is waited for."""
        self._wanted = error_in_words(kinds, options.get("match"))
        with _raises(kinds, **options) as info:
            yield info
        self._wanted = ""

    def pytest_collection_modifyitems(self, items: list[pytest.Function]) -> None:
        items[:] = [item for item in items if self.exercise.slug in item.fixturenames]
        self.requirements = {item.originalname for item in items}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.failed:
            self.broken = str(report.longrepr).strip().splitlines()[-1]

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Send a copy ahead; what it found may be all that there is to do."""
        code = getattr(inspect.unwrap(self.watch.original), "__code__", None)
        if self.ahead and not self.broken and code:
            self.found = run_ahead(lambda tell: self._in_the_copy(session, tell), code)
        return True if self.found else None

    def _in_the_copy(self, session: pytest.Session, tell: Tell) -> Report | None:
        self.tell = tell
        for item, following in zip_longest(session.items, session.items[1:]):
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self.broken or session.shouldfail:
                break
        return None if self.broken else self.report()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Generator[None]:
        """Limit the time, and note the two sides of a comparison that fails."""
        self.begun.add(item.originalname)
        never = Failure(requirement(item.function), item.originalname, raised=True)
        self.tell(self.report({item.originalname: never}))
        self.watch.calls.clear()
        self._compared, self._wanted = None, ""
        # pytest's own explanation compares line by line: minutes, for a megabyte.
        assertion_util._reprcompare = lambda *found: setattr(self, "_compared", found)
        with time_limit(TIME_LIMIT_S):
            yield

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Function, call: Any) -> Any:
        """Keep the first failure of each requirement, in place of pytest's text."""
        if (info := call.excinfo) and call.when == "call":
            if item.originalname not in self.failures:
                self.failures[item.originalname] = self._failure(item, info)
            if isinstance(info.value, TimeUp):
                item.session.shouldfail = "time up"
        elif info:
            self.broken = f"{item.name}: {type(info.value).__name__}: {info.value}"
        end: Literal["failed", "passed"] = "failed" if info else "passed"
        return pytest.TestReport(item.nodeid, item.location, {}, end, None, "call")

    def _failure(self, item: pytest.Function, info: Any) -> Failure:
        own = [entry for entry in info.traceback if entry.path == item.path]
        statement = str(own[-1].statement) if own else ""
        compared = self._compared if isinstance(info.value, AssertionError) else None
        test, watch, wanted = item.function, self.watch, self._wanted
        return explain(Seen(test, info.value, statement, watch, compared, wanted))

    def report(self, first: Mapping[str, Failure] = MappingProxyType({})) -> Report:
        """Return what was found, with these failures before the others."""
        slug, total = self.exercise.slug, len(self.requirements)
        failures = tuple({**first, **self.failures, **first}.values())
        if not failures:
            return Report(slug, Outcome.PASSED, total, total)
        if 0 < self.watch.count == self.watch.unwritten:  # a stub
            goal = (Failure(self.exercise.goal),)
            return Report(slug, Outcome.NOT_ATTEMPTED, 0, total, goal)
        outcome = Outcome.RAISED if failures[0].raised else Outcome.WRONG
        met, left = len(self.begun) - len(failures), total - len(self.begun)
        note = f"{left} of {total} were not looked at." if left else ""
        return Report(slug, outcome, met, total, failures, note)
