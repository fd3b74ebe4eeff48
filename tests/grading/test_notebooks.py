"""A folder of strangers' files: whose they are, what is read, what is said."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.grading.conftest import RIGHT, write_cells
from workbook.exercises.catalogue import CourseError, exercises
from workbook.grading.notebooks import books_in, read_cells

LESSON = "01_naive_loop"
SLUGS = tuple(slug for slug, each in exercises().items() if each.lesson == LESSON)


@pytest.mark.parametrize(
    ("name", "cell", "slugs"),
    [
        (f"{LESSON}.ipynb", "x = 1", SLUGS),
        (f"{LESSON}_ann (2).ipynb", RIGHT, SLUGS),
        ("homework.ipynb", "def parse_turn(text): ...", SLUGS),
        ("homework.ipynb", "def unknown(): ...", ()),
    ],
)
def test_the_lesson_is_told_by_the_name_or_the_cells(tmp_path, name, cell, slugs):
    """the file's name tells the lesson; otherwise the functions in its cells do"""
    write_cells(tmp_path / "ann" / "deep" / name, cell)
    (book,) = books_in(tmp_path)
    assert (book.learner, book.name, book.slugs) == ("ann", f"deep/{name}", slugs)
    assert bool(book.problem) is not bool(slugs)


def test_a_notebook_beside_the_folders_is_a_learner(tmp_path):
    """one notebook alone can be graded, under its own name"""
    path = write_cells(tmp_path / f"{LESSON}.ipynb", RIGHT)
    assert books_in(tmp_path) == books_in(path)
    assert books_in(path)[0].learner == LESSON


def test_what_is_hidden_or_leads_out_is_not_read(tmp_path):
    """checkpoints are passed over; a link out of the learner's folder is a row"""
    other = write_cells(tmp_path / "bob" / f"{LESSON}.ipynb", RIGHT)
    for folder in (".ipynb_checkpoints", "__MACOSX"):
        write_cells(tmp_path / "ann" / folder / f"{LESSON}.ipynb", RIGHT)
    (tmp_path / "ann" / f"{LESSON}.ipynb").symlink_to(other)
    (tmp_path / "ann" / "round.ipynb").symlink_to("round.ipynb")
    (tmp_path / "cyd").symlink_to(tmp_path / "bob")
    (tmp_path / "dan" / f"{LESSON}.ipynb").mkdir(parents=True)
    books = {(book.learner, book.name): book for book in books_in(tmp_path)}
    problems = {key: book.problem for key, book in books.items()}
    assert "leads elsewhere" in problems.pop(("ann", f"{LESSON}.ipynb"))
    assert problems.pop(("ann", "round.ipynb"))
    assert problems == {
        ("bob", f"{LESSON}.ipynb"): "",
        ("cyd", ""): "no notebook",
        ("dan", f"{LESSON}.ipynb"): problems["dan", f"{LESSON}.ipynb"],
    }
    assert "no file" in problems["dan", f"{LESSON}.ipynb"]


def test_cells_are_counted_as_a_reader_counts(tmp_path):
    """a cell has its number, its text and its tags"""
    path, tags = tmp_path / "n.ipynb", {"tags": ["setup"]}
    cells = [new_code_cell("x = 1", metadata=tags), new_code_cell("y = 2")]
    nbformat.write(new_notebook(cells=cells), path)
    first, second = read_cells(path)
    assert (first.number, first.source, first.tags) == (1, "x = 1", {"setup"})
    assert second.number == 2


@pytest.mark.parametrize("text", ["", "{", "[]", '{"cells": 5}', "[" * 99_999])
def test_what_is_no_notebook_is_said(tmp_path, text):
    """whatever a file holds, the error names it"""
    (tmp_path / "n.ipynb").write_text(text)
    with pytest.raises(CourseError, match="cannot be read as a notebook"):
        read_cells(tmp_path / "n.ipynb")
