"""The pytest plugin: one fixture per exercise, and `--answers`.

By default a fixture `parse_turn` is the package's function: the package is tested.
With `--answers PATH` each exercise in each notebook is one item, and all there is.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import collect_one_node

from workbook.exercises.catalogue import CourseError
from workbook.exercises.report import Outcome, Report

COLUMNS = ("learner", "notebook", "exercise", "outcome", "met", "of", "message")


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("workbook", "exercises of the workbook")
    group.addoption(
        "--answers",
        metavar="PATH",
        type=Path,
        help="grade a notebook, or all of a folder with one subfolder per learner, in"
        " place of the test suite. Only setup and exercise cells are run, with your"
        " rights: in a container, if you do not trust the learners.",
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
    """A learner's notebook; its cells run when its answers are first read."""

    @cached_property
    def answers(self) -> Any:
        from workbook.classroom.notebooks import read_answers

        return read_answers(self.path)

    def collect(self) -> Iterator[ExerciseItem]:
        for slug in self.answers.slugs:
            yield ExerciseItem.from_parent(self, name=slug)


class ExerciseItem(pytest.Item):
    """One exercise of one notebook."""

    parent: NotebookFile

    def runtest(self) -> None:
        from workbook.exercises.display import as_message

        report = self.parent.answers.report(self.name)
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
        self.rows: list[tuple[object, ...]] = []
        try:  # now, and not when all the notebooks have run
            if table is not None:
                table.open("a").close()
        except OSError as error:
            raise CourseError(
                f"--answers-csv {table}: it cannot be written there ({error.strerror})."
                " Name a file in a folder that is there."
            ) from None

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
        row: tuple[object, ...] = ("could not be graded", "", "", "")
        if found := _graded(report):
            said, untouched = [], found.outcome is Outcome.NOT_ATTEMPTED and found.total
            for failure in [] if untouched else found.failures[:1]:
                came = dict(failure.evidence)
                said = [failure.requirement, came.get("raised") or came.get("stopped")]
            message = "; ".join(filter(None, said))
            row = (str(found.outcome), found.passed, found.total, message)
        self.rows.append((folder, name, slug, *row))

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
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
        terminalreporter.write_line(counts.to_string(index=False))
        if self.table is not None:
            # With the mark at its start, Excel too takes it for UTF-8.
            table.to_csv(self.table, index=False, encoding="utf-8-sig")
            terminalreporter.write_line(f"written to {self.table}")


def _graded(report: Any) -> Report | None:
    """Return what was found of the exercise that pytest reports on."""
    return dict(getattr(report, "user_properties", ())).get("workbook-report")
