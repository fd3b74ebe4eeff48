"""Four files from one stream: what each holds, and that nothing in it breaks them."""

import json
import os
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from workbook.runtime.calculator import calculator
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.script import Script
from workbook.runtime.trace import ENVELOPE, Trace, TraceError
from workbook.stage.engines import play
from workbook.views.logs import VIEWS, logged, summary_of, totals, write_logs

STARTED = ("run_started", {"engine": "fsm", "question": "2+2?"})
ASKED = ("model_request", {"prompt": "Question: 2+2?\n"})
CALLED = ("tool_call", {"call_id": "1", "tool": "Sum", "arguments": {"a": "2+2"}})
SEEN = ("observation", {"call_id": "1", "tool": "Sum", "ok": True, "text": "4"})


def ended(state, reason, answer=None, **more):
    return "run_finished", {"state": state, "reason": reason, "answer": answer, **more}


def moved(event, target):
    about = {"source": "OBSERVE", "event": event, "target": target, "why": "its turn"}
    return "transition", {**about, "elapsed_s": 0.0}


def contents(folder):
    """Return what the three views hold, by name."""
    return {name: (folder / name).read_text(encoding="utf-8") for name in VIEWS}


def rows_of(folder):
    """Return the lines of chat.jsonl, read."""
    text = (folder / "chat.jsonl").read_text("utf-8")
    return [json.loads(line) for line in text.splitlines()]


def emitted(journal, *events):
    """Emit events, each (kind, fields), and return their journal."""
    for kind, fields in events:
        journal.emit(kind, **fields)
    return journal


@pytest.mark.parametrize(
    ("slug", "engine"),
    [("price_question", "langchain"), ("payment_after_a_timeout", "guarded")],
)
def test_the_views_of_a_run_are_those_of_its_trace(slug, engine, tmp_path):
    """written as it went on or made anew, letter for letter: an event is a line"""
    trace = play(slug, engine)
    with logged(tmp_path / "live", clock=lambda: 0.0, secrets=()) as journal:
        for event in trace:
            own = (*ENVELOPE, "started_unix_s")
            fields = {n: v for n, v in event.items() if n not in own}
            journal.emit(event["kind"], **fields)
    again = write_logs(Trace.read(tmp_path / "live" / "trace.jsonl"), tmp_path / "new")
    assert contents(again) == contents(tmp_path / "live")
    assert sorted(os.listdir(again)) == sorted(VIEWS)
    *lines, blank, state, _, _, _, _ = contents(again)["run.log"].splitlines()
    assert (len(lines), blank) == (len(trace), "")
    assert state.split() == ["state", trace.end["state"]]
    assert max(map(len, lines)) <= 200
    rows = rows_of(again)
    assert (rows[0]["role"], rows[0]["type"]) == ("user", "question")
    assert {row["role"] for row in rows} <= {"user", "assistant", "tool", "runtime"}
    assert all(isinstance(row["content"], str) for row in rows)
    seen = [row for row in rows if row["type"] == "observation"]
    made = [row for row in rows if row["type"] == "action"]
    assert all({"tool", "call_id", "step"} <= set(row) for row in seen + made)
    assert [row["ok"] for row in seen] == [e["ok"] for e in trace.of("observation")]
    assert [row["arguments"] for row in made] == [
        event["arguments"] for event in trace.of("tool_call")
    ]


def test_what_an_engine_emits_is_in_the_chat_as_the_trace_has_it(tmp_path):
    """who decided what and why; objects of its own; a huge text, cut for people"""
    with logged(tmp_path) as journal:
        odd = {"a": (1, 2), "b": 3j}
        journal.emit(CALLED[0], **CALLED[1] | {"arguments": odd})
        journal.emit(SEEN[0], **SEEN[1] | {"text": "many words " * 50_000})
        said = {"who": "Ada", "what": "reject", "why": "too much", "tool": "Pay"}
        journal.emit("decision", **said, answer={"kind": "reject"})
        journal.emit("decision", who="Ada", what="approve", why="", answer={})
    live, (called, seen, rejected, approved) = contents(tmp_path), rows_of(tmp_path)
    assert called["arguments"] == {"a": [1, 2], "b": "3j"}
    assert "Sum(a=[1, 2], b='3j')" in live["run.log"]
    assert len(seen["content"]) == 550_000
    assert "548,000 more" in live["chat.md"]
    assert max(map(len, live["run.log"].splitlines())) <= 200
    assert len(live["chat.md"]) < 3_000
    assert rejected["type"] == "decision"
    assert rejected["content"] == "Ada: reject Pay: too much"
    assert (rejected["role"], approved["role"]) == ("runtime", "user")


