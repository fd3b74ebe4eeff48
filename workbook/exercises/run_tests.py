"""Running an exercise's tests on a function: pytest, once, in this process.

It collects the tests that take the exercise's fixture, hands them the function under
watch, and returns a `Report`. It writes no file and loads no plugin of the environment.
Whether a test ever ends is for whoever started the process to see; see `worker`.
"""

import sys
import warnings
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType, ModuleType
from typing import Any, Literal

import pytest
from _pytest.assertion import util as assertion_util
from hypothesis import HealthCheck, Phase, settings

from workbook.exercises.catalogue import CourseError, Exercise, exercises
from workbook.exercises.explain import Comparison, Seen, explain, requirement
from workbook.exercises.report import (
    Failure,
    Outcome,
    Report,
    describe_error,
    error_in_words,
)
from workbook.exercises.watch import Watch
from workbook.paths import ROOT

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
QUICK = "workbook-check"  # hypothesis without a database, the same way each time
settings.register_profile(
    QUICK,
    settings.get_profile("ci"),
    max_examples=25,
    phases=[Phase.explicit, Phase.generate, Phase.shrink],
    report_multiple_bugs=False,
    suppress_health_check=list(HealthCheck),
)


def run_tests(
    exercise: Exercise,
    function: Callable[..., Any],
    tell: Callable[[Report], object] = lambda report: None,
    begin: Callable[[str], object] = lambda call: None,
) -> Report:
    """Run the exercise's tests on a function; a `CourseError`: they cannot be run.

    Args:
        exercise: whose tests.
        function: the answer.
        tell: is given, before each test, what holds if it never ends.
        begin: is told each call of the function, as text, before it is made.
    """
    slug = exercise.slug
    run = _Run(exercise, Watch(function, slug, begin), tell)
    plugins = [run, fixtures(**{slug: lambda: run.watch.function})]
    quiet = warnings.catch_warnings(action="ignore")  # of marks without their plugin
    profile = settings.get_current_profile_name()
    settings.load_profile(QUICK)
    with quiet, pytest.MonkeyPatch.context() as patch:
        for name in ("PYTEST_ADDOPTS", "PYTEST_PLUGINS"):
            patch.delenv(name, raising=False)
        patch.setattr(pytest, "raises", run.raises)
        patch.setattr(assertion_util, "_config", None)  # pytest leaves it set
        for name, module in [*sys.modules.items()]:  # what it imports it sees compare
            if getattr(module, "__file__", None) == str(exercise.tests_path):
                patch.delitem(sys.modules, name)
        code = pytest.main([*_ARGUMENTS, str(exercise.tests_path)], plugins=plugins)
    settings.load_profile(profile)
    if code == pytest.ExitCode.INTERNAL_ERROR:  # never a pass, whatever was not found
        run.broken = run.broken or "pytest itself broke"
    if run.broken or not run.requirements:
        reason = run.broken or f"no test in {exercise.tests} takes {slug}"
        raise CourseError(
            f"The tests of {slug} cannot run: {reason}. The exercises need the whole"
            " repository: `pip install -e .` in a clone of it."
        )
    return run.report()


def fixtures(**subjects: Callable[[], Callable[..., Any]]) -> ModuleType:
    """Return a pytest plugin with a fixture an exercise: of `subjects`, else ours."""
    plugin = ModuleType("workbook_subjects")
    ours = {slug: exercise.function for slug, exercise in exercises().items()}
    for slug, subject in {**ours, **subjects}.items():
        # A session's: hypothesis refuses the fixtures of a single test.
        fixture = pytest.fixture(scope="session", name=slug)
        setattr(plugin, slug, fixture(lambda subject=subject: subject()))
    return plugin


class EndsAll(AssertionError):  # noqa: N818 - what happened
    """The function raised what would end pytest: KeyboardInterrupt, its own Exit."""


class _Run:
    """The pytest plugin of one run: keeps an exercise's tests and what they found."""

    def __init__(
        self, exercise: Exercise, watch: Watch, tell: Callable[[Report], object]
    ) -> None:
        self.exercise, self.watch, self.tell = exercise, watch, tell
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

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Function) -> Generator[None]:
        """Say what holds if it never ends; note both sides of a failing comparison."""
        self.begun.add(item.originalname)
        never = Failure(requirement(item.function), item.originalname, raised=True)
        self.tell(self.report({item.originalname: never}))
        self.watch.calls.clear()
        self._compared, self._wanted = None, ""
        # pytest's own explanation compares line by line: minutes, for a megabyte.
        assertion_util._reprcompare = self._compare
        try:
            yield
        except (KeyboardInterrupt, pytest.exit.Exception) as error:
            raise EndsAll from error

    def _compare(self, *found: Any) -> None:
        self._compared = Comparison(*found)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Function, call: Any) -> Any:
        """Keep the first failure of each requirement, in place of pytest's text."""
        if (info := call.excinfo) and call.when == "call":
            if item.originalname not in self.failures:
                self.failures[item.originalname] = self._failure(item, info)
        elif info:
            self.broken = f"{item.name}: {type(info.value).__name__}: {info.value}"
        end: Literal["failed", "passed"] = "failed" if info else "passed"
        return pytest.TestReport(item.nodeid, item.location, {}, end, None, "call")

    def _failure(self, item: pytest.Function, info: Any) -> Failure:
        error = info.value.__cause__ if info.type is EndsAll else info.value
        own = [entry for entry in info.traceback if entry.path == item.path]
        statement = str(own[-1].statement) if own else ""
        compared = self._compared if isinstance(error, AssertionError) else None
        found = item.function, error, statement, self.watch
        try:
            return explain(Seen(*found, compared, self._wanted))
        except Exception as problem:  # an object in the answer is not what it says
            evidence = (("raised", describe_error(problem)),)
            return Failure(requirement(item.function), item.originalname, evidence)

    def report(self, first: Mapping[str, Failure] = MappingProxyType({})) -> Report:
        """Return what was found, with these failures before the others."""
        slug, total = self.exercise.slug, len(self.requirements)
        failures = tuple({**first, **self.failures, **first}.values())
        if not failures and self.begun == self.requirements:
            return Report(slug, Outcome.PASSED, total, total)
        if 0 < self.watch.count == self.watch.unwritten:  # a stub
            goal = (Failure(self.exercise.goal),)
            return Report(slug, Outcome.NOT_ATTEMPTED, 0, total, goal)
        raised = bool(failures) and failures[0].raised
        outcome = Outcome.RAISED if raised else Outcome.WRONG
        met, left = len(self.begun) - len(failures), total - len(self.begun)
        note = f"{left} of {total} tests were not run." if left else ""
        return Report(slug, outcome, met, total, failures, note)
