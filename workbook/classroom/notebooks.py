"""A learner's notebook as text: its code cells, and which of them must be run."""

import ast
import functools
import json
import re
import unicodedata
import warnings
from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.report import describe_error
from workbook.exercises.source import names_bound, names_used, to_python
from workbook.paths import ROOT


@dataclass(frozen=True, slots=True)
class Cell:
    """A code cell."""

    number: int  # of all cells, from 1, as a reader counts
    source: str
    tags: frozenset[str]
    was_run: bool = False  # it has a number, or it shows something

    @property
    def slugs(self) -> list[str]:
        """The exercises that it defines, as far as can be told from its text."""
        names = re.findall(r"^[ \t]*(?:async )?def (\w+)", self.source, re.MULTILINE)
        return [name for name in dict.fromkeys(names) if name in exercises()]


def notebooks_in(path: Path) -> list[Path]:
    """Return the notebooks at or below a path, as a class list, without checkpoints."""
    if path.is_file():
        return [path]
    found = [book for book in path.rglob("*.ipynb") if book.is_file()]
    found = [b for b in found if "/." not in f"/{b.relative_to(path).as_posix()}"]
    if not found:
        what = "holds no notebook" if path.is_dir() else "is not there"
        raise CourseError(f"--answers {path}: it {what}. Give a notebook or a folder.")
    return sorted(found, key=lambda path: as_in_a_class_list(str(path)))


def as_in_a_class_list(name: str) -> str:
    """Return a key to sort by: "Zoe" comes after "anna", "Çelik" before "Dora"."""
    return unicodedata.normalize("NFKD", name).casefold()


def read_cells(path: Path, text: str | None = None) -> list[Cell]:
    """Return the code cells of a notebook, of the file's text or of the one given."""
    try:
        text = path.read_text(encoding="utf-8") if text is None else text
        notebook = json.loads(text)
        if notebook["nbformat"] != 4:
            notebook = _as_format_4(text)
        return [
            Cell(
                number,
                "".join(cell["source"]),  # a text, or a list of lines
                frozenset(map(str, cell.get("metadata", {}).get("tags", ()))),
                bool(cell.get("execution_count") or cell.get("outputs")),
            )
            for number, cell in enumerate(notebook["cells"], start=1)
            if cell["cell_type"] == "code"
        ]
    except Exception as error:
        problem = f"{path.name} cannot be read as a notebook: {describe_error(error)}"
        raise CourseError(problem) from None


def _as_format_4(text: str) -> Any:
    import nbformat  # takes longer than all the rest

    with warnings.catch_warnings(action="ignore"):  # cells may lack an id
        return nbformat.reads(text, as_version=4)  # type: ignore[no-untyped-call]


@functools.cache
def shipped(lessons: frozenset[str]) -> frozenset[str]:
    """Return the cells of some lessons, as they are handed out."""
    books = [ROOT / "notebooks" / f"{lesson}.ipynb" for lesson in lessons]
    found = [cell for book in books if book.is_file() for cell in read_cells(book)]
    return frozenset(cell.source.strip() for cell in found)


def needed(cells: Sequence[Cell], shipped: Set[str] = frozenset()) -> list[Cell]:
    """Return what must be run: setup, exercises, and what a learner has written.

    Of a cell that is the lesson's own, or asks the real model, those statements stay
    that bind a name which a cell that is run uses; and those that change what such
    a name stands for, such as `TABLE.append(row)`.
    """

    def is_run(cell: Cell) -> bool:
        if cell.slugs or {"setup", "template", "exercise"} & cell.tags:
            return True
        return not ({"local-model", "own-model"} & cell.tags) and (
            cell.source.strip() not in shipped
        )

    whole = [is_run(cell) for cell in cells]
    nodes = [_statements(cell.source) for cell in cells]
    used = [
        {name for node in found for name in names_used(ast.unparse(node))}
        for found in nodes
    ]
    taken: set[ast.stmt] = set()
    while True:
        before, helped = len(taken), set()
        for node in taken:
            helped |= {*names_used(ast.unparse(node))}
        for at, found in enumerate(nodes):
            later = {n for i in range(at + 1, len(cells)) if whole[i] for n in used[i]}
            if not whole[at]:
                taken |= {each for each in found if _gives(each) & (later | helped)}
        if len(taken) == before:
            break
    rest = [
        "\n".join(ast.unparse(node) for node in found if node in taken)
        for found in nodes
    ]
    return [
        cell if complete else replace(cell, source=text, tags=frozenset())
        for cell, complete, text in zip(cells, whole, rest, strict=True)
        if complete or text
    ]


def _statements(source: str) -> list[ast.stmt]:
    try:
        return ast.parse(to_python(source)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _gives(node: ast.stmt) -> set[str]:
    """Return the names that a statement binds, or changes what they stand for."""
    changed = set()
    for part in ast.walk(node):
        stored = isinstance(getattr(part, "ctx", None), ast.Store)
        if isinstance(part, ast.Subscript | ast.Attribute) and stored:
            changed.add(_root(part))
        elif isinstance(part, ast.Expr) and isinstance(part.value, ast.Call):
            changed.add(_root(part.value.func))
    return names_bound(node) | changed - {""}


def _root(part: ast.AST) -> str:
    """Return the name that an attribute or an item is taken of, or ""."""
    if isinstance(part, ast.Name):
        return ""
    while isinstance(part, ast.Attribute | ast.Subscript):
        part = part.value
    return part.id if isinstance(part, ast.Name) else ""
