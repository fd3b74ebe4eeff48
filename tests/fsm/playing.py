"""A machine with one tool on a script, and what holds for each of its runs."""

import json

from workbook.fsm import CORE, Machine
from workbook.models.script import Script
from workbook.tools import Effect, Tool, ToolRegistry
from workbook.traces import TraceWriter
from workbook.traces.events import check_event

ACT = "Thought: ask\nAction: Roll\nAction Input: {}"
FINAL = "Thought: done\nFinal Answer: 7"
NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "number", "multipleOf": 0.5}},
    "required": ["n"],
}


def machine(turns, run=lambda n: {"result": n}, timeout_s=None, **options):
    """Return a machine with a model or its turns, and a tool that does `run`."""
    tool = Tool("Roll", "Rolls.", NUMBER, run, Effect.WRITE, timeout_s=timeout_s)
    model = turns if hasattr(turns, "name") else Script(turns)
    return Machine(model, ToolRegistry([tool]), **options)


def play(turns, *about, **options):
    """Run such a machine; return the exit and the trace of a run that is honest."""
    writer = TraceWriter()
    end = machine(turns, *about, hook=writer, **options).run("What is it?")
    trace = writer.trace()
    assert_one_end(end, trace)
    assert_one_observation_per_call(trace)
    for seq, event in enumerate(trace):
        check_event(event, seq)
        assert json.loads(json.dumps(event)) == event
    return end, trace


def assert_one_end(end, trace):
    assert end.state in CORE.ends
    assert (end.answer is not None) == (end.state == "DONE")
    assert [e["seq"] for e in trace.of("run_finished")] == [len(trace) - 1]
    assert (trace.end["state"], trace.end["reason"]) == (end.state, end.reason)
    assert end.message == trace.end["message"] != ""
    rows = trace.of("transition")
    states = [CORE.start, *(row["target"] for row in rows)]
    assert states[:-1] == [row["source"] for row in rows]
    assert [s for s in states if s in CORE.ends] == [end.state]
    assert rows[-1]["event"] == end.reason
    for row in rows:
        assert CORE.advance(row["source"], row["event"]) == row["target"]


def assert_one_observation_per_call(trace):
    turns = [event["turn"] or {} for event in trace.of("model_turn")]
    asked = [call["call_id"] for turn in turns for call in turn.get("calls", ())]
    called = [event["call_id"] for event in trace.of("tool_call")]
    seen = [e["call_id"] for e in trace.of("observation") if e["call_id"] is not None]
    assert seen == called
    assert len(set(seen)) == len(seen)
    actions = [turn for turn in turns if turn.get("kind") == "action"]
    assert len(called) == len(asked) + len(actions)
    assert set(asked) <= set(called)
