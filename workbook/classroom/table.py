"""Files that are written whole, and tables that a spreadsheet takes for text.

It does not know what stands in a cell. What a learner wrote may begin as a formula
does: such a cell gets an apostrophe in front. An identity from the roster stays as it
is, or the gradebook would not find its owner; see `neutral`.
"""

import csv
import io
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from workbook.exercises.catalogue import CourseError

SIGNS = tuple("=+-@＝＋－＠\t\r\n")  # a spreadsheet may calculate what begins so
Cell = str | int | float | None


class Identity(str):
    """A text by which a gradebook finds a person."""


def neutral(cell: Cell) -> str:
    """Return a cell's text: of numbers at most two decimals, of texts no formula.

    An `Identity` stays as it is unless it has more than letters, digits and ``.@+-_``:
    ``@ann`` and ``+49170`` must still join, and without brackets, quotes, commas and
    exclamation marks there is nothing that a spreadsheet could call or fetch.
    """
    if cell is None or isinstance(cell, int | float):
        return "" if cell is None else f"{cell:.2f}".rstrip("0").rstrip(".")
    text = re.sub(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]", "", cell)
    if isinstance(cell, Identity) and re.fullmatch(r"[+\-@]?[\w.@+-]+", text):
        return text
    return f"'{text}" if text.startswith(SIGNS) and text != "-" else text


def write_table(path: Path, rows: Iterable[Sequence[Cell]], *, mark: bool) -> Path:
    """Write rows as CSV; with the mark at its start Excel too takes it for UTF-8."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([map(neutral, row) for row in rows])
    return write_whole(path, ("\ufeff" if mark else "") + text.getvalue())


def write_whole(path: Path, text: str) -> Path:
    """Write a file so that nobody sees half of it; a `CourseError`: it cannot be."""
    new = path.with_name(f".{path.name[:80]}.{os.getpid()}.new")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        # A folder's name may hold bytes that are no text in any encoding.
        new.write_bytes(text.encode("utf-8", "backslashreplace"))
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise CourseError(
            f"{path}: it cannot be written ({error.strerror}). Close it where it is"
            " open, or name another folder."
        ) from None
    return path
