"""A run that waits goes on from its trace; what was decided in it stays so."""

import tempfile
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.payment import Payments
from workbook.fsm import FunctionCalls, TextTurns
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Edit, Reject, yes
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.traces.divergence import Divergence
from workbook.traces.replay import replay
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

SUM = "Action: Calculator\nAction Input: 20+5"
PAY = 'Action: Pay\nAction Input: {"payee": "bookshop", "amount": 25}'
FINAL = "Final Answer: paid"
TEXT = [SUM, PAY, FINAL]
OTHER_SUM, OTHER_PAY = SUM.replace("5", "6"), PAY.replace("25", "26")
CALLS = [
    [ToolRequest("Calculator", {"expression": "20+5"})],
    [ToolRequest("Pay", {"payee": "bookshop", "amount": 25}, "x")],
    "paid",
]


def machine(turns, folder, **options):
    tools = [calculator(), Payments(folder / "payments.jsonl").tool()]
    ledger = Ledger(folder / "ledger.db")
    return guarded(Script(turns), tools, ledger=ledger, **options)


def suspended(folder, turns=TEXT, **options):
    """Return the path of a trace whose run waits for a person."""
    path = folder / "run.jsonl"
    with TraceWriter(path) as hook:
        end = machine(turns, folder, hook=hook, **options).run("Pay the bill.")
    assert end.state == "PENDING"
    return path


def paid(folder):
    return Payments(folder / "payments.jsonl").made


@pytest.mark.parametrize(
    ("turns", "adapter"), [(TEXT, TextTurns), (CALLS, FunctionCalls)]
)
@pytest.mark.parametrize(
    ("answer", "cents"),
    [
        (None, [2500]),
        (Edit({"payee": "Ada", "amount": 5}, who="Grace"), [500]),
        (Reject("too dear", who="Grace"), []),
    ],
    ids=["approve", "edit", "reject"],
)
def test_what_waits_is_answered_later(tmp_path, turns, adapter, answer, cents):
    """another machine opens the file; the trace shows who decided and when"""
    path = suspended(tmp_path, turns, adapter=adapter)
    # The model is asked for its third turn alone: the first two stand in the trace.
    end = machine(turns[2:], tmp_path, adapter=adapter, ask=yes).resume(path, answer)
    assert end.state == "DONE"
    assert [payment.cents for payment in paid(tmp_path)] == cents
    trace = Trace.read(path)
    [decided] = [e for e in trace.of("decision") if "answer" in e]
    assert decided["who"] == ("Grace" if answer else "yes")
    assert [e["at_s"] for e in trace] == sorted(e["at_s"] for e in trace)
    assert trace.end["state"] == "DONE"


def test_another_machine_is_told_where_it_differs(tmp_path):
    """tools or rules that are not the first one's stop it, and the file stays whole"""
    path = suspended(tmp_path)
    before = path.read_bytes()
    with pytest.raises(Divergence, match="event 0"):
        guarded(Script(TEXT), [calculator()], ask=yes).resume(path)
    with pytest.raises(Divergence, match="no rule speaks"):
        machine(TEXT, tmp_path, ask=yes, rules=()).resume(path)
    assert path.read_bytes() == before


def test_the_mode_goes_on_with_the_run(tmp_path):
    """a run that began in plan mode is in plan mode when it is resumed"""
    path = suspended(tmp_path, mode="build")
    first, *rest = Trace.read(path)
    path = Trace(({**first, "mode": "plan"}, *rest)).save(tmp_path / "plan.jsonl")
    with pytest.raises(Divergence, match="deny"):
        machine(TEXT[2:], tmp_path, ask=yes, mode="build").resume(path)


def test_a_person_switches_the_mode_before_it_goes_on(tmp_path):
    """set_mode before resume takes effect behind the record's end"""
    path = suspended(tmp_path, [SUM, PAY, OTHER_PAY, FINAL])
    again = machine([OTHER_PAY, FINAL], tmp_path, ask=yes)
    again.set_mode("plan", who="Grace")
    assert again.resume(path).state == "DONE"
    assert paid(tmp_path) == []


