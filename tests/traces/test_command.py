"""python -m workbook trace: a run, two runs, a folder of them, and what is none."""

import os
import subprocess
import sys

import pytest
from opentelemetry.sdk.trace.export import ConsoleSpanExporter, SpanExportResult
from rich.cells import cell_len

from workbook.__main__ import main
from workbook.stage.engines import play
from workbook.traces.events import sealed, to_line
from workbook.traces.views import VIEWS, logged
from workbook.traces.writer import TraceWriter


@pytest.fixture
def run(tmp_path):
    """Play the price question on the machine; return the trace's file."""
    play("price_question", "fsm", path=tmp_path / "run.jsonl")
    return tmp_path / "run.jsonl"


def trace(*arguments):
    """Run the command and return its exit code."""
    return main(["trace", *map(str, arguments)])


def test_a_run_is_shown_line_by_line(run, capsys, monkeypatch):
    """a line an event, then how it ended and what it spent"""
    monkeypatch.setenv("COLUMNS", "200")
    assert trace(run) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 33 + 5
    assert "100*0.2" in lines[4]
    assert lines[-5].split() == ["state", "DONE"]


def test_a_summary_alone(run, capsys):
    """--summary leaves out the events"""
    assert trace(run, "--summary") == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        "state",
        "reason",
        "spent",
        "forced",
        "errors",
    ]


def test_a_narrow_terminal_cuts_long_lines(tmp_path, capsys, monkeypatch):
    """no event is wider than the terminal, wide characters counted as two"""
    play("price_question_ja", "fsm", path=tmp_path / "ja.jsonl")
    monkeypatch.setenv("COLUMNS", "60")
    assert trace(tmp_path / "ja.jsonl") == 0
    *lines, _, _, _, _, _ = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) == 60
    assert lines[0].endswith("…")


def test_what_a_tool_wrote_moves_no_cursor(tmp_path, capsys):
    """escape sequences in a trace, or in a file's name, are not handed on"""
    path = tmp_path / "a\x1b[2Jb.jsonl"
    with TraceWriter(path) as emit:
        emit("run_started", engine="fsm", question="\x1b]0;mine\x07")
        about = {"call_id": "1", "tool": "\x1b[31m"}
        emit("tool_call", **about, arguments={})
        emit("observation", **about, ok=True, text="\x1b[5m")
    assert trace(path) == trace(tmp_path) == 0
    assert "\x1b" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("engine", "told"),
    [("fsm", ["Event for event"]), ("langchain", ["Event 0", "fsm | langchain"])],
)
def test_two_runs_with_the_same_calls(engine, told, run, capsys, tmp_path):
    """one engine tells the same event for event, another parts at its first event"""
    play("price_question", engine, path=tmp_path / "other.jsonl")
    assert trace(run, tmp_path / "other.jsonl") == 0
    out = capsys.readouterr().out
    for words in ["the same calls, the same answer", *told]:
        assert words in out


def told(path, *events):
    """Write events, each (kind, fields), into a trace."""
    with TraceWriter(path) as emit:
        for kind, fields in events:
            emit(kind, **fields)
    return path


def calls(*numbers, text="4"):
    """Return the events of a run with a call of Sum for each number."""
    yield "run_started", {"engine": "fsm", "question": "?"}
    for number in numbers:
        about = {"call_id": str(number), "tool": "Sum"}
        yield "tool_call", {**about, "arguments": {"n": number}}
        yield "observation", {**about, "ok": True, "text": text}


def test_where_two_runs_part_is_said(capsys, tmp_path, monkeypatch):
    """the first other event is shown from both runs, with the fields that differ"""
    monkeypatch.setenv("COLUMNS", "120")
    one = told(tmp_path / "1.jsonl", *calls(1, 2, text="x" * 500 + "A"))
    two = told(tmp_path / "2.jsonl", *calls(1, 2, text="x" * 500 + "B"))
    assert trace(one, two) == 1
    out = capsys.readouterr().out
    assert "call 1: observation" in out
    assert "Event 2" in out
    assert "xA | …" in out
    assert "at_s" not in out


def test_one_run_may_end_before_the_other(capsys, tmp_path):
    """a run that is the beginning of another one is said to be"""
    one = told(tmp_path / "1.jsonl", *calls(1))
    two = told(tmp_path / "2.jsonl", *calls(1, 2))
    assert trace(one, two) == trace(two, one) == 1
    out = capsys.readouterr().out
    assert out.count("ends before event 3") == 2


