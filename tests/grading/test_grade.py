"""Grading a folder: the same verdict everywhere, and sums of all."""

import os
import subprocess
import sys

import pytest

from tests.grading.conftest import RIGHT, rows_of, write_cells, write_lesson
from workbook.__main__ import main
from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.grading import confinement
from workbook.grading.collect import collect
from workbook.grading.notebooks import books_in
from workbook.paths import ROOT

LESSON = "00_start_here"


def grade_in(folder, *options):
    """Grade what is in the folder `class`; return the tables' rows."""
    code = main(["grade", str(folder / "class"), str(folder / "out"), *options])
    return (
        code,
        rows_of(folder / "out" / "results.csv"),
        rows_of(folder / "out" / "marks.csv"),
    )


def number_of_tests(lesson):
    own = [each for each in exercises().values() if each.lesson == lesson]
    return sum(len(each.requirements()) for each in own)


def checked_in(kernel, path):
    """Return what `check` says below each answer when the notebook is run: titles."""
    kernel("%reset -f")
    kernel(f"import sys; sys.path.insert(0, {str(ROOT)!r})")
    kernel("from workbook import check")
    (book,) = books_in(path)
    titles = []
    for cell in book.cells:
        assert kernel(cell) == ""
        for slug in book.slugs:
            if f"def {slug}(" in cell:
                title, *_ = kernel(f"check({slug})").splitlines()
                titles.append(title.split(" · "))
    return titles


@pytest.mark.in_ci
def test_check_collect_pytest_and_grade_say_the_same(tmp_path, own_data, kernel):
    """of six notebooks, three right and three wrong, all four say the same"""
    for lesson in [each for each in lessons() if each[:2] in ("01", "03", "09")]:
        for name, right in (("ann", True), ("bob", False)):
            write_lesson(tmp_path / "class" / name, lesson, right=right)
    code, graded, _ = grade_in(tmp_path)
    assert code == 0
    assert {
        row["outcome"] == "passed" for row in graded if row["learner"] == "ann"
    } == {True}
    assert {
        row["outcome"] == "passed" for row in graded if row["learner"] == "bob"
    } == {False}
    told = ["-p", "no:cacheprovider", "-rA", f"--answers={tmp_path / 'class'}"]
    command = [sys.executable, "-m", "pytest", *told]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    for row in graded:
        said = "PASSED" if row["outcome"] == "passed" else "FAILED"
        name = f"{row['learner']}/{row['notebook']}::{row['exercise']}"
        assert f"{said} {name}" in done.stdout
    for path in sorted((tmp_path / "class").rglob("*.ipynb")):
        whose = path.parent.name, path.name
        rows = [row for row in graded if (row["learner"], row["notebook"]) == whose]
        for title, row in zip(checked_in(kernel, path), rows, strict=True):
            assert title == [
                row["exercise"],
                row["outcome"],
                f"{row['met']} of {row['of']}",
            ]
    collected = {}
    for name in ("ann", "bob"):
        for row in collect(tmp_path / "class" / name).rows:
            collected[name, row[0], row[1]] = row[2].replace("kept", "passed")
    assert collected == {
        (row["learner"], row["notebook"], row["exercise"]): row["outcome"]
        for row in graded
    }


@pytest.mark.parametrize(
    "cell",
    [
        "def parse_turn(text): return 5\nraise ValueError",
        "x = 1",
        "def parse_turn(text:",
        "import os; os._exit(0)\ndef parse_turn(text): return 5",
        "def parse_turn(text): return " + "[" * 150 + "]" * 150,
    ],
)
def test_a_sum_is_of_all_exercises(tmp_path, cell):
    """what cannot be found, read or run counts 0 of as many as it has tests"""
    write_cells(tmp_path / "class" / "ann" / "01_naive_loop.ipynb", cell)
    (row,) = grade_in(tmp_path)[2]
    assert (row["met"], row["of"]) == ("0", str(number_of_tests("01_naive_loop")))


def test_a_notebook_that_cannot_be_read_is_in_the_sum(tmp_path):
    """its name, or what is left of its cells, tells whose tests it has not met"""
    for learner, name, text in [
        ("ann", "01_naive_loop (1).ipynb", ""),
        ("bob", "mine.ipynb", '{"cells": ["def parse_turn(text):\\n'),
    ]:
        (tmp_path / "class" / learner).mkdir(parents=True)
        (tmp_path / "class" / learner / name).write_text(text)
    write_cells(tmp_path / "class" / "cyd" / f"{LESSON}.ipynb", RIGHT)
    code, rows, marks = grade_in(tmp_path)
    assert code == 1
    of = str(number_of_tests("01_naive_loop"))
    assert [(row["met"], row["of"]) for row in marks] == [
        ("0", of),
        ("0", of),
        ("3", "3"),
    ]
    assert all(
        "cannot be read" in row["note"] for row in rows if row["learner"] != "cyd"
    )


