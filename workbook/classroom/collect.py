"""Your agent's parts, made anew from notebooks: what passes there is kept."""

from pathlib import Path

from workbook.classroom.answers import read_answers
from workbook.classroom.notebooks import notebooks_in, read_cells
from workbook.exercises.catalogue import CourseError
from workbook.exercises.display import Grid
from workbook.exercises.kept import keep
from workbook.exercises.report import Outcome


class Collected(Grid):
    """A row an exercise; `well` unless an answer was found that was not kept."""

    @property
    def well(self) -> bool:
        return all(row[2] in ("kept", str(Outcome.NOT_ATTEMPTED)) for row in self.rows)


def collect(path: Path) -> Collected:
    """Check every answer in the notebooks at or below a path; keep those that pass.

    Of several notebooks with one exercise the one that was saved last counts. A part
    that is kept already stays, unless a newer answer passes.
    """
    rows = []
    for book in sorted(notebooks_in(path), key=lambda book: book.stat().st_mtime):
        answers = read_answers(book)
        for slug in answers.slugs:
            try:
                report = answers.report(slug)
                said, why = str(report.outcome), ""
                if report.outcome is Outcome.PASSED:
                    cells = [cell.source for cell in read_cells(book)]
                    why = keep(slug, cells)
                    said = "not kept" if why else "kept"
                elif report.failures and report.outcome is not Outcome.NOT_ATTEMPTED:
                    why = report.failures[0].requirement
            except CourseError as error:
                said, why = "could not be checked", str(error)
            rows.append((book.name, slug, said, why))
    kept = sum(row[2] == "kept" for row in rows)
    head = ("notebook", "exercise", "outcome", "")
    return Collected(head, rows, f"{kept} kept; what was kept before stays")
