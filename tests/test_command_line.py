"""python -m workbook."""

import os
import shutil
import subprocess
import sys

import pytest

from tests.learner import solve
from workbook.__main__ import main
from workbook.diagnosis import BROKEN, NOTE
from workbook.runtime.local import LocalModelError

pytestmark = pytest.mark.usefixtures("own_data")


def leave(*arguments):
    """Run a command and return the exit code, however it ends."""
    try:
        return main(arguments)
    except SystemExit as error:
        return error.code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["docter"], "invalid choice: 'docter' (choose from"),
        ([], "the following arguments are required: command"),
    ],
)
def test_wrong_use_is_a_sentence(capsys, arguments, words):
    """wrong use ends in a sentence and exit code 2"""
    assert leave(*arguments) == 2
    assert words in capsys.readouterr().err


def test_a_reader_that_has_read_enough():
    """`python -m workbook progress | head -1` ends without a word"""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "workbook", "progress"]
    with os.fdopen(write, "w") as closed:
        run = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE)
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize("command", [[], ["grade"]])
def test_help_reads_well(capsys, monkeypatch, command):
    """--help says what there is, and fits a terminal of 80 columns"""
    monkeypatch.setenv("COLUMNS", "80")
    assert leave(*command, "--help") == 0
    out = capsys.readouterr().out
    assert out.startswith("usage: python -m workbook")
    assert all(len(line) <= 80 for line in out.splitlines())


@pytest.mark.parametrize(("health", "code"), [(NOTE, 0), (BROKEN, 1)])
def test_doctor_fails_when_a_lesson_would_not_run(monkeypatch, capsys, health, code):
    """doctor's exit code is 1 when a lesson would not run, and only then"""
    rows = [("x", health, "found", "fix")]
    monkeypatch.setattr("workbook.diagnosis.rows", lambda: rows)
    assert leave("doctor") == code
    assert "fix" in capsys.readouterr().out


def test_a_command_prints_what_it_returns(monkeypatch, capsys, tmp_path):
    """fetch-model ends with the path of the model, progress names every exercise"""
    monkeypatch.setattr("workbook.weights.fetch_weights", lambda source: tmp_path)
    solve("who_writes")
    assert leave("fetch-model") == leave("progress") == 0
    out = capsys.readouterr().out
    assert all(words in out for words in (str(tmp_path), "who_writes", "1 of "))


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "\nstopped\n"),
        (LocalModelError("No network: connect."), 2, "No network: connect.\n"),
        (shutil.Error("no copy"), 2, "no copy\n"),
    ],
)
def test_a_command_that_is_stopped_says_so(monkeypatch, capsys, raised, code, words):
    """Ctrl-C, and what the disk refuses, end a command without a traceback"""

    def stopped():
        raise raised

    monkeypatch.setattr("workbook.checks.parts.progress", stopped)
    assert leave("progress") == code
    assert capsys.readouterr().err == words
