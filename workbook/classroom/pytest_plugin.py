"""The pytest plugin: one fixture per exercise, and `--answers`.

By default a fixture `parse_turn` is the package's function, so that the suite tests the
package. With `--answers PATH` nothing of the suite is collected: each exercise in each
notebook is one item, graded by the same tests.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import collect_one_node

from workbook.exercises.catalogue import CourseError
from workbook.exercises.report import Outcome, Report

COLUMNS = ("learner", "notebook", "exercise", "outcome", "met", "of", "message")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("workbook", "exercises of the workbook")
    group.addoption(
        "--answers",
        metavar="PATH",
        type=Path,
        help="grade the exercises in a notebook, or in all notebooks of a folder (one"
        " subfolder per learner, if you like), in place of the test suite. Only the"
        " setup cells and the exercise cells are run, with your rights: in a container,"
        " if you do not trust the learners.",
    )
    group.addoption(
        "--answers-csv",
        metavar="FILE",
        type=Path,
        help="with --answers: write the results there",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the fixtures, or the grading of notebooks."""
    from workbook.exercises.grade import fixtures

    answers, table = config.getoption("--answers"), config.getoption("--answers-csv")
    try:
        if answers:
            plugin = AnswersPlugin(answers.resolve(), table)
            config.pluginmanager.register(plugin, "workbook-answers")
            config.option.reportchars = "N"  # else a list of the failures ends the page
        elif table:
            raise CourseError("--answers-csv needs --answers PATH")
        config.pluginmanager.register(fixtures({}), "workbook-fixtures")
    except CourseError as error:
        raise pytest.UsageError(str(error)) from None


class AnswerFailed(Exception):  # noqa: N818 - what happened, not an error's name
    """An answer that is wrong, or that raised; its text is what the learner reads."""


class NotebookFile(pytest.File):
    """A learner's notebook; each exercise in it is an item."""

    @cached_property
    def answers(self) -> Any:
        """What the notebook defines; its cells run when this is first read."""
        from workbook.classroom.notebooks import read_answers

        return read_answers(self.path)

    def collect(self) -> Iterator[ExerciseItem]:
        """Yield one item per exercise."""
        for slug in self.answers.slugs:
            yield ExerciseItem.from_parent(self, name=slug)


class ExerciseItem(pytest.Item):
    """One exercise of one notebook."""

    parent: NotebookFile

    def runtest(self) -> None:
        """Grade it."""
        from workbook.exercises.display import Result

        report = self.parent.answers.report(self.name)
        self.user_properties.append(("workbook-report", report))
        if report.outcome in (Outcome.WRONG, Outcome.RAISED):
            raise AnswerFailed(str(Result(report)))

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """Return what the learner would read."""
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it stands: `ann/01_naive_loop.ipynb::parse_turn`."""
        return self.path, None, self.nodeid


class AnswersPlugin:
    """Collects notebooks in place of tests, and sums up at the end.

    Args:
        root: the notebook or the folder.
        table: where to write the results as CSV, if anywhere.
    """

    def __init__(self, root: Path, table: Path | None = None) -> None:
        from workbook.classroom.notebooks import notebooks_in

        self.folder = root if root.is_dir() else root.parent
        self.table = table
        self.notebooks = notebooks_in(root)
        self.rows: list[dict[str, str]] = []
        if table is not None:
            try:  # now, and not when all the notebooks have run
                table.open("a").close()
            except OSError as error:
                raise CourseError(
                    f"--answers-csv {table}: it cannot be written there"
                    f" ({error.strerror}). Name a file in a folder that is there."
                ) from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Collect the exercises of the notebooks, and nothing else."""
        hook = session.config.hook
        for notebook in self.notebooks:
            name = notebook.relative_to(self.folder).as_posix()
            file = NotebookFile.from_parent(session, path=notebook, nodeid=name)
            report = collect_one_node(file)
            hook.pytest_collectreport(report=report)
            found = report.result if report.passed else []
            session.items += [item for item in found if isinstance(item, pytest.Item)]
        hook.pytest_collection_modifyitems(
            session=session, config=session.config, items=session.items
        )
        session.testscollected = len(session.items)
        hook.pytest_collection_finish(session=session)
        return True

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str] | None:
        """Give "not attempted" a category of its own."""
        found = _graded(report)
        if found and found.outcome is Outcome.NOT_ATTEMPTED and report.when == "call":
            return "not attempted", "-", "NOT ATTEMPTED"
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a row of the summary."""
        if report.when != "call":
            return
        notebook, _, slug = report.nodeid.rpartition("::")
        folder, _, name = notebook.rpartition("/")
        values = [folder, name, slug, "could not be graded", "", "", ""]
        if found := _graded(report):
            met, total = str(found.passed), str(found.total)
            values[3:] = [str(found.outcome), met, total, _message(found)]
        self.rows.append(dict(zip(COLUMNS, values, strict=True)))

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        """Print a table: one line per learner and notebook."""
        if not self.rows:
            return
        terminalreporter.section("answers")
        for line in summary(self.rows):
            terminalreporter.write_line(line)
        if self.table is not None:
            # With the mark at its start, Excel too takes it for UTF-8.
            with open(self.table, "w", newline="", encoding="utf-8-sig") as file:
                writer = csv.DictWriter(file, COLUMNS)
                writer.writeheader()
                writer.writerows(self.rows)
            terminalreporter.write_line(f"written to {self.table}")


def _graded(report: Any) -> Report | None:
    """Return what was found of the exercise that pytest reports on."""
    return dict(getattr(report, "user_properties", ())).get("workbook-report")


def _message(report: Report) -> str:
    """Return what a row says: the first thing that is not met, and what was raised."""
    untouched = report.outcome is Outcome.NOT_ATTEMPTED and report.total
    if not report.failures or untouched:
        return ""
    first = report.failures[0]
    reasons = [text for label, text in first.evidence if label in ("raised", "stopped")]
    return "; ".join([first.requirement, *reasons])


def summary(rows: Iterable[dict[str, str]]) -> list[str]:
    """Return a table of how many exercises ended how, by learner and notebook."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        key = row["learner"], row["notebook"]
        counts.setdefault(key, Counter())[row["outcome"]] += 1
    outcomes = [*map(str, Outcome)]
    outcomes += sorted({name for c in counts.values() for name in c} - set(outcomes))
    table = [["learner", "notebook", *outcomes]]
    for key, count in counts.items():
        table.append([*key, *(str(count[name] or "·") for name in outcomes)])
    if not any(learner for learner, _ in counts):
        table = [line[1:] for line in table]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in table]
