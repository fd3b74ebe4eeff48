"""`pytest --answers`: it reports what `check`, `collect` and `grade` find."""

import subprocess
import sys

import pytest

from tests.checks.classroom import LESSON, RIGHT, STUB, rows_of, write_cells
from tests.learner import cells_with_answer, report_on
from workbook.checks.answer import answer_in
from workbook.checks.catalogue import exercises
from workbook.checks.grade import collect, grade
from workbook.paths import ROOT


def pytest_on(folder, *options):
    """Return what pytest prints of the answers below a folder."""
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-rA"]
    command += [f"--answers={folder}", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True).stdout


@pytest.mark.in_ci
def test_check_collect_pytest_and_grade_find_the_same(tmp_path, own_data):
    """of right and wrong answers to a lesson"""
    slugs = [s for s, e in exercises().items() if e.lesson == "01_naive_loop"]
    right = [cell for slug in slugs for cell in cells_with_answer(slug)]
    wrong = [f"def {slug}(*args, **options): return 5" for slug in slugs]
    for name, cells in (("ann", right), ("bob", wrong)):
        write_cells(tmp_path / "class" / name / "01_naive_loop.ipynb", *cells)
        for slug in slugs:  # as `check` does
            report = report_on(slug, answer_in(cells, slug))
            assert (report["outcome"] == "passed") is (name == "ann")
    assert grade(tmp_path / "class", tmp_path / "out") == 0
    printed = pytest_on(tmp_path / "class")
    for row in rows_of(tmp_path / "out" / "results.csv"):
        passed = row["learner"] == "ann"
        assert (row["outcome"] == "passed") is passed
        name = f"{row['learner']}/{row['notebook']}::{row['exercise']}"
        assert f"{'PASSED' if passed else 'FAILED'} {name}" in printed
    for name in ("ann", "bob"):
        outcomes = {row[2] for row in collect(tmp_path / "class" / name).rows}
        assert ("kept" in outcomes) is (name == "ann")
        assert len(outcomes) == 1 or name == "bob"


def test_each_answer_is_an_item(tmp_path):
    """a stub is skipped, a failure says what check says, -k chooses, a slip is told"""
    for name, cell in (("ann", RIGHT), ("bob", STUB), ("cyd", "def who_writes(): 0")):
        write_cells(tmp_path / name / f"{LESSON}.ipynb", cell)
    write_cells(tmp_path / "dan" / f"{LESSON}.ipynb").write_text("")
    printed = pytest_on(tmp_path, "--answers-unconfined")
    assert "2 failed, 1 passed, 1 skipped" in printed
    assert "who_writes · your code raised · 0 of 3" in printed
    assert "cannot be read as a notebook" in printed
    assert "1 passed, 3 deselected" in pytest_on(tmp_path, "-k", "ann")
    assert "no tests ran" in pytest_on(tmp_path / "nowhere")
