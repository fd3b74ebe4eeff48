"""The sequence diagram: every event of a trace is one arrow."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.langchain_trace.diagram import sequence_diagram as ours

HEAD = """sequenceDiagram
    participant User
    participant Agent
    participant Model"""

ASKED = {"kind": "run_started", "engine": "naive", "question": "2+2?"}
REQUEST = {"kind": "model_request", "prompt": "Question: 2+2?", "kept": 0}
CALLS = {
    "kind": "model_turn",
    "text": "Action: Sum",
    "turn": {"kind": "action", "thought": "", "tool": "Sum", "input": "2+2"},
}
ANSWERS = {
    "kind": "model_turn",
    "text": "Final Answer: 4",
    "turn": {"kind": "final", "thought": "", "answer": "4"},
}
HIDDEN = {"kind": "model_turn", "text": "2+2", "turn": {"kind": "text"}}
END = {"kind": "run_finished", "state": "DONE", "reason": "final_answer", "answer": "4"}
MOVED = {"kind": "transition", "source": "THINK", "event": "x", "target": "OBSERVE"}


def call(tool="Sum"):
    return {"kind": "tool_call", "tool": tool, "arguments": {"input": "2+2"}}


def answer(tool="Sum", text="4", ok=True):
    return {"kind": "observation", "tool": tool, "ok": ok, "text": text}


def numbered(*events):
    """Return the events with their `seq`."""
    return [{**event, "seq": seq} for seq, event in enumerate(events)]


def test_a_trace_without_events_has_its_participants(sequence_diagram):
    """first come the lines of head(trace); without events there is nothing else"""
    assert sequence_diagram([]) == HEAD


def test_a_run_without_tools(sequence_diagram):
    """a run goes User->>Agent, Agent->>Model, Model-->>Agent, Agent-->>User"""
    trace = numbered(ASKED, REQUEST, ANSWERS, END)
    assert sequence_diagram(trace) == HEAD + (
        "\n    User->>Agent: 2+2?"
        "\n    Agent->>Model: 14 characters"
        "\n    Model-->>Agent: Final Answer#58; 4"
        "\n    Agent-->>User: DONE (final_answer)#58; 4"
    )


def test_a_tool_is_called_and_answers(sequence_diagram):
    """a tool_call is Agent->>T1, its observation T1-->>Agent: T1 is the tool's id"""
    trace = numbered(CALLS, call(), answer())
    assert sequence_diagram(trace) == HEAD + (
        "\n    participant T1 as Sum"
        "\n    Model-->>Agent: Action#58; Sum"
        "\n    Agent->>T1: 2+2"
        "\n    T1-->>Agent: 4"
    )


def test_each_tool_has_its_own_line(sequence_diagram):
    """each tool has its id: T1, T2, in the order of their first calls"""
    calls = [call("B"), answer("B"), call("A"), answer("A"), call("B"), answer("B")]
    assert sequence_diagram(numbered(*calls)) == HEAD + (
        "\n    participant T1 as B"
        "\n    participant T2 as A"
        "\n    Agent->>T1: 2+2\n    T1-->>Agent: 4"
        "\n    Agent->>T2: 2+2\n    T2-->>Agent: 4"
        "\n    Agent->>T1: 2+2\n    T1-->>Agent: 4"
    )


@pytest.mark.parametrize(("parent", "tool"), [(0, "T1"), (2, "T2")])
def test_the_hidden_call_comes_from_the_tool(sequence_diagram, parent, tool):
    """if an event has a `parent`, the id of the parent's tool takes Agent's place"""
    earlier = [call("Search"), answer("Search")][:parent]
    hidden = [{**event, "parent": parent} for event in (REQUEST, HIDDEN)]
    trace = numbered(*earlier, call(), *hidden, answer())
    assert sequence_diagram(trace).splitlines()[-4:] == [
        f"    Agent->>{tool}: 2+2",
        f"    {tool}->>Model: 14 characters",
        f"    Model-->>{tool}: 2+2",
        f"    {tool}-->>Agent: 4",
    ]
    inner = [{**event, "parent": parent} for event in (call("In"), answer("In"))]
    drawn = sequence_diagram(numbered(*earlier, call(), *inner, answer()))
    asked, answered = drawn.splitlines()[-3:-1]
    id_ = f"T{int(tool[1:]) + 1}"
    assert (asked, answered) == (f"    {tool}->>{id_}: 2+2", f"    {id_}-->>{tool}: 4")


def test_a_transition_is_no_arrow(sequence_diagram):
    """a transition gets no arrow: nobody speaks"""
    assert sequence_diagram(numbered(ASKED, MOVED)) == HEAD + (
        "\n    User->>Agent: 2+2?"
    )


def test_an_error_says_so(sequence_diagram):
    """a line is four spaces, the arrow, ": " and label(event), also of a failed call"""
    trace = numbered(call(), answer(text='no; "sum" #1', ok=False))
    assert sequence_diagram(trace) == HEAD + (
        "\n    participant T1 as Sum"
        "\n    Agent->>T1: 2+2"
        "\n    T1-->>Agent: error#58; no#59; #34;sum#34; #35;1"
    )


ARROW = re.compile(
    r"    (User|Agent|Model|T\d+)(->>|-->>)(User|Agent|Model|T\d+): (.+)"
)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=40), st.text(min_size=1, max_size=20))
def test_no_text_breaks_the_diagram(text, tool):
    """whatever a model or a tool wrote, an event stays one arrow on one line"""
    trace = numbered({**ASKED, "question": text}, call(tool), answer(tool, text))
    lines = ours(trace).split("\n")
    assert len(lines) == 5 + 3
    assert all(ARROW.fullmatch(line) for line in lines[5:])
    assert not re.search(r"[;#](?!\w)", re.sub(r"#\d+;", "", "".join(lines)))
