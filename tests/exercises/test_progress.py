"""Progress, kept by the exercise's name."""

import json
import subprocess
import sys

import pytest

from tests.learner import solve
from workbook.exercises import progress
from workbook.exercises.catalogue import CourseError
from workbook.exercises.progress import entries, note_check, reset
from workbook.exercises.report import Outcome
from workbook.exercises.your_agent import yours
from workbook.paths import user_data

pytestmark = pytest.mark.usefixtures("own_data")


@pytest.mark.parametrize("content", ["{", "[3]", '{"who_writes": {"hint": 3}}', "\0"])
def test_a_damaged_file_is_set_aside(capsys, content):
    """a damaged file is kept under another name, with a message, and a new one begun"""
    path = progress.path_of_progress()
    path.parent.mkdir(parents=True)
    path.write_text(content)
    note_check("who_writes", Outcome.PASSED)
    assert path.with_name("progress.json.damaged").read_text() == content
    assert "could not be read. We begin a new one" in capsys.readouterr().out
    assert entries()["who_writes"].outcome == "passed"


def test_two_kernels_lose_nothing():
    """what two processes note at the same time is all there, and whole"""
    code = (
        "import sys; from workbook.exercises.progress import note_check, Outcome\n"
        "for n in range(40): note_check(f'{sys.argv[1]}_{n}', Outcome.PASSED)"
    )
    kernels = [subprocess.Popen([sys.executable, "-c", code, name]) for name in "ab"]
    assert [kernel.wait(timeout=60) for kernel in kernels] == [0, 0]
    assert len(entries()) == 80
    files = {path.name for path in progress.path_of_progress().parent.iterdir()}
    assert files == {"progress.json", ".progress.lock"}


@pytest.mark.parametrize(("slug", "left"), [("who_writes", ["parse_turn"]), (None, [])])
def test_one_exercise_or_all_can_be_forgotten_and_nothing_is_lost(slug, left):
    """reset sets aside progress and code; a misspelt exercise changes nothing"""
    solve("who_writes")
    for each in ("who_writes", "parse_turn"):
        note_check(each, Outcome.PASSED)
    with pytest.raises(CourseError, match="Did you mean who_writes"):
        reset("who_write")
    said = reset(slug)
    assert "nothing" in reset(slug)
    assert list(entries()) == left
    assert yours("who_writes").whose == "ours"
    (aside,) = (user_data() / "removed").iterdir()
    assert str(aside) in said
    known = json.loads((aside / "progress.json").read_text())
    assert known["who_writes"]["checks"] == 1
    solve("who_writes")
    reset(slug)
    kept = list((user_data() / "removed").glob("*/who_writes.py"))
    assert len(kept) == 2  # a second reset keeps the first
