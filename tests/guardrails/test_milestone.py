"""Milestone two: the machine mends a failing test, in plan mode first, then asking."""

import json

import pytest

from workbook.fsm import FunctionCalls, TextTurns
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Reject, yes
from workbook.loop.turns import Action, parse_turn
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.props.workspace import Workspace
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.stage.scenarios import load

TASK = load("mend_the_test")


def as_calls(turn):
    """Return a text turn as the call that it asks for; other turns as they are."""
    step = parse_turn(turn) if isinstance(turn, str) else None
    if not isinstance(step, Action):
        return turn
    return [ToolRequest(step.tool, json.loads(step.input))]


@pytest.fixture(params=[TextTurns, FunctionCalls], ids=["text", "calls"])
def agent(request, tmp_path):
    """Return what lets the expert work in one folder, in text turns or in calls."""
    place = Workspace.sample(tmp_path / "work")

    def work(mode, ask, turns=TASK.turns):
        in_calls = request.param is FunctionCalls
        script = Script([as_calls(turn) for turn in turns] if in_calls else turns)
        ledger, told = Ledger(tmp_path / "ledger.db"), TraceWriter()
        options = {"mode": mode, "ask": ask, "ledger": ledger, "hook": told}
        machine = guarded(script, place.tools(), adapter=request.param, **options)
        return machine.run(TASK.question), told.trace()

    work.place, work.adapter = place, request.param
    return work


def text_of(agent):
    return agent.place.read_file("price.py")["text"]


def test_it_mends_the_test_in_plan_mode_and_then_in_build_mode(agent):
    """a plan leaves the file as it was; then, with a yes, both tests pass"""
    before, shown = text_of(agent), []

    def look(request):
        shown.append(request.preview)
        return yes(request)

    end, trace = agent("plan", look)
    assert (end.answer, text_of(agent), shown) == ("I could not mend it.", before, [])
    assert [e["what"] for e in trace.of("decision")] == ["deny"]
    end, trace = agent("build", look)
    assert end.state == "DONE"
    assert end.answer.endswith("both tests pass.")
    assert agent.place.run_tests()["passed"]
    assert [e["what"] for e in trace.of("decision")] == ["ask", "approve"]


def test_who_approves_sees_the_difference(agent):
    """the request shows which line goes and which one comes, before it is written"""
    shown = []

    def look(request):
        shown.append((request.tool.name, request.preview, text_of(agent)))
        return yes(request)

    before = text_of(agent)
    agent("build", look)
    [(tool, preview, then)] = shown
    assert (tool, then) == ("write_file", before)
    lines = preview.splitlines()
    gone = [line for line in lines if line.startswith("-    return")]
    come = [line for line in lines if line.startswith("+    return")]
    assert gone == ["-    return listed * (1 - off / 100 + on_top / 100)"]
    assert come == ["+    return listed * (1 - off / 100) * (1 + on_top / 100)"]


def test_a_rejected_write_leaves_the_file_as_it_was(agent):
    """after a no the file is what it was, and the model has read why"""
    before = text_of(agent)
    end, trace = agent("build", lambda request: Reject("not on a Friday", who="Ada"))
    assert (end.answer, text_of(agent)) == ("I could not mend it.", before)
    (refused,) = [e for e in trace.of("observation") if not e["ok"]]
    assert (refused["tool"], refused["error"]["kind"]) == ("write_file", "denied")
    assert "not on a Friday" in refused["text"]
    with pytest.raises(LookupError):
        agent.place.undo()


def test_a_write_that_was_approved_can_be_taken_back(agent):
    """undo brings the text back that was there before the agent came"""
    before = text_of(agent)
    agent("build", yes)
    assert agent.place.undo() == "price.py"
    assert text_of(agent) == before


def test_a_write_that_waits_is_made_the_next_day(agent, tmp_path):
    """suspended before the write, the run goes on from its file and mends the test"""
    path, before = tmp_path / "run.jsonl", text_of(agent)
    tools, ledger = agent.place.tools(), Ledger(tmp_path / "ledger.db")
    turns = TASK.turns
    if agent.adapter is FunctionCalls:
        turns = [as_calls(turn) for turn in turns]
    options = {"adapter": agent.adapter, "ledger": ledger}
    with TraceWriter(path) as hook:
        end = guarded(Script(turns), tools, hook=hook, **options).run(TASK.question)
    assert (end.state, text_of(agent)) == ("PENDING", before)
    said = len(Trace.read(path).of("model_turn"))
    end = guarded(Script(turns[said:]), tools, ask=yes, **options).resume(path)
    assert end.state == "DONE"
    assert agent.place.run_tests()["passed"]
