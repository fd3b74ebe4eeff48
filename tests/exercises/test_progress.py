"""Progress, kept by the exercise's name."""

import json
import subprocess
import sys

import pytest

from workbook.exercises.catalogue import CourseError
from workbook.exercises.progress import Progress, reset
from workbook.exercises.report import Outcome


@pytest.fixture
def kept(own_data):
    return Progress()


def test_it_is_kept_on_disk(kept):
    """what was passed is there after a restart"""
    kept.checked("who_writes", Outcome.PASSED)
    entry = Progress().get("who_writes")
    assert (entry.outcome, entry.checks, entry.passed_at != "") == ("passed", 1, True)


def test_passed_once_is_passed(kept):
    """a later wrong try does not take a pass away"""
    kept.checked("who_writes", Outcome.PASSED)
    kept.checked("who_writes", Outcome.WRONG)
    entry = kept.get("who_writes")
    assert (entry.outcome, entry.passed_at != "") == ("wrong", True)


def test_running_the_stubs_counts_nothing(kept):
    """Run All over untouched stubs is no attempt"""
    kept.checked("who_writes", Outcome.NOT_ATTEMPTED)
    assert kept.get("who_writes").checks == 0


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        '{"who_writes": 3}',
        '{"who_writes": {"checks": "x"}}',
        '{"who_writes": {"outcome": 5}}',
        '{"who_writes": {"hints": -3}}',
        '{"who_writes": {"passed_at": []}}',
        "\x00",
    ],
)
def test_a_damaged_file_is_set_aside(kept, capsys, content):
    """a damaged file is kept under another name, with a message, and a new one begun"""
    kept.path.parent.mkdir(parents=True)
    kept.path.write_text(content)
    kept.checked("who_writes", Outcome.PASSED)
    assert kept.path.with_name("progress.json.damaged").read_text() == content
    assert "could not be read; a new one is begun" in capsys.readouterr().out
    assert json.loads(kept.path.read_text())["who_writes"]["outcome"] == "passed"


def test_it_is_written_at_once(kept):
    """the file is replaced as a whole: nothing half-written is left about"""
    kept.checked("who_writes", Outcome.PASSED)
    kept.hint_seen("who_writes", 2)
    files = {path.name for path in kept.path.parent.iterdir()}
    assert files == {"progress.json", ".progress.lock"}


def test_two_kernels_lose_nothing(kept):
    """what two processes note at the same time is all there afterwards"""
    note = (
        "import sys; from workbook.exercises.progress import Progress, Outcome\n"
        "for n in range(40): Progress().checked(f'{sys.argv[1]}_{n}', Outcome.PASSED)"
    )
    kernels = [
        subprocess.Popen([sys.executable, "-c", note, name]) for name in ("a", "b")
    ]
    assert [kernel.wait(timeout=60) for kernel in kernels] == [0, 0]
    assert len(kept.entries()) == 80


def test_one_exercise_can_be_forgotten(kept, capsys):
    """reset of one exercise leaves the others"""
    kept.checked("who_writes", Outcome.PASSED)
    kept.checked("parse_turn", Outcome.PASSED)
    reset("who_writes", yes=True)
    assert list(kept.entries()) == ["parse_turn"]


def test_all_can_be_forgotten(kept, capsys):
    """reset without a name forgets all"""
    kept.checked("who_writes", Outcome.PASSED)
    reset(yes=True)
    assert kept.entries() == {}


def test_a_misspelt_name_forgets_nothing(kept):
    """reset of an exercise that does not exist says which one was meant"""
    kept.checked("who_writes", Outcome.PASSED)
    with pytest.raises(CourseError, match="Did you mean who_writes"):
        reset("who_write", yes=True)
    assert list(kept.entries()) == ["who_writes"]
