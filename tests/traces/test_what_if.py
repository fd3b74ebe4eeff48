"""A recorded run with one thing changed: what happens from there on."""

import json
import re
from dataclasses import replace

import pytest

from workbook.fsm import FunctionCalls, Machine
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.calls import Effect
from workbook.tools.registry import ToolRegistry
from workbook.traces.divergence import Divergence, first_divergence
from workbook.traces.events import TraceError
from workbook.traces.replay import replay
from workbook.traces.trace import Trace
from workbook.traces.what_if import what_if
from workbook.traces.writer import TraceWriter

ACT = "Action: Calculator\nAction Input: {}"
TURNS = [ACT.format("100-20"), ACT.format("80*1.1"), "Final Answer: 88"]
CALLS = [
    [ToolRequest("Calculator", {"expression": "100-20"}, "a")],
    [ToolRequest("Calculator", {"expression": "80*1.1"}, "b")],
    "88",
]


def machine(turns, tool=calculator(), **options):  # noqa: B008
    return Machine(Script(turns), ToolRegistry([tool]), **options)


def with_guards(turns, budget=Budget(), **options):  # noqa: B008
    return guarded(Script(turns), [calculator()], budget=budget, **options)


def a_run(turns=TURNS, make=machine, **options):
    with TraceWriter() as hook:
        make(turns, hook=hook, **options).run("What is the price?")
    return hook.trace()


def number_of(trace, kind, which=0):
    return trace.of(kind)[which]["seq"]


TIMEOUT = {"kind": "timeout", "message": "no answer", "retryable": True}


@pytest.mark.parametrize(
    ("change", "words"),
    [({"result": {"result": 90}}, "90"), ({"error": TIMEOUT}, "no answer")],
)
def test_another_observation(change, words, tmp_path):
    """The model goes on from a result, or from an error, that no tool made."""
    old, live = a_run(), machine([])
    k = number_of(old, "observation")
    live.model = Script([{"if_seen": words, "then": "Final Answer: 99", "else": "Hm."}])
    new = what_if(old, k, change, live)
    assert (new.end["answer"], new.events[k]["ok"]) == ("99", "result" in change)
    assert words in new.events[k]["text"]
    assert first_divergence(old.events, new.events) == k
    assert replay(new, machine([])).answer == "99"
    parent = {"trace_id": old.events[0]["trace_id"], "seq": k, "change": change}
    assert new.events[0]["what_if"] == parent
    assert new.events[0]["trace_id"] != parent["trace_id"]
    assert Trace.read(new.save(tmp_path / "t.jsonl")) == new
    assert "what_if" not in old.events[0]


@pytest.mark.parametrize("adapter", [None, FunctionCalls])
def test_another_turn(adapter):
    """A turn is changed by its text or by its calls; its tool is called then."""
    calls = {"calls": [{"tool": "Calculator", "arguments": {"expression": "2+3"}}]}
    change = calls if adapter else {"text": ACT.format("2+3")}
    old = a_run(CALLS if adapter else TURNS, adapter=adapter)
    live = machine(["Final Answer: 5"], adapter=adapter)
    new = what_if(old, number_of(old, "model_turn", 1), change, live)
    assert [event["text"] for event in new.of("observation")] == ["80", "5"]
    assert new.end["answer"] == "5"


def test_the_guarded_machine_goes_on_too():
    """Budgets and guards go on from where the changed event stands."""
    old, live = a_run(make=with_guards), with_guards(["Final Answer: 7"])
    new = what_if(old, number_of(old, "observation"), {"result": {"result": 7}}, live)
    assert new.end["answer"] == "7"


@pytest.mark.parametrize(
    ("k", "change", "told"),
    [
        (-1, {"text": "Hm."}, "no event -1: the run has 0 to"),
        (99, {"text": "Hm."}, "no event 99"),
        ("transition", {"event": "cancel"}, "a model_turn or an observation can"),
        ("observation", {"text": "80"}, "result"),
        ("model_turn", {"calls": [{"tool": "Calculator"}]}, "arguments"),
        ("observation", {"result": {"result": object()}}, "serializable"),
        ("observation", {"result": 80}, "a result is an object"),
        ("observation", {"result": {"result": 1}}, "runtime's own"),  # of "Hm."
    ],
)
def test_what_cannot_be_changed_is_told(k, change, told):
    """Another event or field, or what no tool said: a sentence says what can be."""
    old = a_run(["Hm.", *TURNS])
    seen = [event["seq"] for event in old if event["kind"] == k]
    with pytest.raises(TraceError, match=re.escape(told)):
        what_if(old, seen[0] if seen else k, change, machine([]))


def test_another_machine_is_told_before_the_change():
    """What differs before event k is a Divergence, and no fault of the change."""
    old = a_run()
    k, other = number_of(old, "observation"), machine([], preamble="Another. ")
    with pytest.raises(Divergence):
        what_if(old, k, {"result": {"result": 90}}, other)


@pytest.mark.parametrize("secrets", [["hunter2-hunter2"], None])
def test_a_change_is_written_without_the_secrets(secrets, monkeypatch):
    """No secret of the machine's hook, or of the environment, is in what is written."""
    monkeypatch.setenv("MY_API_KEY", "hunter2-hunter2")
    old, live = a_run(), machine([], hook=TraceWriter(secrets=secrets))
    k, change = number_of(old, "model_turn"), {"text": "Final Answer: hunter2-hunter2"}
    new = what_if(old, k, change, live)
    assert "[secret]" in new.events[0]["what_if"]["change"]["text"]
    assert "hunter2" not in json.dumps(new.events)


def test_what_a_write_answered_is_not_written_again():
    """Its observation is changed as any other: the tool is not called."""
    made, tool = [], replace(calculator(), effect=Effect.WRITE)
    tool = replace(tool, run=lambda expression: made.append(expression) or {})
    old = a_run([TURNS[0], "Final Answer: 1"], tool=tool)
    k, live = number_of(old, "observation"), machine(["Final Answer: 2"], tool)
    new = what_if(old, k, {"result": {"result": 9}}, live)
    assert (made, new.end["answer"]) == (["100-20"], "2")


def test_what_a_tool_would_have_said_is_an_answer_to_its_call():
    """The model reads a changed observation under the call's own id."""
    old = a_run(CALLS, adapter=FunctionCalls)
    change, live = {"result": {"result": 90}}, machine(["99"], adapter=FunctionCalls)
    what_if(old, number_of(old, "observation"), change, live)
    (asked,) = live.model.requests
    assert asked.prompt[-1] == {"role": "tool", "tool_call_id": "a", "content": "90"}
