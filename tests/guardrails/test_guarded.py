"""The machine with its guards, on scripts: who says stop, and who may do what."""

import threading
from itertools import product

import pytest

from workbook.fsm import FunctionCalls, IllegalTransition, TextTurns
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Approve, Edit, Reject, no, yes
from workbook.guardrails.table import GUARDED, ONE_CALL
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import Effect
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter

N = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
READ, WRITE = "Action: Look\nAction Input: {}", "Action: Send\nAction Input: {}"
FINAL = "Final Answer: 7"


class World:
    """Two tools, of which one changes something, and what it was called with."""

    def __init__(self, look=lambda n: {"result": n}):
        self.sent = []
        self.tools = [
            Tool("Look", "Looks.", N, look, timeout_s=None),
            Tool("Send", "Sends.", N, self.send, Effect.WRITE, timeout_s=None),
        ]

    def send(self, n):
        self.sent.append(n)
        return {"result": f"sent {n}"}


def play(turns, *, world=None, question="What is it?", **options):
    world, told = world or World(), TraceWriter()
    model = turns if hasattr(turns, "name") else Script(turns)
    machine = guarded(model, world.tools, hook=told, **options)
    return machine.run(question), told.trace(), world


@pytest.mark.parametrize("table", [GUARDED, ONE_CALL])
def test_the_table_keeps_its_promises(table):
    """the audit is clean, and each pair of state and event without a row raises"""
    assert table.audit() == []
    for state, event in product(table.states, {rule.event for rule in table.rules}):
        if (state, event) not in table.rows:
            with pytest.raises(IllegalTransition):
                table.advance(state, event)


# policy and approval


def approve_another(request):
    return Approve(request.call.call_id, "another digest")


@pytest.mark.parametrize(
    ("turn", "mode", "ask", "sent", "decided"),
    [
        (READ, "plan", None, [], []),
        (WRITE, "plan", yes, [], ["deny"]),
        (WRITE, "build", yes, [1], ["ask", "approve"]),
        (WRITE, "build", lambda r: Reject("too dear"), [], ["ask", "reject"]),
        (WRITE, "build", lambda r: Edit({"n": 2}), [2], ["ask", "edit"]),
        (WRITE, "build", lambda r: Edit({"n": "x"}), [], ["ask", *["edit"] * 3]),
        (WRITE, "build", approve_another, [], ["ask", *["approve"] * 3]),
    ],
)
def test_what_becomes_of_a_call(turn, mode, ask, sent, decided):
    """each mode, and each answer, has its effect or none; the trace says who decided"""
    end, trace, world = play([turn.format(1), FINAL], mode=mode, ask=ask)
    assert (end.state, world.sent) == ("DONE", sent)
    assert [e["what"] for e in trace.of("decision")] == decided
    [observation] = trace.of("observation")
    assert observation["ok"] is (bool(sent) or not decided)
    if "reject" in decided:
        assert "too dear" in observation["text"]


def test_an_edit_that_breaks_the_schema_is_refused_in_words():
    """the person is told what was wrong with the edit, and asked again"""
    answers, seen = [Edit({"n": "two"}), Edit({"n": 3})], []

    def ask(request):
        seen.append(request.problem)
        return answers.pop(0)

    end, _, world = play([WRITE.format(1), FINAL], ask=ask)
    assert (end.state, world.sent, seen[0]) == ("DONE", [3], "")
    assert "two" in seen[1]


def test_only_a_person_changes_the_mode():
    """set_mode takes effect in the run, and the trace says who did it"""

    class Impatient(Script):
        def complete(self, prompt, **options):
            if self.asked == 1:
                machine.set_mode("build", who="Ada")
            return super().complete(prompt, **options)

    world, told = World(), TraceWriter()
    model = Impatient([WRITE.format(1), WRITE.format(2), FINAL])
    machine = guarded(model, world.tools, mode="plan", ask=yes, hook=told)
    assert machine.run("?").state == "DONE"
    assert world.sent == [2]
    [switch] = [e for e in told.trace().of("decision") if e["what"] == "mode"]
    assert (switch["who"], switch["mode"]) == ("Ada", "build")
    with pytest.raises(ValueError, match="yolo"):
        machine.set_mode("yolo")


def test_a_write_that_nobody_allowed_is_an_error():
    """a handler that waves a WRITE through ends the run, and nothing is sent"""
    world = World()
    machine = guarded(Script([WRITE.format(1), FINAL]), world.tools, ask=yes)
    machine.handlers["POLICY"] = lambda run: "allowed"
    end = machine.run("?")
    assert (end.state, world.sent) == ("ERROR", [])
    assert "nobody allowed" in end.message


