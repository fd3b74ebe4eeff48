"""The machine with its guards, on scripts: who says stop, and who may do what."""

import threading

import pytest

from workbook.fsm import FunctionCalls, TextTurns
from workbook.guardrails.budget import Budget
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Approve, Edit, Reject, no, yes
from workbook.models.base import Completion, ToolRequest
from workbook.models.script import Script
from workbook.tools.calls import Effect
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter

N = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
READ, WRITE = "Action: Look\nAction Input: {}", "Action: Send\nAction Input: {}"
FINAL = "Final Answer: 7"


def machine(model, sent, **options):
    """Return a guarded machine with two tools, and what tells its trace."""
    told = TraceWriter()
    tools = [
        Tool("Look", "Looks.", N, lambda n: {"result": n}, timeout_s=None),
        Tool("Send", "Sends.", N, lambda n: sent.append(n) or {}, Effect.WRITE),
    ]
    return guarded(model, tools, hook=told, **options), told


def play(turns, **options):
    """Run a script or a model; return its end, its trace, and what was sent."""
    sent, model = [], turns if hasattr(turns, "name") else Script(turns)
    made, told = machine(model, sent, **options)
    return made.run("What is it?"), told.trace(), sent


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
    end, trace, found = play([turn.format(1), FINAL], mode=mode, ask=ask)
    assert (end.state, found) == ("DONE", sent)
    assert [e["what"] for e in trace.of("decision")] == decided
    [observation] = trace.of("observation")
    assert observation["ok"] is (bool(sent) or not decided)
    if "reject" in decided:
        assert "too dear" in observation["text"]


def test_an_edit_that_breaks_the_schema_is_refused_in_words():
    """the person is told what was wrong with the edit, and asked again"""
    answers, seen = [Edit({"n": "two"}), Edit({"n": 3})], []
    ask = lambda request: seen.append(request.problem) or answers.pop(0)  # noqa: E731
    end, _, sent = play([WRITE.format(1), FINAL], ask=ask)
    assert (end.state, sent, seen[0]) == ("DONE", [3], "")
    assert "two" in seen[1]


def test_only_a_person_changes_the_mode():
    """set_mode takes effect in the run, and the trace says who did it"""

    def impatient(seen):
        made.set_mode("build", who="Ada")
        return WRITE.format(2)

    sent, script = [], Script([WRITE.format(1), impatient, FINAL])
    made, told = machine(script, sent, mode="plan", ask=yes)
    assert made.run("?").state == "DONE"
    assert sent == [2]
    [switch] = [e for e in told.trace().of("decision") if e["what"] == "mode"]
    assert (switch["who"], switch["mode"]) == ("Ada", "build")
    with pytest.raises(ValueError, match="yolo"):
        made.set_mode("yolo")


def test_a_write_that_nobody_allowed_is_an_error():
    """a handler that waves a WRITE through ends the run, and nothing is sent"""
    sent = []
    made, _ = machine(Script([WRITE.format(1), FINAL]), sent, ask=yes)
    made.handlers["POLICY"] = lambda run: "allowed"
    end = made.run("?")
    assert (end.state, sent) == ("ERROR", [])
    assert "nobody allowed" in end.message


def test_several_calls_are_asked_one_by_one():
    """each call of a turn gets its own question, and its own answer"""
    calls = [ToolRequest("Send", {"n": n}, f"id{n}") for n in (1, 2, 3)]
    answers = iter([yes, no, yes])
    ask = lambda request: next(answers)(request)  # noqa: E731
    _, trace, sent = play([calls, FINAL], ask=ask, adapter=FunctionCalls)
    assert sent == [1, 3]
    assert [e["ok"] for e in trace.of("observation")] == [True, False, True]


def test_the_time_that_a_person_takes_is_not_the_runs():
    """a budget of a minute survives a person who thinks for an hour"""
    clock = [0.0]

    def slow(request):
        clock[0] += 3600
        return yes(request)

    options = {"budget": Budget(wall_s=60), "clock": lambda: clock[0]}
    end, *_ = play([WRITE.format(1), FINAL], ask=slow, **options)
    assert (end.state, end.spent.wall_s) == ("DONE", 0)


# stuck, budget, convergence


@pytest.mark.parametrize("turn", [READ.format(1), "Hmm."])
def test_a_repetition_is_warned_of_and_then_ends_the_run(turn):
    """third time: a warning that the model reads; fourth time: STUCK"""
    script = Script([turn], repeat_last=True)
    end, trace, _ = play(script)
    assert (end.state, end.reason, end.spent.steps) == ("STUCK", "repeated", 4)
    assert [e["what"] for e in trace.of("decision")] == ["warning", "stuck"]
    assert "3 times" in str(script.requests[-1].prompt)


@pytest.mark.parametrize(
    ("adapter", "turn"),
    [(TextTurns, READ.format(1)), (FunctionCalls, ToolRequest("Look", {"n": 1}))],
)
def test_at_the_last_step_the_tools_are_withdrawn(adapter, turn):
    """the model is told to answer, and what it then says is marked as forced"""
    script = Script([turn, FINAL])
    end, trace, _ = play(script, budget=Budget(steps=2), adapter=adapter)
    assert (end.state, end.answer, end.forced) == ("DONE", "7", True)
    assert trace.end["forced"] is True
    assert "No tool" in str(script.requests[-1].prompt)
    assert not script.requests[-1].tools


def test_a_model_that_calls_a_tool_all_the_same_is_exhausted():
    """its call gets its one observation, a refusal, and the run ends"""
    turns, budget = [READ.format(n) for n in range(9)], Budget(steps=3)
    end, trace, _ = play(turns, budget=budget)
    assert (end.state, end.reason) == ("EXHAUSTED", "not_converged")
    assert end.spent.tool_calls == 2
    assert trace.of("observation")[-1]["error"]["kind"] == "withdrawn"
    end, *_ = play(turns, budget=budget, converge=False)
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
    hung = Script([lambda seen: threading.Event().wait(30)])
    end, *_ = play(hung, budget=Budget(model_s=0.05))
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")


def test_a_model_that_nothing_keeps_within_tokens_is_refused():
    """a budget of tokens or money needs a model that takes max_tokens; steps do not"""

    class Uncapped:
        name = "uncapped"

        def complete(self, prompt, *, stop=()):
            return Completion("Final Answer: 7")

    made = guarded(Uncapped(), [], budget=Budget(steps=2))
    assert made.run("?").answer == "7"
    with pytest.raises(ValueError, match=r"uncapped takes no max_tokens"):
        made.with_limits(tokens=5000)
