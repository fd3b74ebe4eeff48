"""The machine with its guards, on scripts: who says stop, and who may do what."""

import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm import FunctionCalls, IllegalTransition
from workbook.guardrails.approval import LATER, Approve, Edit, Reject, no, yes
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.purse import Purse
from workbook.guardrails.table import GUARDED, ONE_CALL
from workbook.models.base import MAX_TOKENS, ToolRequest
from workbook.models.script import Script
from workbook.record.writer import TraceWriter
from workbook.tools.calls import Effect, ToolFailure
from workbook.tools.tool import Tool

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


def decisions(trace, who):
    return [e for e in trace.of("decision") if e["who"] == who]


# the table


@pytest.mark.parametrize("table", [GUARDED, ONE_CALL])
def test_the_audit_is_clean(table):
    """the guarded table keeps the four promises"""
    assert table.audit() == []


STATES = sorted(GUARDED.states)
EVENTS = sorted({rule.event for rule in GUARDED.rules})


@pytest.mark.parametrize("state", STATES)
def test_every_pair_outside_the_table_raises(state):
    """what has no row raises"""
    for event in EVENTS:
        if (state, event) not in GUARDED.rows:
            with pytest.raises(IllegalTransition):
                GUARDED.advance(state, event)


# policy


def test_reading_needs_nobody():
    """a READ runs without a question, in either mode"""
    for mode in ("plan", "build"):
        end, trace, _ = play([READ.format(1), FINAL], mode=mode)
        assert (end.state, decisions(trace, "policy")) == ("DONE", [])


def test_a_plan_never_writes():
    """in plan mode a WRITE is an observation that says why not"""
    end, trace, world = play([WRITE.format(1), FINAL], mode="plan", ask=yes)
    assert (end.state, world.sent) == ("DONE", [])
    assert trace.of("observation")[0]["error"]["kind"] == "denied"


def test_a_model_that_asks_for_build_mode_is_told_no():
    """what a model writes does not change the mode"""
    turns = ["Thought: switch to build mode.\n" + WRITE.format(1)] * 2
    end, _, world = play([*turns, FINAL], mode="plan", ask=yes)
    assert (end.state, world.sent) == ("DONE", [])


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


def test_there_is_no_third_mode():
    """a mode that does not exist is told at once"""
    with pytest.raises(ValueError, match="yolo"):
        guarded(Script([FINAL]), []).set_mode("yolo")


def test_a_write_that_nobody_allowed_is_an_error():
    """a handler that waves a WRITE through ends the run, and nothing is sent"""
    world = World()
    machine = guarded(Script([WRITE.format(1), FINAL]), world.tools, ask=yes)
    machine.handlers["POLICY"] = lambda run: "allowed"
    end = machine.run("?")
    assert (end.state, world.sent) == ("ERROR", [])
    assert "nobody allowed" in end.message


# approval


def test_a_person_approves():
    """an approved call runs once; who said so is in the trace"""
    end, trace, world = play([WRITE.format(1), FINAL], ask=yes)
    assert (end.state, world.sent) == ("DONE", [1])
    assert [e["what"] for e in decisions(trace, "yes")] == ["approve"]


def test_a_person_rejects():
    """a rejected call does not run; the model is told why"""
    end, trace, world = play(
        [WRITE.format(1), FINAL], ask=lambda r: Reject("too dear", "Ada")
    )
    assert (end.state, world.sent) == ("DONE", [])
    assert "too dear" in trace.of("observation")[0]["text"]


def test_a_person_edits():
    """the edited call runs, with the person's arguments and no second question"""
    asked = []

    def edit(request):
        asked.append(request)
        return Edit({"n": 2}, who="Ada")

    end, trace, world = play([WRITE.format(1), FINAL], ask=edit)
    assert (end.state, world.sent, len(asked)) == ("DONE", [2], 1)
    assert "edited" in [e["event"] for e in trace.of("transition")]


def test_an_edit_that_breaks_the_schema_is_refused_in_words():
    """the person is told what was wrong with the edit, and asked again"""
    answers, seen = [Edit({"n": "two"}), Edit({"n": 3})], []

    def ask(request):
        seen.append(request.problem)
        return answers.pop(0)

    end, _, world = play([WRITE.format(1), FINAL], ask=ask)
    assert (end.state, world.sent) == ("DONE", [3])
    assert seen[0] == ""
    assert "two" in seen[1]


def test_whoever_edits_wrongly_for_ever_is_not_asked_for_ever():
    """after three edits that break a rule the call is not made"""
    end, trace, world = play([WRITE.format(1), FINAL], ask=lambda r: Edit({"n": "x"}))
    assert (end.state, world.sent) == ("DONE", [])
    assert len([e for e in trace.of("decision") if e["what"] == "edit"]) == 3


def test_an_approval_for_other_arguments_is_worth_nothing():
    """an approval holds for one call_id with one digest"""
    end, _, world = play(
        [WRITE.format(1), FINAL], ask=lambda r: Approve(r.call.call_id, "other")
    )
    assert (end.state, world.sent) == ("DONE", [])


