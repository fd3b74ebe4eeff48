"""The parts of an agent, made anew from notebooks."""

import os

import pytest

from tests.grading.conftest import RIGHT, write_cells
from tests.learner import RAISES
from workbook.__main__ import main
from workbook.exercises.your_agent import path_of
from workbook.grading.collect import collect

pytestmark = pytest.mark.usefixtures("own_data")


def test_what_passes_is_kept_and_the_newest_counts(tmp_path):
    """of two notebooks with a right answer, the one that was saved last is kept"""
    for age, name in enumerate(["b", "a"]):
        cell = RIGHT.replace("(label):", f"(label):  # {name}")
        path = write_cells(tmp_path / f"{name}.ipynb", cell)
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    assert main(["collect", str(tmp_path)]) == 0
    assert "# a" in path_of("who_writes").read_text(encoding="utf-8")


def test_what_does_not_pass_is_not_kept(tmp_path):
    """a function that raises is a row that says so, a stub is none to worry about"""
    write_cells(tmp_path / "n.ipynb", RAISES.format(slug="who_writes"))
    rows = collect(tmp_path).rows
    assert [row[1:3] for row in rows] == [("who_writes", "your code raised")]
    assert main(["collect", str(tmp_path)]) == 1
    stub = "def who_writes(label):\n    raise NotImplementedError"
    write_cells(tmp_path / "n.ipynb", stub)
    assert main(["collect", str(tmp_path)]) == 0
    assert not path_of("who_writes").exists()


def test_a_path_without_a_notebook_is_said(tmp_path, capsys):
    """a folder without notebooks is said to be one"""
    assert main(["collect", str(tmp_path)]) == 2
    assert "holds no notebook" in capsys.readouterr().err


def test_a_notebook_that_cannot_be_read_is_said(tmp_path):
    """a broken notebook has a row; one without exercises is none to worry about"""
    write_cells(tmp_path / "scratch.ipynb", "x = 1")
    assert main(["collect", str(tmp_path)]) == 0
    (tmp_path / "mine.ipynb").write_text("{")
    ((name, _, outcome, why),) = collect(tmp_path).rows
    assert (name, outcome) == ("mine.ipynb", "left out")
    assert "cannot be read" in why
    assert main(["collect", str(tmp_path)]) == 1
