"""Your agent's parts, made anew from notebooks: what passes there is kept."""

from pathlib import Path

from workbook.exercises.catalogue import find
from workbook.exercises.display import Grid
from workbook.exercises.report import Outcome
from workbook.exercises.your_agent import write
from workbook.grading.grade import grade_book
from workbook.grading.notebooks import books_in


def collect(path: Path) -> Grid:
    """Test each answer in the notebooks at or below a path; keep those that pass.

    Of several notebooks with an exercise, the one that was saved last counts. A part
    that is kept already stays, unless a newer answer passes.
    """
    rows = []
    for book in books_in(path):
        if book.name and book.problem and not book.cells:
            rows.append((book.name, "", "left out", book.problem))
            continue
        paper = grade_book(book)
        for slug, report in paper.reports.items():
            said, why = str(report.outcome), paper.problem
            if report.outcome is Outcome.PASSED:
                write(find(slug), paper.texts[slug])
                said = "kept"
            elif report.outcome is not Outcome.NOT_ATTEMPTED:
                why = why or report.failures[0].requirement
            rows.append((book.name, slug, said, why))
    kept = sum(row[2] == "kept" for row in rows)
    head = ("notebook", "exercise", "outcome", "")
    return Grid(head, rows, f"{kept} kept; what was kept before stays")