def test_several_calls_are_asked_one_by_one():
    """each call of a turn gets its own question, and its own answer"""
    calls = [ToolRequest("Send", {"n": n}, f"id{n}") for n in (1, 2, 3)]
    answers = iter([yes, no, yes])
    end, trace, world = play(
        [calls, FINAL], ask=lambda r: next(answers)(r), adapter=FunctionCalls
    )
    assert (end.state, world.sent) == ("DONE", [1, 3])
    assert [e["ok"] for e in trace.of("observation")] == [True, False, True]


def test_a_person_who_breaks_ends_the_run():
    """an exception of whoever is asked is ERROR, and nothing was done"""

    def gone(request):
        raise ConnectionError("the browser was closed")

    end, _, world = play([WRITE.format(1), FINAL], ask=gone)
    assert (end.state, world.sent) == ("ERROR", [])
    assert "browser was closed" in end.message


def test_the_time_that_a_person_takes_is_not_the_runs():
    """a budget of a minute survives a person who thinks for an hour"""
    clock = [0.0]

    def slow(request):
        clock[0] += 3600
        return yes(request)

    end, *_ = play(
        [WRITE.format(1), FINAL],
        ask=slow,
        budget=Budget(wall_s=60),
        clock=lambda: clock[0],
    )
    assert (end.state, end.spent.wall_s) == ("DONE", 0)


# stuck


@pytest.mark.parametrize("turn", [READ.format(1), "Hmm."])
def test_a_repetition_is_warned_of_and_then_ends_the_run(turn):
    """third time: a warning that the model reads; fourth time: STUCK"""
    script = Script([turn], repeat_last=True)
    end, trace, _ = play(script)
    assert (end.state, end.reason, end.spent.steps) == ("STUCK", "repeated", 4)
    assert [e["what"] for e in trace.of("decision")] == ["warning", "stuck"]
    assert "3 times" in str(script.requests[-1].prompt)


def test_whoever_polls_or_listens_goes_on():
    """answers that change are no repetition, and a warning may be followed"""
    answers = iter(range(100))
    world = World(look=lambda n: {"result": f"{next(answers)} %"})
    polls, listens = [READ.format(1)] * 8, [READ.format(1)] * 3 + [READ.format(2)]
    assert play([*polls, FINAL], world=world)[0].state == "DONE"
    assert play([*listens, FINAL])[0].state == "DONE"


# budget and convergence


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
def test_at_the_last_step_the_tools_are_withdrawn(adapter):
    """the model is told to answer, and what it then says is marked as forced"""
    calls = [[ToolRequest("Look", {"n": 1})]]
    script = Script([*(calls if adapter is FunctionCalls else [READ.format(1)]), FINAL])
    end, trace, _ = play(script, budget=Budget(steps=2), adapter=adapter)
    assert (end.state, end.answer, end.forced) == ("DONE", "7", True)
    assert trace.end["forced"] is True
    assert "No tool" in str(script.requests[-1].prompt)
    assert not script.requests[-1].tools


def test_a_model_that_calls_a_tool_all_the_same_is_exhausted():
    """its call gets its one observation, a refusal, and the run ends"""
    end, trace, _ = play([READ.format(n) for n in range(9)], budget=Budget(steps=3))
    assert (end.state, end.reason, end.spent.tool_calls) == (
        "EXHAUSTED",
        "not_converged",
        2,
    )
    assert trace.of("observation")[-1]["error"]["kind"] == "withdrawn"
    turns = [READ.format(n) for n in range(9)]
    end, *_ = play(turns, budget=Budget(steps=3), converge=False)
    assert (end.reason, end.forced) == ("out_of_steps", False)


@pytest.mark.parametrize("tokens", [1_000, 2_000, 5_000])
def test_the_model_is_told_while_a_prompt_can_still_be_paid(tokens):
    """tools are withdrawn before the prompt that leaves little, not after it"""
    turns = [f"Thought: {'so ' * 20}\n{READ.format(n)}" for n in range(99)]
    end, trace, _ = play(turns, budget=Budget(steps=99, tokens=tokens))
    assert (end.reason, end.forced) == ("not_converged", True)
    asked = [e["kind"] for e in trace.events[trace.of("decision")[0]["seq"] :]]
    assert asked.count("model_turn") == 1
    assert end.spent.usage.input + end.spent.usage.output <= tokens


def test_a_hung_model_is_given_up():
    """a model call in flight has its time"""

    class Hung:
        name = "hung"

        def complete(self, prompt, *, stop=()):
            threading.Event().wait(30)

    end, *_ = play(Hung(), budget=Budget(model_s=0.05))
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")
