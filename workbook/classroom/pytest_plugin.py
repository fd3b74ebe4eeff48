"""The pytest plugin: one fixture per exercise, and `--answers`.

By default a fixture `parse_turn` is the package's function, so that the suite tests the
package. With `--answers PATH` nothing of the suite is collected: each exercise in each
notebook is one item, graded by the same tests.
"""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from _pytest.runner import collect_one_node

from workbook.exercises.catalogue import CourseError
from workbook.exercises.report import Outcome, Report

if TYPE_CHECKING:
    from workbook.classroom.notebooks import Answers

REASONS = "raised", "stopped"
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
    from workbook.exercises.subjects import fixtures

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
    """An answer that is wrong, or that raised."""


class NotebookFile(pytest.File):
    """A learner's notebook; each exercise in it is an item."""

    @cached_property
    def answers(self) -> Answers:
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
        report = self.parent.answers.report(self.name)
        self.user_properties.append(("workbook-report", report))
        if report.outcome in (Outcome.WRONG, Outcome.RAISED):
            raise AnswerFailed

    def repr_failure(self, excinfo: Any, style: Any = None) -> str:
        """Return what the learner would read."""
        from workbook.exercises.display import Result

        for _, report in self.user_properties:
            if isinstance(report, Report) and isinstance(excinfo.value, AnswerFailed):
                return str(Result(report))
        return str(excinfo.value)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """Return where it stands: `ann/01_naive_loop.ipynb::parse_turn`."""
        return self.path, None, self.nodeid


@dataclass(eq=False)
class AnswersPlugin:
    """Collects notebooks in place of tests, and sums up at the end.

    Args:
        root: the notebook or the folder.
        table: where to write the results as CSV, if anywhere.
    """

    root: Path
    table: Path | None = None

    def __post_init__(self) -> None:
        from workbook.classroom.notebooks import notebooks_in

        self.notebooks = notebooks_in(self.root)
        self.rows: list[dict[str, str]] = []
        if self.table is not None:
            try:  # now, and not when all the notebooks have run
                self.table.open("a").close()
            except OSError as error:
                raise CourseError(
                    f"--answers-csv {self.table}: it cannot be written there"
                    f" ({error.strerror}). Name a file in a folder that is there."
                ) from None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session: pytest.Session) -> bool:
        """Collect the exercises of the notebooks, and nothing else."""
        items: list[pytest.Item] = []
        hook = session.config.hook
        for notebook in self.notebooks:
            name = self._name(notebook)
            file = NotebookFile.from_parent(session, path=notebook, nodeid=name)
            report = collect_one_node(file)
            hook.pytest_collectreport(report=report)
            found = report.result if report.passed else []
            items += [item for item in found if isinstance(item, pytest.Item)]
        hook.pytest_collection_modifyitems(
            session=session, config=session.config, items=items
        )
        session.items = items
        session.testscollected = len(items)
        hook.pytest_collection_finish(session=session)
        return True

    def pytest_report_teststatus(
        self, report: pytest.CollectReport | pytest.TestReport
    ) -> tuple[str, str, str] | None:
        """Give "not attempted" a category of its own."""
        if not isinstance(report, pytest.TestReport):
            return None
        found = [r for _, r in report.user_properties if isinstance(r, Report)]
        if report.when != "call" or not found:
            return None
        if found[0].outcome is Outcome.NOT_ATTEMPTED:
            return "not attempted", "-", "NOT ATTEMPTED"
        return None

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Keep a row of the summary."""
        if report.when != "call":
            return
        notebook, _, slug = report.nodeid.rpartition("::")
        folder, _, name = notebook.rpartition("/")
        row = dict.fromkeys(COLUMNS, "")
        row.update(learner=folder, notebook=name)
        row.update(exercise=slug, outcome="could not be graded")
        for _, found in report.user_properties:
            if isinstance(found, Report):
                row["outcome"] = str(found.outcome)
                row["met"], row["of"] = str(found.passed), str(found.total)
                row["message"] = _message(found)
        self.rows.append(row)

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

    def _name(self, notebook: Path) -> str:
        folder = self.root if self.root.is_dir() else self.root.parent
        return notebook.relative_to(folder).as_posix()


def _message(report: Report) -> str:
    """Return what a row says: the first thing that is not met, and what was raised."""
    if not report.failures or report.outcome is Outcome.PASSED:
        return ""
    first = report.failures[0]
    if report.outcome is Outcome.NOT_ATTEMPTED and report.total:
        return ""
    reasons = [text for label, text in first.evidence if label in REASONS]
    return "; ".join([first.requirement, *reasons])


def summary(rows: Iterable[dict[str, str]]) -> list[str]:
    """Return a table of how many exercises ended how, by learner and notebook."""
    counts: dict[tuple[str, str], Counter[str]] = {}
    for row in rows:
        key = row["learner"], row["notebook"]
        counts.setdefault(key, Counter())[row["outcome"]] += 1
    outcomes = [*map(str, Outcome)]
    outcomes += sorted({name for c in counts.values() for name in c} - set(outcomes))
    with_learners = any(learner for learner, _ in counts)
    head = [*(["learner"] if with_learners else []), "notebook", *outcomes]
    table = [head]
    for (learner, notebook), count in counts.items():
        cells = [str(count[name] or "·") for name in outcomes]
        table.append([*([learner] if with_learners else []), notebook, *cells])
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) for cell, width in zip(line, widths, strict=True)
        ).rstrip()
        for line in table
    ]