TEXT = st.text(
    st.sampled_from("`~#<>&*_[]()!|\\-=+ \n\r\t\x0b\x1b\u2028\u202e1.:/ab語")
)
PARSER = MarkdownIt("commonmark", {"html": True}).enable("table")


@settings(max_examples=200, deadline=None)
@given(TEXT, TEXT)
@example("```\n# mine\n````", "<script>`x`")
@example("~~~\n</div>", "a`\n# b")
def test_nothing_breaks_the_markdown(tmp_path_factory, text, tool):
    """fences, HTML and headings of a model or a tool stay what they are: text"""
    folder = tmp_path_factory.mktemp("chat")
    about = {"call_id": "1", "tool": tool}
    with logged(folder, secrets=()) as journal:
        emitted(
            journal,
            ("run_started", {"engine": "fsm", "question": text}),
            ("model_turn", {"text": text, "usage": None}),
            ("tool_call", {**about, "arguments": {text: text}}),
            ("observation", {**about, "ok": False, "text": text}),
        )
    tokens = PARSER.parse((folder / "chat.md").read_text("utf-8"))
    blocks = [t.type for t in tokens if t.level == 0 and not t.type.endswith("_close")]
    number = 4 if text else 3  # a turn without words is no message
    assert blocks == ["heading_open", "fence"] * number
    said = [token.content for token in tokens if token.type == "fence"]
    shown = re.sub("[\x1b\u202e]", "\N{REPLACEMENT CHARACTER}", text)
    assert said[0] == ("\n".join(shown.splitlines()) or "(empty)") + "\n"
    titles = [token.content for token in tokens if token.type == "inline"]
    assert all(re.fullmatch(r"[\w .:,`?()-]+", title) for title in titles)


@pytest.mark.parametrize(
    "text", ["half a pair \ud83d", "\x00\x1b[2J\x07", "a\r\nb\x85c"]
)
def test_what_a_terminal_would_obey_is_shown(text, tmp_path):
    """no escape sequence of a tool reaches a terminal from one of the files"""
    about = {"call_id": "1", "tool": text, "ok": True}
    with logged(tmp_path) as journal:
        journal.emit("observation", **about, text=text, result={"result": text})
    shown = "".join(contents(tmp_path).values())
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", shown)
    assert len((tmp_path / "run.log").read_text().splitlines()) == 1 + 1 + 5
    assert rows_of(tmp_path)[0]["content"] == text.encode("utf-8", "replace").decode()


def test_the_folder_of_a_run_is_its_own(tmp_path):
    """a second run in the folder of one that goes on is refused; each line is there"""
    with logged(tmp_path) as journal:
        emitted(journal, STARTED, ASKED)
        before = contents(tmp_path)
        assert [len(text.splitlines()) for text in before.values()] == [2, 6, 1]
        with pytest.raises(TraceError, match="another process"), logged(tmp_path):
            pass
        assert contents(tmp_path) == before


def test_a_folder_that_takes_no_logs_stays_free(tmp_path):
    """where a view cannot be written, the run does not begin, and nothing is locked"""
    (tmp_path / "chat.md").mkdir()
    with pytest.raises(OSError, match=r"chat\.md") as raised, logged(tmp_path):
        pass
    Journal(tmp_path / "trace.jsonl").close()
    assert raised.value.filename == str(tmp_path / "chat.md")


