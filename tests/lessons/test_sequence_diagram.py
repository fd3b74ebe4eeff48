"""The sequence diagram: every event of a trace is one arrow."""

import re

import pytest

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


def arrows(text):
    """Return who speaks, the arrow and who listens, of each line with an arrow."""
    return [line.strip().split(":")[0] for line in text.splitlines() if ">>" in line]


def assert_arrows(text, *expected):
    found = arrows(text)
    assert found == [*expected], f"the arrows are {found}, not {[*expected]}"


def test_the_head_comes_first(sequence_diagram):
    """first come the lines of `head(trace)`; without events there is nothing else"""
    assert sequence_diagram([]) == HEAD
    text = sequence_diagram(numbered(call(), answer()))
    right = f"{HEAD}\n    participant T1 as Sum\n"
    assert text.startswith(right), f"it begins with {text[:120]!r}, not {right!r}"


def test_a_run_without_tools(sequence_diagram):
    """a run goes User->>Agent, Agent->>Model, Model-->>Agent, Agent-->>User"""
    text = sequence_diagram(numbered(ASKED, REQUEST, ANSWERS, END))
    assert_arrows(
        text, "User->>Agent", "Agent->>Model", "Model-->>Agent", "Agent-->>User"
    )


def test_a_tool_is_called_and_answers(sequence_diagram):
    """a tool_call is Agent->>T1, its observation T1-->>Agent: T1 is the tool's id"""
    calls = [call("B"), answer("B"), call("A"), answer("A"), call("B"), answer("B")]
    one, two = ["Agent->>T1", "T1-->>Agent"], ["Agent->>T2", "T2-->>Agent"]
    assert_arrows(sequence_diagram(numbered(*calls)), *one, *two, *one)


@pytest.mark.parametrize(("parent", "tool"), [(0, "T1"), (2, "T2")])
def test_the_hidden_call_comes_from_the_tool(sequence_diagram, parent, tool):
    """if an event has a `parent`, the id of the parent's tool takes Agent's place"""
    earlier = [call("Search"), answer("Search")][:parent]
    hidden = [{**event, "parent": parent} for event in (REQUEST, HIDDEN)]
    drawn = sequence_diagram(numbered(*earlier, call(), *hidden, answer()))
    found, right = arrows(drawn)[-3:-1], [f"{tool}->>Model", f"Model-->>{tool}"]
    assert found == right, f"the tool's own call is {found}, not {right}"
    inner = [{**event, "parent": parent} for event in (call("In"), answer("In"))]
    drawn = sequence_diagram(numbered(*earlier, call(), *inner, answer()))
    other = f"T{int(tool[1:]) + 1}"
    found, right = arrows(drawn)[-3:-1], [f"{tool}->>{other}", f"{other}-->>{tool}"]
    assert found == right, f"a tool that calls a tool is drawn {found}, not {right}"


def test_a_transition_is_no_arrow(sequence_diagram):
    """a transition gets no arrow: nothing is sent"""
    text = sequence_diagram(numbered(ASKED, MOVED, MOVED))
    assert_arrows(text, "User->>Agent")
    lines = text.removeprefix(HEAD).strip().splitlines()
    assert len(lines) == 1, f"{lines} for one arrow"


def test_an_arrow_has_its_label(sequence_diagram):
    """a line is four spaces, the arrow, ": " and label(event), failed calls too"""
    trace = numbered(call(), answer(text='no; "sum" #1', ok=False))
    for line, right in zip(
        sequence_diagram(trace).splitlines()[-2:],
        ["2+2", "no#59; #34;sum#34; #35;1"],
        strict=True,
    ):
        assert re.match(r"    \w", line), f"four spaces do not begin {line!r}"
        label = line.partition(": ")[2]
        assert label == right, f"the label is {label!r}, not {right!r}"


def test_the_trace_may_be_read_only_once(sequence_diagram):
    """`trace` may be an iterator, which can be read only once"""
    trace = numbered(ASKED, CALLS, call(), answer(), END)
    expected = sequence_diagram(trace)
    assert sequence_diagram(iter(trace)) == expected