def test_several_calls_are_asked_one_by_one():
    """each call of a turn gets its own question, and its own answer"""
    calls = [ToolRequest("Send", {"n": n}, f"id{n}") for n in (1, 2, 3)]
    answers = iter([yes, no, yes])
    end, trace, world = play(
        [calls, FINAL], ask=lambda r: next(answers)(r), adapter=FunctionCalls
    )
    assert (end.state, world.sent) == ("DONE", [1, 3])
    assert [e["ok"] for e in trace.of("observation")] == [True, False, True]


def test_nobody_there_suspends_the_run():
    """without a person the run waits: PENDING, no observation, no end in the trace"""
    for ask in (None, lambda request: LATER):
        end, trace, world = play([WRITE.format(1), FINAL], ask=ask)
        assert (end.state, end.reason, world.sent) == ("PENDING", "suspended", [])
        assert trace.of("observation", "run_finished") == []


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


def test_a_repetition_is_warned_of_and_then_ends_the_run():
    """third time: a warning that the model reads; fourth time: STUCK"""
    script = Script([READ.format(1)], repeat_last=True)
    end, trace, _ = play(script)
    assert (end.state, end.reason, end.spent.tool_calls) == ("STUCK", "repeated", 4)
    assert [e["what"] for e in decisions(trace, "stuck")] == ["warning", "stuck"]
    assert "3 times" in str(script.requests[-1].prompt)


def test_polling_is_not_stuck():
    """the same call with answers that change goes on"""
    answers = iter(range(100))
    world = World(look=lambda n: {"result": f"{next(answers)} %"})
    turns = [READ.format(1)] * 8 + [FINAL]
    assert play(turns, world=world)[0].state == "DONE"


def test_a_model_that_listens_goes_on():
    """after a warning another way ends in DONE"""
    turns = [READ.format(1)] * 3 + [READ.format(2), FINAL]
    assert play(turns)[0].state == "DONE"


def test_an_unreadable_turn_for_ever_is_stuck():
    """the same words that nobody can read, four times"""
    end, *_ = play(Script(["Hmm."], repeat_last=True))
    assert (end.state, end.spent.steps) == ("STUCK", 4)


# budget and convergence


def test_at_the_last_step_the_tools_are_withdrawn():
    """the model is told to answer, and what it then says is marked as forced"""
    script = Script([READ.format(1), FINAL])
    end, trace, _ = play(script, budget=Budget(steps=2))
    assert (end.state, end.answer, end.forced) == ("DONE", "7", True)
    assert "No tool" in str(script.requests[-1].prompt)
    assert trace.end["forced"] is True


def test_function_calls_are_sent_no_tools_at_the_last_step():
    """a chat model gets no schema any more"""
    script = Script([[ToolRequest("Look", {"n": 1})], FINAL])
    end, *_ = play(script, budget=Budget(steps=2), adapter=FunctionCalls)
    assert end.forced
    assert [len(request.tools) for request in script.requests] == [2, 0]


def test_a_model_that_calls_a_tool_all_the_same_is_exhausted():
    """its call gets its one observation, a refusal, and the run ends"""
    end, trace, _ = play([READ.format(n) for n in range(9)], budget=Budget(steps=3))
    assert (end.state, end.reason, end.spent.tool_calls) == (
        "EXHAUSTED",
        "not_converged",
        2,
    )
    assert trace.of("observation")[-1]["error"]["kind"] == "withdrawn"


@pytest.mark.parametrize("tokens", [1_000, 2_000, 5_000])
def test_the_model_is_told_while_a_prompt_can_still_be_paid(tokens):
    """tools are withdrawn before the prompt that leaves little, not after it"""
    turns = [f"Thought: {'so ' * 20}\n{READ.format(n)}" for n in range(99)]
    end, trace, _ = play(turns, budget=Budget(steps=99, tokens=tokens))
    assert (end.reason, end.forced) == ("not_converged", True)
    asked = [e["kind"] for e in trace.events[trace.of("decision")[0]["seq"] :]]
    assert asked.count("model_turn") == 1
    assert end.spent.usage.input + end.spent.usage.output <= tokens


def test_without_convergence_the_limit_is_the_end():
    """converge=False is the core's end: out of steps"""
    turns = [READ.format(n) for n in range(9)]
    end, *_ = play(turns, budget=Budget(steps=3), converge=False)
    assert (end.reason, end.forced) == ("out_of_steps", False)


@pytest.mark.parametrize("adapter", [None, FunctionCalls])
def test_tokens_are_never_exceeded(adapter):
    """a model that would write more is capped to what is left"""
    script = Script(["Thought: " + "on and on " * 2000], repeat_last=True)
    end, trace, _ = play(script, budget=Budget(tokens=2000), adapter=adapter)
    usage = end.spent.usage
    assert end.state in ("EXHAUSTED", "STUCK")
    assert 1000 < usage.input + usage.output <= 2000
    assert all("max_tokens" in e for e in trace.of("model_request"))


def test_a_hung_model_is_given_up():
    """a model call in flight has its time"""

    class Hung:
        name = "hung"

        def complete(self, prompt, *, stop=()):
            threading.Event().wait(30)

    end, *_ = play(Hung(), budget=Budget(model_s=0.05))
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")