def test_of_two_notebooks_the_newest_that_can_be_read_counts(tmp_path):
    """an older copy changes no mark, a newer one that is broken neither"""
    for age, name, cell in [(1, "", "x = 1"), (2, "-Copy1", RIGHT), (3, " (2)", None)]:
        path = tmp_path / "class" / "ann" / f"{LESSON}{name}.ipynb"
        write_cells(path, cell or "")
        if cell is None:
            path.write_text("{")
        os.utime(path, (age * 1000, age * 1000))
    code, rows, marks = grade_in(tmp_path)
    assert (code, len(rows)) == (1, 3)
    assert [(row["met"], row["of"]) for row in marks] == [("3", "3")]


def test_tables_and_pages_cannot_be_used_against_their_readers(tmp_path):
    """no cell is a formula, and no text of a learner is a tag"""
    name = "=1+1 <b>bold"
    cell = "def who_writes(label):\n    raise ValueError('<script>alert(1)</script>')"
    write_cells(tmp_path / "class" / name / f"{LESSON}.ipynb", cell)
    _, rows, marks = grade_in(tmp_path)
    assert rows[0]["learner"] == marks[0]["learner"] == f"'{name}"
    (page,) = (tmp_path / "out" / "feedback").iterdir()
    text = page.read_text(encoding="utf-8")
    assert "<script>" not in text
    assert "<b>bold" not in text
    assert "&lt;script&gt;" in text
    text = (tmp_path / "out" / "class.html").read_text(encoding="utf-8")
    assert "bold" not in text
    assert "0 of 1 passed" in text


def test_it_refuses_to_grade_unconfined(tmp_path, monkeypatch, capsys):
    """without bubblewrap, and without a wrapper, it has to be told --unconfined"""
    write_cells(tmp_path / "class" / "ann" / f"{LESSON}.ipynb", RIGHT)
    with monkeypatch.context() as patch:
        patch.setattr(confinement.shutil, "which", lambda name: None)
        assert main(["grade", str(tmp_path / "class"), str(tmp_path / "out")]) == 2
    assert "--unconfined" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    for option in ("--unconfined", "--wrapper=nice -n 1"):
        code, rows, _ = grade_in(tmp_path, option)
        assert (code, rows[0]["outcome"]) == (0, "passed")


def test_a_folder_that_every_notebook_may_read_is_refused(tmp_path):
    """marks and notebooks may not lie where Python or the tests are"""
    with pytest.raises(CourseError, match="Name a folder elsewhere"):
        confinement.bubblewrap(tmp_path, ROOT / "data" / "marks")


def test_out_inside_of_the_folder_is_refused(tmp_path, capsys):
    """what is written may not lie among what is graded"""
    write_cells(tmp_path / "ann" / f"{LESSON}.ipynb", RIGHT)
    assert main(["grade", str(tmp_path), str(tmp_path / "out")]) == 2
    assert "Name another one" in capsys.readouterr().err


def test_a_program_that_does_not_confine_here_is_said(monkeypatch):
    """where bubblewrap cannot make its namespaces, its own words are shown"""
    monkeypatch.setattr(confinement.shutil, "which", lambda name: "/bin/false")
    with pytest.raises(CourseError, match="does not work here"):
        confinement.bubblewrap()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["out", "--unconfined", "--jobs", "0"], "use 1 or more"),
        (["out", "--wrapper", "'docker run"], "No closing quotation"),
        (["out", "--wrapper", "no_such_program run"], "no program no_such_program"),
        (["a_file", "--unconfined"], "Name another folder"),
    ],
)
def test_wrong_use_is_said_in_a_sentence(tmp_path, monkeypatch, capsys, options, said):
    """what was asked wrongly is named, before anything is graded"""
    monkeypatch.chdir(tmp_path)
    write_cells(tmp_path / "class" / "ann" / f"{LESSON}.ipynb", RIGHT)
    (tmp_path / "a_file").write_text("")
    assert main(["grade", "class", *options]) == 2
    assert said in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
