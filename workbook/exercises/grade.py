"""Running an exercise's tests on a function: pytest, in this process, in silence.

`grade` collects the tests that take the exercise's fixture, hands them the function
under watch, and returns a `Report`. It writes no file, keeps no state, loads no plugin
of the environment, and leaves the interpreter as it found it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Any

import pytest
from _pytest.assertion import util as assertion_util

from workbook.exercises.call_recorder import Watch, harmless
from workbook.exercises.catalogue import CourseError, Exercise
from workbook.exercises.explain import explain, full_traceback
from workbook.exercises.guesses import allowed_kinds
from workbook.exercises.isolation import as_it_was, quick_hypothesis
from workbook.exercises.report import Failure, Outcome, Report
from workbook.exercises.subjects import fixtures
from workbook.exercises.time_limit import TimeUp, time_limit
from workbook.exercises.verdict import Comparison, Verdict
from workbook.exercises.wanted import wanted_error, wanted_value
from workbook.paths import ROOT

TIME_LIMIT_S = 2.0
"""Computing time that one test may take."""

_UNUSED = """
    cacheprovider capture debugging doctest faulthandler junitxml legacypath logging
    pastebin setuponly setupplan stepwise subtests terminal threadexception unittest
    unraisableexception warnings
"""
_ARGUMENTS = [
    *(argument for name in _UNUSED.split() for argument in ("-p", f"no:{name}")),
    "--disable-plugin-autoload",
    "--noconftest",
    "--import-mode=importlib",
    f"--rootdir={ROOT}",
    f"--confcutdir={ROOT}",
    "-o",
    "addopts=",
]


def grade(exercise: Exercise, function: Callable[..., Any]) -> Report:
    """Run the exercise's tests on a function.

    Raises:
        CourseError: the tests themselves could not be run.
        KeyboardInterrupt: somebody stopped it.
    """
    if not exercise.tests_path.is_file():
        raise CourseError(
            f"The tests of {exercise.slug} are missing: {exercise.tests_path}. The"
            " exercises need the whole repository: `pip install -e .` in a clone of it."
        )
    kinds = allowed_kinds(exercise.function())
    watch = Watch(function, exercise.slug, exercise.mutates, kinds)
    grader = _Grader(exercise, watch)
    arguments = [*_ARGUMENTS, str(exercise.tests_path)]
    plugins = [grader, fixtures({exercise.slug: watch.function})]
    with as_it_was(exercise), harmless(), quick_hypothesis(exercise):
        code = pytest.main(arguments, plugins=plugins)
    interrupted = code == pytest.ExitCode.INTERRUPTED
    if interrupted and not (grader.timed_out or grader.broken):
        raise KeyboardInterrupt
    if grader.broken or not grader.requirements:
        reason = grader.broken or f"no test in {exercise.tests} takes {exercise.slug}"
        raise CourseError(f"The tests of {exercise.slug} cannot run: {reason}")
    return grader.report()


class _Grader:
    """The pytest plugin of one run: keeps an exercise's tests and what they found."""

    def __init__(self, exercise: Exercise, watch: Watch) -> None:
        self.exercise = exercise
        self.watch = watch
        self.requirements: dict[str, Verdict | None] = {}
        self.broken = ""
        self.timed_out = False
        self._comparison: Comparison | None = None

    def pytest_configure(self, config: pytest.Config) -> None:
        """Know a mark whose plugin is left out; what warns is not shown anyway."""
        config.addinivalue_line("markers", "filterwarnings: of the warnings plugin")

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Keep the tests that take the exercise's fixture."""
        slug = self.exercise.slug
        items[:] = [i for i in items if slug in getattr(i, "fixturenames", ())]
        self.requirements = {_name(item): None for item in items}

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Note that the test file cannot be imported."""
        if report.failed:
            self.broken = str(report.longrepr).strip().splitlines()[-1]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, None, None]:
        """Limit the time, and note the two sides of a comparison that fails."""
        self.watch.calls.clear()
        self._comparison = None
        # pytest's own explanation compares line by line: minutes, for a megabyte.
        assertion_util._reprcompare = self._note
        with time_limit(TIME_LIMIT_S):
            yield

    def _note(self, operator: str, left: object, right: object) -> None:
        self._comparison = Comparison(operator, left, right)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> pytest.TestReport:
        """Keep the first failure of each requirement, in place of pytest's text."""
        error = call.excinfo.value if call.excinfo else None
        if call.excinfo and error is not None:
            if call.when == "call":
                self._keep(item, call.excinfo)
            else:
                self.broken = f"{item.name}: {type(error).__name__}: {error}"
            if isinstance(error, TimeUp):
                self.timed_out = True
                item.session.shouldstop = "time up"
        return pytest.TestReport(
            item.nodeid,
            item.location,
            {},
            "passed" if error is None else "failed",
            None,
            "call" if call.when == "collect" else call.when,
        )

    def _keep(self, item: pytest.Item, info: pytest.ExceptionInfo[Any]) -> None:
        name = _name(item)
        if self.requirements[name] is None:
            compared = isinstance(info.value, AssertionError)
            own = [entry for entry in info.traceback if entry.path == item.path]
            wanted = (wanted_error(e.frame.raw, e.lineno + 1) for e in reversed(own))
            statement = str(own[-1].statement) if own else ""
            due: tuple[object, ...] = ()
            if own and not compared:
                due = wanted_value(own[-1].frame.raw, statement, self.watch.name)
            self.requirements[name] = Verdict(
                test=name,
                docstring=getattr(item, "function", item).__doc__ or "",
                error=info.value,
                statement=statement,
                calls=tuple(self.watch.calls),
                comparison=self._comparison if compared else None,
                watch=self.watch,
                wanted=next(filter(None, wanted), None),
                due=due,
            )

    def report(self) -> Report:
        """Return what this run found."""
        slug, hint = self.exercise.slug, f"hint({self.exercise.slug})"
        verdicts = [v for v in self.requirements.values() if v is not None]
        total = len(self.requirements)
        passed = total - len(verdicts)
        if self.timed_out:  # what comes after it was not run
            passed = (
                list(self.requirements).index(verdicts[-1].test) - len(verdicts) + 1
            )
        if not verdicts:
            return Report(slug, Outcome.PASSED, passed, total)
        if self.watch.is_stub:
            goal = Failure(self.exercise.goal)
            return Report(
                slug, Outcome.NOT_ATTEMPTED, 0, total, (goal,), next_step=hint
            )
        return Report(
            slug=slug,
            outcome=Outcome.RAISED if verdicts[0].raised else Outcome.WRONG,
            passed=passed,
            total=total,
            failures=tuple(map(explain, verdicts)),
            next_step=hint,
            traceback=full_traceback(verdicts[0].error),
        )


def _name(item: pytest.Item) -> str:
    return getattr(item, "originalname", None) or item.name
