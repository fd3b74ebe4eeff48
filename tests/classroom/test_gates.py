"""No gate lets a function pass that raises, or that no test has looked at.

The gates of keep, collect and export are held in tests of their own.
"""

import csv
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.learner import RAISES, cells_with_answer
from workbook import check
from workbook.classroom.answers import read_answers
from workbook.exercises.catalogue import CourseError, exercises
from workbook.exercises.progress import Progress
from workbook.paths import ROOT


@pytest.fixture(scope="module")
def graded(tmp_path_factory):
    """The marks, by exercise, of a folder in which every function raises."""
    import nbformat
    from nbformat.v4 import new_code_cell, new_notebook

    folder = tmp_path_factory.mktemp("class")
    cells = [
        new_code_cell(RAISES.format(slug=slug), metadata={"tags": ["exercise"]})
        for slug in exercises()
    ]
    nbformat.write(new_notebook(cells=cells), folder / "all.ipynb")
    table = folder / "marks.csv"
    command = [sys.executable, "-m", "pytest", "-q", f"--answers={folder}"]
    run = subprocess.run(
        [*command, f"--answers-csv={table}", "-p", "no:cacheprovider"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert run.returncode == 1, run.stdout
    with table.open(encoding="utf-8-sig") as file:
        return {row["exercise"]: row["outcome"] for row in csv.DictReader(file)}


@pytest.mark.parametrize("slug", exercises())
def test_grading_refuses_a_function_that_raises(slug, graded):
    """in the shell and in a folder a function that raises has not passed"""
    assert graded[slug] in ("your code raised", "wrong")  # a machine catches its own


@pytest.mark.parametrize("slug", exercises())
@pytest.mark.usefixtures("own_data")
def test_a_notebook_refuses_a_function_that_raises(slug, capsys):
    """in a notebook a function that raises has not passed, and ours is given back"""
    exec(RAISES.format(slug=slug), namespace := {})
    assert check(namespace[slug]) is exercises()[slug].function()
    assert f"{slug} · passed" not in capsys.readouterr().out
    assert not Progress().get(slug).passed_at


@pytest.mark.usefixtures("own_data")
def test_a_gate_that_finds_no_test_lets_nothing_pass(
    monkeypatch, tmp_path, write_notebook, capsys
):
    """where no test takes the function, neither notebook nor grading says passed"""
    without = replace(exercises()["who_writes"], tests="tests/learner.py")
    monkeypatch.setitem(exercises(), "who_writes", without)
    setup, answer = cells_with_answer("who_writes")
    path = tmp_path / "n.ipynb"
    write_notebook(path, (setup, "setup"), (answer, "exercise"))
    with pytest.raises(CourseError, match="no test in"):
        read_answers(path).report("who_writes")
    exec("def who_writes(label):\n    return 'model'", namespace := {})
    check(namespace["who_writes"])
    assert "no test in" in capsys.readouterr().out
    assert not Progress().get("who_writes").passed_at
