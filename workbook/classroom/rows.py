"""Papers as rows of a table: one an exercise, or one that says why there is none.

It does not know who grades, where the table goes, or which marks are made of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from workbook.classroom.table import Cell
from workbook.exercises.report import Outcome, Report

if TYPE_CHECKING:
    from workbook.classroom.results import Graded, Paper

COLUMNS = ("learner", "notebook", "exercise", "outcome", "met", "of", "message")
ALL_COLUMNS = (*COLUMNS, "hidden_met", "hidden_of", "signs", "note")
UNGRADED = "could not be graded"  # begins the note of a file that nobody can read
NOTHING = "nothing to grade"


def message_of(report: Report) -> str:
    """Return the first requirement that is not met, and what was raised."""
    if report.outcome is Outcome.NOT_ATTEMPTED and report.total:
        return ""
    for failure in report.failures[:1]:
        came = dict(failure.evidence)
        said = (failure.requirement, came.get("raised") or came.get("stopped"))
        return "; ".join(filter(None, said))
    return ""


def rows_of(paper: Paper) -> Iterator[tuple[Cell, ...]]:
    """Yield a row an exercise, in `ALL_COLUMNS`; one row where there is none."""
    for graded in paper.graded:
        note, apart = paper.note, [g for g in paper.hidden if g.slug == graded.slug]
        for problem in filter(None, (each.problem for each in apart)):
            note = f"{note}; your own tests: {problem}".removeprefix("; ")
        row = (paper.learner, paper.notebook, graded.slug, *_found(graded))
        yield (*row, *_counts(apart), " · ".join(graded.signs), note)
    if not paper.graded:
        outcome = UNGRADED if paper.note.startswith(UNGRADED) else NOTHING
        row = (paper.learner, paper.notebook, "", outcome, "", "", "")
        yield (*row, "", "", "", paper.note)


def is_ungraded(paper: Paper) -> bool:
    """Say whether something of it could not be graded; an empty folder is not that."""
    graded = (*paper.graded, *paper.hidden)
    return paper.note.startswith(UNGRADED) or any(g.report is None for g in graded)


def _found(graded: Graded) -> tuple[Cell, ...]:
    report = graded.report
    if report is None:
        return (UNGRADED, "", "", graded.problem)
    return (str(report.outcome), report.passed, report.total, message_of(report))


def _counts(apart: list[Graded]) -> tuple[Cell, Cell]:
    """Return what the instructor's own tests found; "" where they could not be run."""
    reports = [graded.report for graded in apart if graded.report]
    if not reports or len(reports) < len(apart):
        return "", ""
    return sum(r.passed for r in reports), sum(r.total for r in reports)
