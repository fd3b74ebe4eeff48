"""A trace in words, in three logs, in figures, and its errors by kind."""

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from workbook.lessons.traces_and_replay import (
    ADVICE,
    KINDS,
    VIEWS,
    classify_error,
    line_of,
    patterns,
    steps_of,
    summary,
    traces_in,
    write_logs,
)
from workbook.runtime.calls import ErrorKind
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.script import Script
from workbook.stage.engines import play
from workbook.stage.scenarios import slugs
from workbook.worlds.calculator import calculator

CALL = {"call_id": "1", "tool": "Sum"}


def emitted(*events, **options):
    """Return the trace of a journal into which these events were written."""
    journal = Journal(clock=lambda: 0.0, secrets=(), **options)
    for kind, fields in events:
        journal.emit(kind, **fields)
    return journal.trace()


def test_messages_are_shown_with_their_roles():
    """what a chat model is asked is read as text, and how much was there before"""
    asked = [{"role": "user", "content": "2+2?"}, {"role": "tool", "content": "4"}]
    requests = [("model_request", {"prompt": asked[:n]}) for n in (1, 2)]
    words = [*map(summary, emitted(*requests))]
    assert words == ["user: 2+2?", "(… 1 message as before)\ntool: 4"]


@pytest.mark.parametrize("engine", ["fsm", "langchain"])
def test_steps_are_as_reports_print_them(engine):
    """question, thought, action with its input, observation, …, the final answer"""
    rows = steps_of(play("price_question", engine))
    steps = ["thought", "action", "observation"] * 4
    assert [row["event"] for row in rows] == ["question", *steps, "thought", "final"]
    assert rows[1] == {"step": 1, "event": "thought", "content": rows[1]["content"]}
    assert "100*0.2" in str(rows[2]["input"])
    assert rows[2]["name"] == "Calculator"
    assert "20" in rows[3]["output"]
    assert (rows[-1]["answer"], rows[-1]["state"]) == ("88", "DONE")


def test_a_thought_is_what_is_written_besides():
    """all of a turn that has no step; nothing where it is empty or the answer"""
    turns = {"text": "I wonder."}, {"text": "4"}, {"text": "I add.", "calls": []}
    turns += ({"text": "", "calls": []},)
    end = {"state": "DONE", "reason": "so", "answer": "4"}
    written = [("model_turn", {"usage": None, **turn}) for turn in turns]
    rows = steps_of(emitted(*written, ("run_finished", end)))
    assert [row.get("content") for row in rows] == ["I wonder.", "I add.", None]


def test_the_logs_have_what_the_trace_has(tmp_path):
    """a line an event in run.log; the steps in chat.md and, as JSON, in chat.jsonl"""
    trace = play("payment_twice", "guarded")
    folder = write_logs(trace, tmp_path / "new")
    log, chat, rows = ((folder / name).read_text("utf-8") for name in VIEWS)
    assert log.splitlines() == [line_of(event) for event in trace]
    assert max(map(len, log.splitlines())) <= 200
    assert [json.loads(row) for row in rows.splitlines()] == steps_of(trace)
    assert chat.count("\n### ") == len(steps_of(trace)) - 1
    assert "policy: ask Pay: it changes something" in chat


TEXT = st.text(
    st.sampled_from("`~#<>&*_[]()!|\\-=+ \n\r\t\x0b\x1b\u2028\u202e1.:/ab語")
)
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


@settings(max_examples=200, deadline=None)
@given(TEXT)
@example("```\n# mine\n````")
@example("\n\n<script>`x`")
@example("half a pair \ud83d\x00\x1b[2J\x07")
def test_nothing_breaks_a_log(tmp_path_factory, text):
    """HTML and headings of a model or a tool are text; a terminal obeys none of it"""
    folder = tmp_path_factory.mktemp("chat")
    trace = emitted(
        ("run_started", {"engine": "fsm", "question": f"a{text}"}),
        ("tool_call", {**CALL, "arguments": {text: text}}),
        ("observation", {**CALL, "ok": False, "text": f"a{text}"}),
    )
    write_logs(trace, folder)
    log, chat, rows = ((folder / name).read_text("utf-8") for name in VIEWS)
    blocks = [token.type for token in PARSER.parse(chat) if token.level == 0]
    assert blocks == ["heading_open", "heading_close", "code_block"] * 3
    shown = "".join(f"{log}{chat}{rows}".split())
    assert shown.isprintable()
    assert len(log.splitlines()) == len(rows.splitlines()) == len(trace)


def test_a_journal_echoes_observations(capsys):
    """`echo`: each observation is printed as it comes, and no other event"""
    seen = ("observation", {**CALL, "ok": True, "text": "4"})
    emitted(("tool_call", {**CALL, "arguments": {}}), seen, echo=True)
    assert capsys.readouterr().out == "Observation: 4\n"


def test_a_folder_is_all_its_traces_and_nothing_else(tmp_path):
    """folders within count too, up to damage; what is no trace is passed over"""
    (tmp_path / "folder.jsonl").mkdir()
    for name in ("a.jsonl", "b.jsonl", "within/c.jsonl"):
        play("price_question", "fsm").save(tmp_path / name)
    lines = (tmp_path / "a.jsonl").read_bytes().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_bytes(b"".join([*lines[:2], lines[3], lines[2]]))
    (tmp_path / "b.jsonl").write_bytes(lines[0].replace(b"fsm", b"fsn"))
    (tmp_path / "chat.jsonl").write_text('{"role": "user", "content": "q"}\n')
    damaged, broken, whole = traces_in(tmp_path)
    assert (len(damaged), len(broken), len(whole)) == (2, 0, 33)
    assert "a.jsonl, line 3" in damaged.lost
    assert "b.jsonl, line 1" in broken.lost


def test_failures_are_counted_of_how_many_calls():
    """by tool and kind in all runs; turns that nobody can read, of the turns"""
    asks = "Action: Calculator\nAction Input: {}"
    turns = [asks.format("1+1"), asks.format("1/0"), "I think.", "Final Answer: 2"]
    runs = [Machine(Script(turns), [calculator()]).run("?").trace for _ in range(2)]
    first, second = patterns(runs, classify=lambda event: "mine")
    assert {first["category"], second["category"]} == {"mine"}
    found = {(row["tool"], row["failed"], row["calls"]) for row in (first, second)}
    assert found == {("Calculator", 2, 4), (None, 2, 8)}
    assert {first["kind"], second["kind"]} > {"unreadable_turn"}


@pytest.mark.parametrize("engine", ["naive", "langchain", "grounded", "fsm_calls"])
def test_every_failure_of_the_gallery_has_a_category(engine):
    """what any engine writes has a category; none of our own kinds is unknown"""
    for slug in slugs():
        for event in play(slug, engine).of("observation"):
            if not event["ok"]:
                category, told = classify_error(event), f"{slug}: {event.get('error')}"
                assert category in ADVICE
                assert category != "own kind", f"add it to errors.toml: {told}"
                assert (category == "not recorded") == (not event.get("error"))


def test_every_kind_of_the_contract_is_in_the_table():
    """a new kind of the contract needs a category, and each category its advice"""
    assert set(ErrorKind) <= set(KINDS)
    unnamed = {"transient", "own kind", "not recorded"}
    assert set(KINDS.values()) | unnamed == set(ADVICE)
    assert all(ADVICE.values())
