"""Signs that a person should look at an answer: each is a sentence with its evidence.

A sign is no verdict: marks are the same with it and without it. It is found in the text
of the notebooks alone, nothing is run, and a text can be written so that none is found.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from workbook.classroom.notebooks import Cell, read_cells, shipped
from workbook.classroom.prying import Origins, borrowed, origins_in, pried
from workbook.classroom.results import Graded, Paper
from workbook.classroom.sameness import MOST_CHARACTERS, is_ours, shape
from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.exercises.report import Outcome
from workbook.exercises.source import self_contained

SAME_AS = "same as "  # begins the sign that names another learner: not for a learner
NAMED = 3  # learners that are named; the others are counted
# What stands for other exercises in a text that is whole.
PARTS = re.compile(
    r'^(from workbook\S+ import part|\w+ = part\("\w+"\))$', re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Book:
    """The cells of a notebook."""

    cells: list[Cell]

    @property
    def was_run(self) -> bool:
        return any(cell.was_run for cell in self.cells)

    @property
    def origins(self) -> Origins:
        return origins_in(cell.source for cell in self.cells)

    def binding(self, slug: str) -> list[str]:
        """Return the sources of the learner's cells that give the name a meaning."""
        binds = re.compile(rf"^\s*(def {slug}\b|{slug}\s*=[^=])", re.MULTILINE)
        return [text for text in self.own(slug) if binds.search(text)]

    def own(self, slug: str) -> list[str]:
        """Return the sources that are run with an answer, but for the lesson's."""
        cells = [c for c in self.cells if not c.slugs or slug in c.slugs]
        return [cell.source for cell in cells if not _is_shipped(cell)]

    def cell_of(self, slug: str) -> str:
        return next((c.source for c in self.cells[::-1] if slug in c.slugs), "")

    def answer(self, slug: str) -> str:
        """Return the function with all that it needs of what the learner wrote."""
        cells = [c for c in self.cells if "setup" in c.tags or not _is_shipped(c)]
        sources = [c.source for c in cells if len(c.source) <= MOST_CHARACTERS]
        try:
            text = self_contained(sources, slug, set(exercises()) - {slug})
            return PARTS.sub("", text)
        except Exception:  # whatever Python cannot read
            return self.cell_of(slug)


def with_signs(papers: Sequence[Paper], texts: Sequence[str]) -> list[Paper]:
    """Return the papers with signs on their answers; `texts` are their notebooks'."""
    books = [_book(text) for text in texts]
    alike: dict[tuple[str, str], list[str]] = defaultdict(list)
    answers: dict[tuple[int, str], str] = {}
    shapes: dict[tuple[int, str], str] = {}
    for n, paper in enumerate(papers):
        for slug in [graded.slug for graded in paper.graded if _is_tried(graded)]:
            answers[n, slug] = books[n].answer(slug)
            if found := shape(answers[n, slug], slug):
                shapes[n, slug] = found
                alike[slug, found].append(paper.learner)
    # Where a whole class clears its outputs, that says nothing of anybody.
    asked = [book for book in books if book.cells]
    is_usual = 2 * sum(not book.was_run for book in asked) >= len(asked)

    def signs(n: int, graded: Graded) -> Iterator[str]:
        if (n, graded.slug) not in answers:
            return
        slug, book, text = graded.slug, books[n], answers[n, graded.slug]
        yield from borrowed(slug, book.origins, text, *book.binding(slug))
        yield from pried(book.origins, text, *book.own(slug))
        others = {*alike[slug, shapes.get((n, slug), "")]} - {papers[n].learner}
        if others and not is_ours(slug, text):
            names, more = sorted(others)[:NAMED], len(others) - NAMED
            rest = f" and {more} more" * (more > 0)
            yield f"{SAME_AS}{', '.join(names)}{rest}, but for names and layout"
        if graded.report and graded.report.outcome is Outcome.PASSED:
            if book.cell_of(slug).strip() in shipped(frozenset(lessons())):
                yield "its cell is as it ships, not attempted, and it passes"
            elif not (book.was_run or is_usual):
                yield "it passes, and the notebook was never run, or all was cleared"

    return [
        replace(paper, graded=tuple(_signed(g, signs(n, g)) for g in paper.graded))
        for n, paper in enumerate(papers)
    ]


def _signed(graded: Graded, signs: Iterator[str]) -> Graded:
    found = [*graded.signs]
    try:
        found += signs
    except Exception as error:  # whoever made it so, a night's marks are kept
        found.append(f"its text could not be looked through: {type(error).__name__}")
    return replace(graded, signs=tuple(dict.fromkeys(found)))


def _is_tried(graded: Graded) -> bool:
    report = graded.report
    return bool(report and report.outcome is not Outcome.NOT_ATTEMPTED)


def _book(text: str) -> Book:
    try:
        return Book(read_cells(Path("a notebook"), text))
    except CourseError:
        return Book([])


def _is_shipped(cell: Cell) -> bool:
    return cell.source.strip() in shipped(frozenset(lessons()))