SAID = st.sampled_from([SUM, OTHER_SUM, "Hm.", PAY, OTHER_PAY, FINAL])


@settings(max_examples=50, deadline=None)
@given(
    st.lists(SAID, min_size=1, max_size=9),
    st.booleans(),
    st.sampled_from([None, 260]),
)
def test_a_run_in_pieces_is_the_run_in_one(steps, in_calls, context):
    """whatever was suspended and resumed ends as it would have in one go"""
    pays = [ToolRequest("Pay", {"payee": "shop", "amount": n}, "x") for n in (1, 2)]
    turns = [pays if in_calls and step == "Hm." else step for step in steps] * 9
    options = {
        "adapter": FunctionCalls if in_calls else None,
        "context_tokens": context,
        "budget": Budget(steps=8, tokens=3000),
    }

    def told(answers):
        """Run to the end with a person who answers so; return what was told and paid"""
        with tempfile.TemporaryDirectory() as name:
            folder, path, asked = Path(name), Path(name) / "run.jsonl", cycle(answers)
            with TraceWriter(path) as hook:
                first = machine(turns, folder, ask=next(asked), hook=hook, **options)
                first.run("Pay?")
            while Trace.read(path).end is None:
                left = turns[len(Trace.read(path).of("model_turn")) :]
                machine(left, folder, ask=next(asked), **options).resume(path)
            trace = Trace.read(path)
            assert [e["seq"] for e in trace] == list(range(len(trace)))
            return [payment.cents for payment in paid(folder)], [
                (e["kind"], e.get("event"), e.get("text"), e.get("state"))
                for e in trace
                if e.get("event") != "suspended"
            ]

    assert told([yes]) == told([None, None, yes])


@pytest.mark.parametrize("raises", [False, True])
def test_a_person_who_did_not_answer_is_replayed(tmp_path, raises):
    """what came in place of an answer ends the run again, in the same words"""

    def ask(request):
        if raises:
            raise ValueError("no: time")
        return "yes"

    with TraceWriter() as hook:
        end = machine([PAY], tmp_path, hook=hook, ask=ask).run("Pay the bill.")
    again = replay(hook.trace(), machine([], tmp_path))
    assert (again.state, again.message) == ("ERROR", end.message)


def test_the_time_that_a_person_took_is_not_the_replays(tmp_path):
    """an hour before a yes is no time of the run, the second time as the first"""
    now, options = [0.0], {"budget": Budget(wall_s=60)}

    def ask(request):
        now[0] += 3600
        return yes(request)

    with TraceWriter(clock=lambda: now[0]) as hook:
        about = {"hook": hook, "clock": lambda: now[0], "ask": ask, **options}
        assert machine([PAY, FINAL], tmp_path, **about).run("Pay.").state == "DONE"
    assert replay(hook.trace(), machine([], tmp_path, **options)).state == "DONE"


def test_tools_that_were_withdrawn_for_time_are_so_again(tmp_path):
    """what a clock decided in the first run is decided so in the replay"""
    now, options = [0.0], {"budget": Budget(wall_s=10.0)}

    def listen(event):
        now[0] = 9.0 * (event["seq"] > 3)

    clock = {"clock": lambda: now[0]}
    with TraceWriter(listener=listen) as hook:
        agent = machine([SUM, FINAL], tmp_path, hook=hook, **clock, **options)
        assert agent.run("How much?").forced
    trace, again = hook.trace(), machine([], tmp_path, **options)
    assert replay(trace, again).forced
    (decision,) = trace.of("decision")
    assert decision.pop("short_of") == "seconds"
    assert replay(trace, again).forced  # older traces say it in the sentence alone
    trace.of("decision")[0] |= {"short_of": "seconds", "why": "it is late"}
    with pytest.raises(Divergence) as caught:  # other words, but the clock decided
        replay(trace, again)
    assert caught.value.found["short_of"] == "seconds"
