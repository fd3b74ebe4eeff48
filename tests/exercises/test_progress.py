"""Progress, kept by the exercise's name."""

import subprocess
import sys

import pytest

from tests.learner import solve
from workbook.exercises import progress
from workbook.exercises.catalogue import CourseError
from workbook.exercises.progress import entries, note_check, reset
from workbook.exercises.report import Outcome
from workbook.exercises.your_agent import folder, yours

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
def test_one_exercise_or_all_can_be_forgotten(capsys, slug, left):
    """reset forgets the exercise that is named, or all; a misspelt one forgets none"""
    for each in ("who_writes", "parse_turn"):
        note_check(each, Outcome.PASSED)
    with pytest.raises(CourseError, match="Did you mean who_writes"):
        reset("who_write", yes=True)
    reset(slug, yes=True)
    assert list(entries()) == left


def nobody(text):
    raise NotImplementedError  # as the input of a notebook that runs by itself


@pytest.mark.parametrize("says", [lambda text: "n", lambda text: "", nobody])
def test_reset_asks_before_it_takes_code_away(monkeypatch, capsys, says):
    """reset asks, names the file, and sets code aside instead of deleting it"""
    solve("who_writes")
    asked = []
    for answers, whose in ((says, "yours"), (lambda text: " Y ", "ours")):
        monkeypatch.setattr(
            "builtins.input", lambda t, a=answers: asked.append(t) or a(t)
        )
        reset("who_writes")
        assert "who_writes.py out of your agent" in asked[-1]
        assert yours("who_writes").whose == whose
    assert (folder() / "removed" / "who_writes.py").exists()
