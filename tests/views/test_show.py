"""A static page shows text as text."""

import re
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell

from workbook.runtime.journal import Journal
from workbook.views.show import (
    Diff,
    show_traces_as_tables,
    summary,
    to_html,
    turn_of,
    voice,
)

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> | `a` *b* [c](d)\nend"


def hostile_trace():
    journal = Journal()
    journal.emit("run_started", engine="naive", question=HOSTILE)
    journal.emit("model_request", prompt=HOSTILE)
    journal.emit("model_request", prompt=[{"role": "user", "content": HOSTILE}])
    journal.emit("model_turn", text=HOSTILE, usage=None)
    journal.emit("tool_call", call_id="1", tool=HOSTILE, arguments={HOSTILE: HOSTILE})
    journal.emit("observation", call_id="1", tool="t", ok=False, text=HOSTILE)
    ways = dict.fromkeys(("source", "event", "target", "why"), HOSTILE)
    journal.emit("transition", **ways, elapsed_s=0)
    journal.emit("run_finished", state="DONE", reason=HOSTILE, answer=HOSTILE)
    return journal.trace()


def test_html_escapes_whatever_anybody_wrote():
    """No tag of a model, a tool or a user gets into the page, and no formula."""
    page = to_html(hostile_trace())
    assert set(re.findall(r"<(\w+)", page)) <= {
        "table", "thead", "tbody", "tr", "th", "td", "code",
        "details", "summary", "div",
    }  # fmt: skip
    rows = re.findall(r"<tr><td .*?</tr>", page, re.DOTALL)
    assert len(rows) == len(hostile_trace())
    assert all('class="mathjax_ignore"' in row for row in rows)


def test_a_notebook_shows_a_trace_as_its_table(monkeypatch):
    """once a lesson's first cell has run; elsewhere a trace is one line"""
    shell = InteractiveShell()
    monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
    trace = hostile_trace()
    assert "text/html" not in shell.display_formatter.format(trace)[0]
    show_traces_as_tables()
    assert shell.display_formatter.format(trace)[0]["text/html"] == to_html(trace)


def test_a_long_text_is_folded_and_cut():
    """An event is one line of the table; the whole text stands folded below it."""
    journal = Journal()
    for text in ("one\ntwo", "short", "x" * 5000):
        journal.emit("observation", call_id="1", tool="t", ok=True, text=text)
    page = to_html(journal.trace())
    assert ">one two</summary>" in page
    assert ">one\ntwo</div></details>" in page
    assert ">short</td>" in page
    assert "x… (3,000 more characters)" in page


def test_what_a_tool_asked_is_indented():
    """An event with a parent stands a step to the right, with an arrow."""
    journal = Journal()
    journal.emit("model_request", prompt="a")
    journal.emit("model_request", prompt="b", parent=0)
    outer, inner = to_html(journal.trace()).split("<tr><td ")[1:]
    assert "↳" in inner
    assert "↳" not in outer


def test_messages_are_shown_with_their_roles_and_calls():
    """What a chat model is asked is read as text, the calls with it."""
    journal = Journal()
    asked = {"role": "user", "content": "2+2?"}
    calls = [{"id": "1", "type": "function", "function": {"name": "Sum"}}]
    journal.emit("model_request", prompt=[asked])
    said = {"role": "assistant", "content": "", "tool_calls": calls}
    journal.emit("model_request", prompt=[asked, said])
    first, second = map(summary, journal.trace())
    assert first == "user: 2+2?"
    assert second.startswith("(… 1 message as before)\nassistant:")
    assert '"Sum"' in second


def test_a_diff_has_colours_and_keeps_its_signs():
    """What is new and what is gone is coloured, and each line is text."""
    page = Diff("--- a\n-<b>old\n+new\n same")._repr_html_()
    lines = re.findall(r"<span style=\"([^\"]*)\">([^<]*)</span>", page)
    assert [words for _, words in lines] == ["--- a", "-&lt;b&gt;old", "+new", " same"]
    assert ["background-color" in style for style, _ in lines[1:]] == [
        True,
        True,
        False,
    ]


ACTION = {"kind": "action", "thought": "a", "tool": "Sum", "input": "1"}
CALL = {"call_id": "1", "tool": "Sum", "arguments": {"n": 1}}


@pytest.mark.parametrize(
    ("fields", "chat", "turn"),
    [
        ({"text": "a\nAction: Sum\nAction Input: 1"}, False, ACTION),
        ({"text": "88"}, True, {"kind": "final", "thought": "", "answer": "88"}),
        ({"text": '{"name": "Sum"}'}, True, "malformed"),
        ({"text": "Final Answer: 8", "finish": "length"}, False, "malformed"),
        ({"text": "88", "finish": "cancelled"}, True, "malformed"),
        (
            {"text": " a ", "calls": [{"name": "Sum", "arguments": {"n": 1}}]},
            True,
            {"kind": "calls", "thought": "a", "calls": [CALL]},
        ),
        ({"text": "as you like", "turn": ACTION}, False, ACTION),
        ({"text": "as you like", "turn": None}, False, {}),
    ],
)
def test_what_a_turn_did_is_read_from_its_event(fields, chat, turn):
    """as the machine reads it, cut or whole; an engine's own reading comes first"""
    for call in fields.get("calls", ()):
        call["call_id"] = "1"
    found = turn_of({"kind": "model_turn", **fields}, chat, ["Sum"])
    assert found == turn or found.get("kind") == turn


@pytest.mark.parametrize(
    ("fields", "whose"),
    [
        ({"who": "policy", "what": "ask"}, "runtime"),
        ({"who": "policy", "what": "deny"}, "danger"),
        ({"who": "Ada", "what": "approve", "answer": {}}, "user"),
        ({"who": "user", "what": "cancel", "signal": True}, "user"),
        ({"who": "Ada", "what": "mode", "mode": "plan", "signal": True}, "user"),
        ({"who": "record", "what": "resumed", "signal": True}, "runtime"),
        ({"who": "runtime", "what": "timed_out", "stopped": True}, "danger"),
    ],
)
def test_a_decision_has_the_colour_of_whoever_decided(fields, whose):
    """a person, the runtime; what was refused or stopped is danger"""
    assert voice({"kind": "decision", "why": "", **fields}) == whose
