"""The pytest plugin: one fixture per exercise, and `--answers`.

By default a fixture `parse_turn` is the package's function: the package is tested.
With `--answers PATH` each exercise in each notebook is one item, and all there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import collect_one_node

from workbook.classroom.rows import COLUMNS, UNGRADED, message_of
from workbook.classroom.table import Cell, write_table, write_whole
from workbook.exercises.catalogue import CourseError
from workbook.exercises.report import Outcome, Report, describe_error

if TYPE_CHECKING:
    from workbook.classroom.answers import Answers
    from workbook.classroom.results import Graded


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workbook", "exercises of the workbook")
    group.addoption(
        "--answers",
        metavar="PATH",
        type=Path,
        help="grade a notebook, or all of a folder with one subfolder per learner, in"
        " place of the test suite, each notebook in a process of its own.",
    )
    group.addoption("--answers-csv", metavar="FILE", type=Path, help="the results")


def pytest_configure(config: pytest.Config) -> None:
    from workbook.exercises.grade import fixtures

    answers, table = config.getoption("--answers"), config.getoption("--answers-csv")
    try:
        if answers:
            plugin = AnswersPlugin(answers.resolve(), table)
            config.pluginmanager.register(plugin, "workbook-answers")
            config.option.reportchars = "N"  # else a list of the failures ends the page
        elif table:
            raise CourseError("--answers-csv needs --answers PATH")
        config.pluginmanager.register(fixtures(), "workbook-fixtures")
    except CourseError as error:
        raise pytest.UsageError(str(error)) from None


class AnswerFailed(Exception):  # noqa: N818 - what happened, not an error's name
    """An answer that is wrong, or that raised; its text is what the learner reads."""


class NotebookFile(pytest.File):
    """A learner's notebook, judged when the first of its exercises is asked for."""

    @cached_property
    def answers(self) -> Answers:
        """What can be told of it before anything is run."""
        from workbook.classroom.answers import read_answers

        return read_answers(self.path)

    @cached_property
    def graded(self) -> dict[str, Graded]:
        from workbook.classroom.judge import judge
        from workbook.classroom.results import Graded, Submission

        try:
            text = self.path.read_text(encoding="utf-8")
            found = judge(Submission("", self.path.name, text)).graded
        except Exception as error:  # the others are graded all the same
            why = f"the judge ended: {describe_error(error)}"
            found = tuple(Graded(slug, None, why) for slug in self.answers.slugs)
        return {graded.slug: graded for graded in found}

    def collect(self) -> Iterator[ExerciseItem]:
        for slug in self.answers.slugs:
            yield ExerciseItem.from_parent(self, name=slug)


class ExerciseItem(pytest.Item):
    """One exercise of one notebook."""

    parent: NotebookFile

    def runtest(self) -> None:
        from workbook.exercises.display import as_message

        answers = self.parent.answers
        if answers.problem:
            report: Report | None = answers.report(self.name)
        else:
            found = self.parent.graded.get(self.name)
            report = found.report if found else None
        if report is None:
            why = found.problem if found else "the judge did not report on it"
            raise CourseError(why)
        self.user_properties.append(("workbook-report", report))
        if report.outcome in (Outcome.WRONG, Outcome.RAISED):
            raise AnswerFailed(str(as_message(report)))

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it stands: `ann/01_naive_loop.ipynb::parse_turn`."""
        return self.path, None, self.nodeid


class AnswersPlugin:
    """Collects notebooks in place of tests, and sums up at the end."""

    def __init__(self, root: Path, table: Path | None = None) -> None:
        from workbook.classroom.notebooks import notebooks_in

        self.folder = root if root.is_dir() else root.parent
        self.table = table
        self.notebooks = notebooks_in(root)
        self.rows: list[tuple[Cell, ...]] = []
        self.ended_early = False
        if table is not None:  # said now, and not when all the notebooks have run
            if table.is_dir() or not table.absolute().parent.is_dir():
                words = "it cannot be written there. Name a file in a folder that is."
                raise CourseError(f"--answers-csv {table}: {words}")
            write_whole(table.with_name(f"{table.name}.new"), "").unlink()

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Collect the exercises of the notebooks, and nothing else."""
        hook, config = session.config.hook, session.config
        for notebook in self.notebooks:
            name = notebook.relative_to(self.folder).as_posix()
            file = NotebookFile.from_parent(session, path=notebook, nodeid=name)
            report = collect_one_node(file)
            hook.pytest_collectreport(report=report)
            found = report.result if report.passed else []
            session.items += [item for item in found if isinstance(item, pytest.Item)]
        items = session.items  # `-k` chooses among them
        hook.pytest_collection_modifyitems(session=session, config=config, items=items)
        session.testscollected = len(session.items)
        hook.pytest_collection_finish(session=session)
        return True

    def pytest_report_teststatus(self, report: Any) -> tuple[str, str, str] | None:
        found = _graded(report)
        if found and found.outcome is Outcome.NOT_ATTEMPTED and report.when == "call":
            return "not attempted", "-", "NOT ATTEMPTED"
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a row of the summary: the first thing not met, and what was raised."""
        if report.when != "call":
            return
        notebook, _, slug = report.nodeid.rpartition("::")
        folder, _, name = notebook.rpartition("/")
        row: tuple[Cell, ...] = (UNGRADED, "", "", "")
        if found := _graded(report):
            row = (str(found.outcome), found.passed, found.total, message_of(found))
        self.rows.append((folder, name, slug, *row))

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Say in the exit code too that some of the answers were not looked at."""
        asked = 0 if session.config.option.collectonly else len(session.items)
        self.ended_early = len(self.rows) < asked
        if self.ended_early and session.exitstatus in (0, 1):
            session.exitstatus = pytest.ExitCode.INTERRUPTED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        write = terminalreporter.write_line
        if self.ended_early:
            write(f"ended early, after {len(self.rows)} answers")
            if self.table is not None:
                is_old = self.table.exists()
                words = "stale, of an earlier run" if is_old else "not written"
                write(f"{self.table}: {words}")
        if not self.rows:
            return
        import pandas

        table = pandas.DataFrame(self.rows, columns=COLUMNS)
        by = [table[name] for name in COLUMNS[:2] if table[name].any()]
        ends = dict.fromkeys([*map(str, Outcome), *table["outcome"]])
        counts = pandas.get_dummies(table["outcome"], dtype=int)
        counts = counts.reindex(columns=list(ends), fill_value=0)
        counts = counts.groupby(by, sort=False).sum().replace(0, "·").reset_index()
        terminalreporter.section("answers")
        write(counts.to_string(index=False))
        if self.table is not None and not self.ended_early:
            write_table(self.table, [COLUMNS, *self.rows], mark=True)
            write(f"written to {self.table}")


def _graded(report: Any) -> Report | None:
    """Return what was found of the exercise that pytest reports on."""
    return dict(getattr(report, "user_properties", ())).get("workbook-report")
