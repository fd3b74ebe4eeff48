"""The parts of an agent, made anew from notebooks."""

import inspect

import pytest

from tests.learner import RAISES, cells_with_answer
from workbook import yours
from workbook.__main__ import main
from workbook.classroom.collect import collect
from workbook.exercises.catalogue import exercises
from workbook.exercises.kept import path_of

pytestmark = pytest.mark.usefixtures("own_data")


def test_what_passes_in_notebooks_is_kept(tmp_path, write_notebook, capsys):
    """collect keeps what passes, and a second machine has the parts again"""
    setup, answer = cells_with_answer("parse_turn")
    write_notebook(tmp_path / "01.ipynb", (setup, "setup"), (answer, "exercise"))
    assert main(["collect", str(tmp_path)]) == 0
    assert "parse_turn" in capsys.readouterr().out
    assert yours("parse_turn").whose == "yours"
    assert inspect.getsource(yours("parse_turn").function) == answer


def test_a_function_that_raises_is_not_collected(tmp_path, write_notebook):
    """collect keeps no function that raises, and says so of each"""
    some = [*exercises()][::7]
    cells = [(RAISES.format(slug=slug), "exercise") for slug in some]
    write_notebook(tmp_path / "n.ipynb", ("", "setup"), *cells)
    collected = collect(tmp_path)
    assert {row[1] for row in collected.rows} == set(some)
    assert {row[2] for row in collected.rows} <= {"your code raised", "wrong"}
    assert not collected.well
    assert not [slug for slug in exercises() if path_of(slug).exists()]


def test_a_gate_without_a_test_collects_nothing(monkeypatch, tmp_path, write_notebook):
    """where no test looks at an answer, collect keeps nothing"""
    from dataclasses import replace

    without = replace(exercises()["who_writes"], tests="tests/learner.py")
    monkeypatch.setitem(exercises(), "who_writes", without)
    setup, answer = cells_with_answer("who_writes")
    write_notebook(tmp_path / "n.ipynb", (setup, "setup"), (answer, "exercise"))
    (row,) = collect(tmp_path).rows
    assert row[2] == "could not be checked"
    assert not path_of("who_writes").exists()


def test_of_two_notebooks_the_newest_counts(tmp_path, write_notebook):
    """of two notebooks with one exercise, the one that was saved last counts"""
    import os

    for age, name in enumerate(["b", "a"]):
        setup, answer = cells_with_answer("who_writes")
        cell = (f"{answer}\n# {name}\n", "exercise")
        path = write_notebook(tmp_path / f"{name}.ipynb", (setup, "setup"), cell)
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    assert [row[0] for row in collect(tmp_path).rows] == ["b.ipynb", "a.ipynb"]


def test_stubs_are_not_collected(tmp_path, write_notebook):
    """a notebook with nothing but stubs gives no part, and that is well"""
    stub = "def who_writes(label):\n    raise NotImplementedError"
    write_notebook(tmp_path / "n.ipynb", ("", "setup"), (stub, "exercise"))
    assert main(["collect", str(tmp_path)]) == 0
    assert not path_of("who_writes").exists()


def test_a_path_without_a_notebook(tmp_path, capsys):
    """a folder without notebooks is said to be one"""
    assert main(["collect", str(tmp_path)]) == 2
    assert "holds no notebook" in capsys.readouterr().err