def test_a_folder_is_a_table(run, capsys, tmp_path):
    """a line a run, then figures of all; logs in the folder are no traces"""
    play("tool_raises", "langchain", path=tmp_path / "deep" / "raises.jsonl")
    told(tmp_path / "unknown.jsonl", *calls(1))
    with logged(tmp_path / "with logs") as hook:
        hook("run_started", engine="fsm", question="?")
    assert trace(tmp_path) == 0
    table, figures = capsys.readouterr().out.split("\n\n", 1)
    head, *rows = table.splitlines()
    assert all(name in figures for name in ("THINK", "Sum", "Calculator"))
    assert head.split() == ["state", "reason", "steps", "tokens", "seconds", "file"]
    by_file = {row.split("  ")[-1]: row.split() for row in rows}
    assert sorted(by_file) == sorted(
        [
            os.path.join("deep", "raises.jsonl"),
            "run.jsonl",
            "unknown.jsonl",
            os.path.join("with logs", "trace.jsonl"),
        ]
    )
    assert by_file["run.jsonl"][:4] == ["DONE", "final_answer", "5", "1,103"]
    assert by_file[os.path.join("deep", "raises.jsonl")][0] == "ERROR"
    assert by_file["unknown.jsonl"][-3] == "?"


def test_a_broken_file_among_good_ones_is_a_row(run, capsys, tmp_path):
    """one file that is no trace, or one that was cut, does not hide the others"""
    (tmp_path / "a.jsonl").write_text("nonsense\n")
    (tmp_path / "b.jsonl").write_bytes(run.read_bytes()[:-40])
    (tmp_path / "c.jsonl").mkdir()
    assert trace(tmp_path) == 0
    table, _ = capsys.readouterr().out.split("\n\n", 1)
    _, *rows = table.splitlines()
    assert [row.split()[0] for row in rows] == ["broken", "no", "broken", "DONE"]
    assert "line 1: not JSON" in rows[0]
    assert "line 33: cut short" in rows[1]
    assert "c.jsonl" in rows[2]
    run.unlink()
    (tmp_path / "b.jsonl").unlink()
    assert trace(tmp_path) == 2  # none could be read


NEWER = {"trace_id": "t", "seq": 0, "step": 0, "at_s": 0.0, "kind": "run_started",
         "engine": "fsm", "question": "?", "schema": 9}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "No such file"),
        (b"", "no event"),
        (b'{"half', "no event"),
        (b"nonsense\n", "line 1: not JSON"),
        (b"\xff\xfe\x00", "no event"),
        (sealed(to_line(NEWER)), "schema 9"),
    ],
    ids=["no file", "empty", "half a line", "no trace", "bytes", "a newer schema"],
)
def test_what_is_no_trace_is_refused_in_words(content, words, capsys, tmp_path):
    """no file, no trace, an unknown schema: a sentence that names it, and code 2"""
    path = tmp_path / "x.jsonl"
    if content is not None:
        path.write_bytes(content)
    assert trace(path) == 2
    captured = capsys.readouterr()
    assert words in captured.err
    assert "x.jsonl" in captured.err
    assert len(captured.err.splitlines()) == 1
    assert captured.out == ""


@pytest.mark.parametrize("option", ["--summary", "--otel", "--logs=logs"])
@pytest.mark.parametrize("several", [["."], ["run.jsonl", "run.jsonl"]])
def test_what_is_meant_for_one_run_is_refused(
    option, several, run, capsys, monkeypatch
):
    """a folder, or two runs, take no option of one, and nothing is written"""
    monkeypatch.chdir(run.parent)
    assert trace(*several, option) == 2
    assert "one trace" in capsys.readouterr().err
    assert os.listdir() == ["run.jsonl"]


def test_spans_are_handed_to_opentelemetry(run, monkeypatch, capsys):
    """--otel hands the spans to the SDK's exporter; without one it says what to do"""
    spans = []

    def export(exporter, given):
        spans.extend(given)
        return SpanExportResult.SUCCESS

    monkeypatch.setattr(ConsoleSpanExporter, "export", export)
    assert trace(run, "--otel") == 0
    assert [span.name for span in spans].count("chat") == 5
    monkeypatch.setenv("OTEL_TRACES_EXPORTER", "nobody")
    assert trace(run, "--otel") == 2
    assert "nobody" in capsys.readouterr().err
    monkeypatch.delitem(sys.modules, "workbook.traces.spans")
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.resources", None)
    assert trace(run, "--otel") == 2
    assert "pip install opentelemetry-sdk" in capsys.readouterr().err


def test_logs_are_written(run, capsys):
    """--logs writes run.log, chat.md and chat.jsonl into a folder"""
    folder = run.parent / "new" / "logs"
    assert trace(run, "--logs", folder) == 0
    assert sorted(os.listdir(folder)) == sorted(VIEWS)
    assert str(folder) in capsys.readouterr().out


def test_the_trace_itself_is_not_overwritten(tmp_path, capsys):
    """logs are not written over the trace that they are made from"""
    path = told(tmp_path / "chat.jsonl", *calls(1))
    before = path.read_bytes()
    assert trace(path, "--logs", tmp_path) == 2
    assert "the trace itself" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert trace(path, "--logs", path / "below a file") == 2
    assert str(path) in capsys.readouterr().err


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
