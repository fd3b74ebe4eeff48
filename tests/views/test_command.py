"""python -m workbook trace: a run, a folder of them, and what is none."""

import os
import subprocess
import sys

import pytest
from rich.cells import cell_len

from workbook.__main__ import main
from workbook.runtime.journal import Journal
from workbook.stage.engines import play
from workbook.views.logs import VIEWS, logged


@pytest.fixture
def run(tmp_path):
    """Play the price question on the machine; return the trace's file."""
    play("price_question", "fsm", path=tmp_path / "run.jsonl")
    return tmp_path / "run.jsonl"


def trace(*arguments):
    """Run the command and return its exit code."""
    return main(["trace", *map(str, arguments)])


def test_a_run_is_shown_line_by_line(run, capsys, monkeypatch):
    """a line an event, then how it ended and what it spent; or that alone"""
    monkeypatch.setenv("COLUMNS", "200")
    assert trace(run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 33 + 5
    assert "100*0.2" in lines[4]
    assert lines[-5].split() == ["state", "DONE"]
    assert trace(run, "--summary") == 0
    assert capsys.readouterr().out.splitlines() == lines[-5:]


def test_a_terminal_gets_no_longer_line_and_no_escape_sequence(
    tmp_path, capsys, monkeypatch
):
    """wide letters are counted as two; what a tool or a file's name says is text"""
    monkeypatch.setenv("COLUMNS", "60")
    path = tmp_path / "a\x1b[2Jb.jsonl"
    with Journal(path) as journal:
        journal.emit(
            "run_started", engine="fsm", question="\x1b]0;mine\x07" + "価格" * 40
        )
        about = {"call_id": "1", "tool": "\x1b[31m" + "道具" * 40}
        journal.emit("tool_call", **about, arguments={})
        journal.emit("observation", **about, ok=True, text="\x1b[5m")
    assert trace(path) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) == 60
    assert lines[0].endswith("…")
    assert trace(tmp_path) == 0
    table = capsys.readouterr().out
    assert "\x1b" not in table + "".join(lines)
    assert max(map(cell_len, table.split("Tools, and")[1].splitlines())) <= 80


def test_a_folder_is_a_table(run, capsys, tmp_path):
    """a line a run, then figures of all; what is broken, or cut, hides no other"""
    deep = os.path.join("deep", "raises.jsonl")
    play("tool_raises", "langchain", path=tmp_path / deep)
    with logged(tmp_path / "logs") as journal:  # its chat.jsonl is no trace
        journal.emit("run_started", engine="fsm", question="?")
    (tmp_path / "a.jsonl").write_text("nonsense\n")
    (tmp_path / "b.jsonl").write_bytes(run.read_bytes()[:-40])
    (tmp_path / "c.jsonl").mkdir()
    assert trace(tmp_path) == 0
    table, figures = capsys.readouterr().out.split("\n\n", 1)
    head, *rows = table.splitlines()
    assert head.split() == ["state", "reason", "steps", "tokens", "seconds", "file"]
    states = ["broken", "no", "broken", "ERROR", "no", "DONE"]
    assert [row.split()[0] for row in rows] == states
    assert "line 1: it is" in rows[0]
    assert "line 33: cut short" in rows[1]
    assert rows[3].endswith(f"  {deep}")
    assert rows[4].split()[-3] == "?"
    assert rows[5].split()[:4] == ["DONE", "final_answer", "5", "1,115"]
    assert all(name in figures for name in ("THINK", "Calculator"))


def test_a_folder_without_a_whole_trace(capsys, tmp_path):
    """none that could be read is an error, as it is where there is none"""
    assert trace(tmp_path) == 2
    assert "no trace" in capsys.readouterr().err
    (tmp_path / "a.jsonl").write_text("nonsense\n")
    assert trace(tmp_path) == 2


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "no event"),
        (b"nonsense\n", "line 1: it is"),
    ],
    ids=["no file", "empty", "no JSON"],
)
def test_what_is_no_trace_is_refused_in_words(content, words, capsys, tmp_path):
    """no file, no event, no trace: a sentence that names it, and code 2"""
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert trace(path) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "x.jsonl" in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""


@pytest.mark.parametrize("option", ["--summary", "--logs=logs"])
def test_what_is_meant_for_one_run_is_refused(option, run, capsys):
    """a folder takes no option of one run"""
    assert trace(run.parent, option) == 2
    assert "one trace" in capsys.readouterr().err


def test_logs_are_written_but_not_over_the_trace_itself(run, capsys):
    """--logs writes run.log, chat.md and chat.jsonl into a folder"""
    folder = run.parent / "new" / "logs"
    assert trace(run, "--logs", folder) == 0
    assert sorted(os.listdir(folder)) == sorted(VIEWS)
    (line,) = capsys.readouterr().out.splitlines()
    assert str(folder) in line
    path = run.rename(run.with_name("chat.jsonl"))
    before = path.read_bytes()
    assert trace(path, "--logs", path.parent) == 2
    assert "the trace itself" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert trace(path, "--logs", path / "below a file") == 2


def test_a_reader_that_has_read_enough(run):
    """`… trace FILE | head -1` ends without a word; a process says the same"""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "workbook", "trace", str(run)]
    with os.fdopen(write, "w") as closed:
        ended = subprocess.run(command, stdout=closed, stderr=subprocess.PIPE)
    assert (ended.returncode, ended.stderr) == (0, b"")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}  # it lacks our signs
    whole = subprocess.run(command, capture_output=True, env=env)
    assert (whole.returncode, whole.stderr) == (0, b"")
    assert b"? model_turn" in whole.stdout
