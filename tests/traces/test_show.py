"""A static page shows text as text."""

import re
import sys

from IPython.core.interactiveshell import InteractiveShell

from workbook.traces.show import Diff, show_traces_as_tables, summary, to_html
from workbook.traces.writer import TraceWriter

HOSTILE = "<script>alert(1)</script> <img src=x onerror=alert(1)> | `a` *b* [c](d)\nend"


def hostile_trace():
    emit = TraceWriter()
    emit("run_started", engine="naive", question=HOSTILE)
    emit("model_request", prompt=HOSTILE)
    emit("model_request", prompt=[{"role": "user", "content": HOSTILE}])
    emit("model_turn", text=HOSTILE, turn={}, usage=None)
    emit("tool_call", call_id="1", tool=HOSTILE, arguments={HOSTILE: HOSTILE})
    emit("observation", call_id="1", tool="t", ok=False, text=HOSTILE)
    ways = dict.fromkeys(("source", "event", "target", "why"), HOSTILE)
    emit("transition", **ways, elapsed_s=0)
    emit("run_finished", state="DONE", reason=HOSTILE, answer=HOSTILE)
    return emit.trace()


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
    emit = TraceWriter()
    for text in ("one\ntwo", "short", "x" * 5000):
        emit("observation", call_id="1", tool="t", ok=True, text=text)
    page = to_html(emit.trace())
    assert ">one two</summary>" in page
    assert ">one\ntwo</div></details>" in page
    assert ">short</td>" in page
    assert "x… (3,000 more characters)" in page


def test_what_a_tool_asked_is_indented():
    """An event with a parent stands a step to the right, with an arrow."""
    emit = TraceWriter()
    emit("model_request", prompt="a")
    emit("model_request", prompt="b", parent=0)
    outer, inner = to_html(emit.trace()).split("<tr><td ")[1:]
    assert "↳" in inner
    assert "↳" not in outer


def test_messages_are_shown_with_their_roles_and_calls():
    """What a chat model is asked is read as text, the calls with it."""
    emit = TraceWriter()
    asked = {"role": "user", "content": "2+2?"}
    calls = [{"id": "1", "type": "function", "function": {"name": "Sum"}}]
    emit("model_request", prompt=[asked])
    said = {"role": "assistant", "content": "", "tool_calls": calls}
    emit("model_request", prompt=[asked, said])
    first, second = map(summary, emit.events)
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
