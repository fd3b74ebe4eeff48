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
        (["progress", "--nope"], "unrecognized arguments: --nope"),
    ],
)
def test_wrong_use_is_a_sentence(capsys, arguments, words):
    """wrong use ends in a sentence and exit code 2"""
    assert leave(*arguments) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert captured.out == ""


def test_a_reader_that_has_read_enough():
    """`python -m workbook progress | head -1` ends without a word"""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as closed:
        run = subprocess.run(
            [sys.executable, "-m", "workbook", "progress"],
            stdout=closed,
            stderr=subprocess.PIPE,
            timeout=60,
            check=False,
        )
    assert (run.returncode, run.stderr) == (0, b"")


@pytest.mark.parametrize("command", [[], ["progress"], ["grade"], ["fetch-model"]])
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


def test_fetch_model_says_where_it_is(monkeypatch, capsys, tmp_path):
    """fetch-model ends with the path of the model"""
    monkeypatch.setattr("workbook.weights.fetch_weights", lambda source: tmp_path)
    assert leave("fetch-model") == 0
    assert str(tmp_path) in capsys.readouterr().out


def test_fetch_model_without_a_network(monkeypatch, capsys):
    """what stands in the way of a download is a sentence"""

    def fail(source):
        raise LocalModelError("No network: connect.")

    monkeypatch.setattr("workbook.weights.fetch_weights", fail)
    assert leave("fetch-model") == 2
    assert capsys.readouterr().err == "No network: connect.\n"


def test_progress_is_a_table(capsys):
    """progress names every exercise"""
    solve("who_writes")
    assert leave("progress") == 0
    out = capsys.readouterr().out
    assert "who_writes" in out
    assert "1 of " in out


@pytest.mark.parametrize(
    ("raised", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "\nstopped\n"),
        (
            PermissionError(13, "Permission denied", "x"),
            2,
            "[Errno 13] Permission denied: 'x'\n",
        ),
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
