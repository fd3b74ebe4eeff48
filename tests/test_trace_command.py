"""python -m workbook trace: a run, a folder of them, and what is none."""

import pytest

from workbook.__main__ import main
from workbook.runtime.journal import Journal
from workbook.stage.engines import play


@pytest.fixture
def run(tmp_path):
    """Play the price question on the machine; return the trace's file."""
    play("price_question", "fsm", path=tmp_path / "run.jsonl")
    return tmp_path / "run.jsonl"


def trace(*arguments):
    """Run the command and return its exit code."""
    return main(["trace", *map(str, arguments)])


def test_a_run_is_shown_line_by_line(run, capsys):
    """a line an event, then how it ended and what it spent, and figures"""
    assert trace(run) == 0
    events, *tables = capsys.readouterr().out.split("\n\n")
    assert "100*0.2" in events.splitlines()[4]
    row = tables[0].splitlines()[-1].split()
    assert row[:5] == ["run.jsonl", "DONE", "final_answer", "5", "4"]
    assert "Calculator" in tables[-1]


def test_a_terminal_gets_no_escape_sequence(tmp_path, capsys):
    """what a tool or a file's name says is text"""
    with Journal(tmp_path / "a\x1b[2Jb.jsonl") as journal:
        asked = "\x1b]0;mine\x07" + "価格" * 80
        journal.emit("run_started", engine="fsm", question=asked)
    assert trace(tmp_path / "a\x1b[2Jb.jsonl") == trace(tmp_path) == 0
    assert all(line.isprintable() for line in capsys.readouterr().out.splitlines())


def test_a_folder_is_tables(run, capsys, tmp_path):
    """a row a run, then figures of all; what is broken, or cut, hides no other"""
    (tmp_path / "a.jsonl").write_text("nonsense\n")
    (tmp_path / "b.jsonl").write_bytes(run.read_bytes()[:-40])
    (tmp_path / "chat.jsonl").write_text('{"step": 1}\n')
    assert trace(tmp_path) == 0
    shown = capsys.readouterr().out
    assert [shown.count(word) for word in ("RUNNING", "DONE")] == [4, 2]
    assert all(words in shown for words in ("line 1: it is", "cut short", "THINK"))


@pytest.mark.parametrize("content", [None, b"nonsense\n"])
def test_what_is_no_trace_is_refused_in_a_sentence(content, capsys, tmp_path):
    """no file, no event, no trace, a folder without one: code 2, and which it is"""
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert trace(path) == trace(tmp_path) == 2
    file, folder = capsys.readouterr().err.splitlines()
    assert "x.jsonl" in file
    assert "no trace (" not in file  # but what is wrong with it
    assert f"no trace (*.jsonl) in {tmp_path}" in folder