def test_a_call_that_nobody_heard_of_again_counts_whole():
    """a purse counts what a call that timed out may have cost, for somebody pays it"""

    class Hung:
        name = "hung"
        streams = True

        def complete(self, prompt, *, stop=(), max_tokens=None):
            threading.Event().wait(30)

    purse = Purse(Budget(tokens=5000))
    play(Hung(), budget=Budget(model_s=0.05), purse=purse)
    assert purse.spent().usage.output == MAX_TOKENS
    assert purse.spent().usage.input > 0


def test_runs_share_a_purse():
    """the second run has what the first one left"""
    purse = Purse(Budget(tokens=1500))
    ends = [
        play(Script(["Hm? " * 400, FINAL]), purse=purse, converge=False)[0]
        for _ in range(6)
    ]
    total = [end.spent.usage.input + end.spent.usage.output for end in ends]
    assert ends[-1].reason == "out_of_tokens"
    assert sum(total) <= 1500
    usage = purse.spent().usage
    assert usage.input + usage.output == sum(total)


# one call a turn


def test_one_call_a_turn_is_a_row():
    """with one_call the rest of a turn's calls are refused in words"""
    calls = [ToolRequest("Look", {"n": n}) for n in (1, 2, 3)]
    end, trace, _ = play([calls, FINAL], one_call=True, adapter=FunctionCalls)
    kinds = [e.get("error", {}).get("kind") for e in trace.of("observation")]
    assert (end.state, kinds) == ("DONE", [None, "one_at_a_time", "one_at_a_time"])


# idempotency


def test_a_payment_sent_twice_is_made_once(tmp_path):
    """the same content under another call_id is not done again"""
    turns = [WRITE.format(1), WRITE.format(1), WRITE.format(2), FINAL]
    end, trace, world = play(turns, ask=yes, ledger=Ledger(tmp_path / "done.db"))
    assert (end.state, world.sent) == ("DONE", [1, 2])
    assert [e["ok"] for e in trace.of("observation")] == [True, True, True]


# whatever happens


TURNS = st.sampled_from(
    [READ.format(1), READ.format(2), WRITE.format(1), WRITE.format(2), "?", FINAL]
)
CALLS = st.lists(
    st.builds(
        ToolRequest,
        st.sampled_from(["Look", "Send", "Nope"]),
        st.fixed_dictionaries({"n": st.integers(0, 2) | st.just("x")}),
        st.sampled_from(["", "a", "b"]),
    ),
    min_size=1,
    max_size=3,
)
ANSWERS = st.lists(
    st.sampled_from(
        [yes, no, lambda r: LATER, lambda r: Edit({"n": 1}), lambda r: Edit({})]
    ),
    max_size=6,
)
LIMITS = st.builds(
    Budget,
    steps=st.integers(1, 8),
    tool_calls=st.integers(0, 6),
    tokens=st.sampled_from([float("inf"), 150, 400]),
)


def failing_now_and_then(n):
    if n == 2:
        raise ToolFailure("no", "not two")
    return {"result": n}


@settings(max_examples=300, deadline=None)
@given(
    st.lists(TURNS, min_size=1, max_size=12) | st.lists(CALLS | TURNS, min_size=1),
    st.sampled_from(["plan", "build"]),
    ANSWERS,
    LIMITS,
    st.booleans(),
    st.booleans(),
)
def test_the_machine_is_honest(turns, mode, answers, budget, one_call, in_calls):
    """one end or a wait, no budget exceeded, one observation a call, no gap, no WRITE
    in plan mode, no effect that nobody allowed
    """
    adapter = FunctionCalls if in_calls else None
    turns = [t for t in turns if in_calls or isinstance(t, str)] or [FINAL]
    said, world = iter(answers), World(look=failing_now_and_then)
    end, trace, _ = play(
        Script(turns, repeat_last=True),
        world=world,
        mode=mode,
        ask=lambda r: next(said, yes)(r),
        budget=budget,
        one_call=one_call,
        adapter=adapter,
    )
    spent = end.spent
    assert end.state in GUARDED.ends - {"ERROR", "CANCELLED"}
    assert spent.steps <= budget.steps
    assert spent.tool_calls <= budget.tool_calls
    assert spent.usage.input + spent.usage.output <= budget.tokens
    assert [e["seq"] for e in trace] == list(range(len(trace)))
    called = [e["call_id"] for e in trace.of("tool_call")]
    seen = [e["call_id"] for e in trace.of("observation") if e["call_id"]]
    assert sorted(called) == sorted(seen)
    assert len(set(called)) == len(called)
    assert mode == "build" or not world.sent
    allowed = [e for e in trace.of("transition") if e["target"] == "EXECUTE_TOOL"]
    writes = {e["call_id"] for e in trace.of("tool_call") if e["tool"] == "Send"}
    assert len(world.sent) <= sum(e["call_id"] in writes for e in allowed)
    assert all(e["event"] in ("allowed", "approved") for e in allowed)
