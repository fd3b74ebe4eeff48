"""Notebooks as text: their code cells, whose they are, which exercises they are about.

Nothing in them is run. Whatever a class hands in, there is a `Book` that says what can
be graded, or why it cannot be read.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path

from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.exercises.report import describe_error

LARGEST_B = 20_000_000
HIDDEN = re.compile(r"[/\\](\.\w|__MACOSX)")  # checkpoints, and what archives add
DEFINED = re.compile(r"\bdef (\w+) *\(")


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell."""

    number: int  # of all cells, from 1, as a reader counts
    source: str
    tags: frozenset[str]


@dataclass(frozen=True, slots=True)
class Book:
    """A notebook that was handed in, or a learner's folder without one."""

    learner: str
    name: str = ""
    cells: tuple[str, ...] = ()
    slugs: tuple[str, ...] = ()  # all exercises of its lesson
    problem: str = ""  # why it cannot be graded


def read_cells(path: Path) -> list[Cell]:
    """Return the code cells of a notebook; a `CourseError` says why it has none."""
    try:
        notebook = json.loads(path.read_text(encoding="utf-8-sig"))
        return [
            Cell(
                number,
                "".join(cell["source"]),  # a text, or a list of lines
                frozenset(map(str, cell.get("metadata", {}).get("tags", ()))),
            )
            for number, cell in enumerate(notebook["cells"], start=1)
            if cell["cell_type"] == "code"
        ]
    except Exception as error:
        problem = f"{path.name} cannot be read as a notebook: {describe_error(error)}"
        raise CourseError(problem) from None


def books_in(folder: Path) -> list[Book]:
    """Return what each learner handed in: of two with one exercise the last counts.

    A learner is a folder directly below; a notebook beside those folders has its own
    name for one. What cannot be read comes first, the newest last. Folders that are
    links are not entered. CourseError: there is no notebook.
    """
    home = folder if folder.is_dir() else folder.parent
    found = [folder] if folder.is_file() else folder.rglob("*.ipynb")
    shown = [path for path in found if not HIDDEN.search(f"/{path.relative_to(home)}")]
    if not shown:
        what = "holds no notebook" if folder.is_dir() else "is not there"
        raise CourseError(f"{folder} {what}. Give a notebook or a folder.")
    shown.sort(key=lambda each: (each.lstat().st_mtime, each))
    books = [_book(path, home) for path in shown]
    known = {book.learner for book in books}
    for path in home.iterdir() if folder == home else ():
        is_learner = path.is_dir() and not HIDDEN.search(f"/{path.name}")
        if is_learner and path.name not in known:
            books.append(Book(path.name, problem="no notebook"))
    return sorted(books, key=lambda book: book.problem == "")


def _book(path: Path, home: Path) -> Book:
    learner, *below = path.relative_to(home).parts
    text, cells, problem = "", tuple[str, ...](), ""
    try:
        if not path.resolve().is_relative_to(home.resolve() / learner):
            raise CourseError("it is a link that leads elsewhere: not followed")
        if not path.is_file() or path.stat().st_size > LARGEST_B:
            raise CourseError(f"it is no file, or has more than {LARGEST_B:,} bytes")
        text = path.read_bytes().decode("utf-8", "replace")
        cells = tuple(cell.source for cell in read_cells(path))
    except (OSError, RuntimeError, CourseError) as error:  # of links in a circle, too
        problem = str(error)
    # The file's name tells its lesson, otherwise the functions in it do.
    chosen = {lesson for lesson in lessons() if path.name.startswith(lesson)}
    defined = {*DEFINED.findall("\n".join(cells) or text)}
    chosen = chosen or {exercises()[s].lesson for s in defined & exercises().keys()}
    slugs = tuple(slug for slug, each in exercises().items() if each.lesson in chosen)
    if not slugs and not problem:
        problem = "none of the exercises is in it"
    name = "/".join(below) or path.name
    return Book(learner if below else path.stem, name, cells, slugs, problem)