def test_how_it_went_wrong_is_in_the_views(tmp_path):
    """what was raised is in each of the four files, what was lost in run.log"""
    with pytest.raises(ConnectionError), logged(tmp_path):
        raise ConnectionError("the line is dead")
    for name in ("trace.jsonl", *VIEWS):
        assert "the line is dead" in (tmp_path / name).read_text("utf-8")
    path = tmp_path / "trace.jsonl"
    path.write_bytes(path.read_bytes()[:-10])
    log = (write_logs(Trace.read(path), tmp_path) / "run.log").read_text("utf-8")
    assert "line 1: cut short" in log
    assert "no end" in log


@pytest.mark.parametrize("engine", ["fsm", "langchain"])
def test_a_chat_is_what_reports_print(engine, tmp_path):
    """question, turn, action, observation, …, final; what a tool asked is marked"""
    rows = rows_of(write_logs(play("price_question", engine), tmp_path))
    own = [row for row in rows if "parent" not in row]
    steps = ["turn", "action", "observation"] * 4
    assert [row["type"] for row in own] == ["question", *steps, "turn", "final"]
    assert "First I need 20% of 100." in own[1]["content"]
    assert "100*0.2" in own[2]["content"]
    assert own[-1]["content"].endswith(": 88")
    inside = [row["type"] for row in rows if "parent" in row]
    assert inside == ["turn"] * 4 * (engine == "langchain")


def test_a_turn_that_is_no_step_or_without_words(tmp_path):
    """what the runtime says of an unreadable turn is its own; no words, no message"""
    turns = Script(["I wonder.", "Thought: a\nFinal Answer: 4"])
    trace = Machine(turns, [calculator()]).run("?").trace
    _, unread, notice, *_ = rows_of(write_logs(trace, tmp_path))
    assert unread["content"] == "I wonder."
    about = [notice[name] for name in ("role", "type", "ok", "call_id")]
    assert about == ["runtime", "observation", False, None]
    silent = emitted(Journal(), ("model_turn", {"text": "", "usage": {}})).trace()
    assert rows_of(write_logs(silent, tmp_path)) == []


@pytest.mark.parametrize(
    ("event", "state", "reason", "final"),
    [
        (ASKED, "no end", "after model_request", None),
        (moved("observed", "THINK"), "no end", "after observed", None),
        (moved("suspended", "SUSPENDED"), "SUSPENDED", "suspended", None),
        (ended("DONE", "so", ""), "DONE", "so", "DONE (so): "),
        (ended("EXHAUSTED", "late"), "EXHAUSTED", "late", "EXHAUSTED (late)"),
        (ended("ERROR", "x", message="gone"), "ERROR", "x", "ERROR (x): gone"),
    ],
)
def test_how_a_run_stands(event, state, reason, final, tmp_path):
    """its last message is the answer, or why there is none, once it has ended"""
    trace = emitted(Journal(), STARTED, event).trace()
    found, (*_, last) = totals(trace), rows_of(write_logs(trace, tmp_path))
    assert (found["state"], found["reason"]) == (state, reason)
    assert (found["tokens"], found["errors"]) == (None, {})
    if final is None:
        assert last["type"] == "question"
    else:
        about = {"type": "final", "content": final, "state": state, "reason": reason}
        assert last.items() >= about.items()


def test_what_was_spent_is_counted():
    """steps and calls are the agent's own; tokens are those of all models, if told"""
    trace = play("price_question", "langchain")
    found = totals(trace)
    assert (found["steps"], found["tool_calls"]) == (5, 4)
    used = [event["usage"] for event in trace.of("model_turn")]
    assert found["tokens"] == sum(each["input"] + each["output"] for each in used)
    assert found["seconds"] == trace.events[-1]["at_s"] - trace.events[0]["at_s"]
    journal = emitted(Journal(clock=lambda: 0.0), CALLED)
    for usage in ({"input": 5, "output": None}, {}, None, {"output": 2}):
        journal.emit("model_turn", text="", usage=usage)
    for error in ({"kind": "late"}, "late", None):
        emitted(journal, (SEEN[0], SEEN[1] | {"ok": False, "error": error}))
    spent = "spent   steps 0, tool calls 1, tokens 7, seconds 0.000"
    errors = "errors  late 2, no kind 1"
    lines = summary_of(emitted(journal, ended("DONE", "x")).trace()).splitlines()
    assert lines[2:] == [spent, "forced  no", errors]
