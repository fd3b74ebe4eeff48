"""A run that waits, or that was killed, goes on from its trace in another process."""

import itertools
import signal
import subprocess
import sys
import tempfile
import textwrap
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm import FunctionCalls, TextTurns
from workbook.fsm.limits import Spent
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.permission import Edit, Reject, yes
from workbook.guardrails.shared_budget import SharedBudget
from workbook.models.base import ToolRequest, Usage
from workbook.models.script import Script
from workbook.props.payment import Payments
from workbook.tools.calculator import calculator
from workbook.traces.divergence import Divergence
from workbook.traces.events import TraceError
from workbook.traces.recording import Recorded
from workbook.traces.replay import replay
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

SUM = "Action: Calculator\nAction Input: 20+5"
PAY = 'Action: Pay\nAction Input: {"payee": "bookshop", "amount": 25}'
FINAL = "Final Answer: paid"
TEXT = [SUM, PAY, FINAL]
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
@pytest.mark.parametrize("answer", ["approve", "edit", "reject"])
def test_what_waits_is_answered_later(tmp_path, turns, adapter, answer):
    """another machine opens the file; the trace shows who decided and when"""
    path = suspended(tmp_path, turns, adapter=adapter)
    given = {
        "approve": lambda: None,
        "edit": lambda: Edit({"payee": "Ada", "amount": 5}, who="Grace"),
        "reject": lambda: Reject("too dear", who="Grace"),
    }[answer]()
    # The model is asked for its third turn alone: the first two stand in the trace.
    new = machine(turns[2:], tmp_path, adapter=adapter, ask=yes)
    end = new.resume(path, given)
    amounts = [payment.cents for payment in paid(tmp_path)]
    assert end.state == "DONE"
    assert amounts == {"approve": [2500], "edit": [500], "reject": []}[answer]
    trace = Trace.read(path)
    decided = [e for e in trace.of("decision") if "answer" in e]
    assert [e["what"] for e in decided] == [answer]
    assert decided[0]["who"] == ("yes" if answer == "approve" else "Grace")
    assert [e["seq"] for e in trace] == list(range(len(trace)))
    assert [e["at_s"] for e in trace] == sorted(e["at_s"] for e in trace)
    assert trace.end["state"] == "DONE"


def test_approved_twice_it_is_paid_once(tmp_path):
    """a copy of the trace, approved as well, has the payment of the first one"""
    path, copy = suspended(tmp_path), tmp_path / "copy.jsonl"
    copy.write_bytes(path.read_bytes())
    for each in (path, copy):
        assert machine(TEXT[2:], tmp_path, ask=yes).resume(each).state == "DONE"
    assert len(paid(tmp_path)) == 1


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
    path = suspended(tmp_path, [SUM, PAY, PAY.replace("25", "26"), FINAL])
    again = machine([PAY.replace("25", "26"), FINAL], tmp_path, ask=yes)
    again.set_mode("plan", who="Grace")
    assert again.resume(path).state == "DONE"
    assert paid(tmp_path) == []


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from tests.guardrails.test_resume import TEXT, machine
    from workbook.guardrails.permission import yes
    from workbook.traces.writer import TraceWriter

    folder, dies_at = Path(sys.argv[1]), int(sys.argv[2])

    def listen(event):
        if event["seq"] == dies_at:
            os.kill(os.getpid(), signal.SIGKILL)

    with TraceWriter(folder / "run.jsonl", listener=listen) as hook:
        machine(TEXT, folder, hook=hook, ask=yes).run("Pay the bill.")
"""


ASKED = ("model_request", "tool_call")  # whose answers a crash can lose


def events_of_the_run(folder):
    path = folder / "whole.jsonl"
    with TraceWriter(path) as hook:
        machine(TEXT, folder, hook=hook, ask=yes).run("Pay the bill.")
    return Trace.read(path)


def test_killed_at_every_event_it_pays_once_or_says_unknown(tmp_path, subtests):
    """SIGKILL at each event, then resume: one payment, or a hand-over; never two"""
    whole = events_of_the_run(tmp_path)
    code = textwrap.dedent(KILLED)
    dead = []
    for seq in range(len(whole) - 1):
        folder = tmp_path / str(seq)
        folder.mkdir()
        command = [sys.executable, "-c", code, str(folder), str(seq)]
        dead.append(subprocess.Popen(command))
        if len(dead) % 4 == 0 or seq == len(whole) - 2:
            assert {one.wait() for one in dead[-4:]} <= {-signal.SIGKILL}
    for seq in range(len(whole) - 1):
        with subtests.test(seq=seq):
            folder, path = tmp_path / str(seq), tmp_path / str(seq) / "run.jsonl"
            said = len(Trace.read(path).of("model_turn"))
            end = machine(TEXT[said:], folder, ask=yes).resume(path)
            trace, unknown = Trace.read(path), []
            for event in trace.of("observation"):
                unknown += [event] * ("unknown" in event["text"])
            assert end.state == "DONE"
            assert len(paid(folder)) + len(unknown) == 1
            told = [e for e in trace if e.get("what") != "asked again"]
            assert [e["kind"] for e in told] == [e["kind"] for e in whole]
            assert len(trace) - len(told) == (whole.events[seq]["kind"] in ASKED)


def test_two_at_once_are_refused(tmp_path):
    """while one process goes on with a file, another one is told so"""
    path = suspended(tmp_path)
    with Recorded(path), pytest.raises(TraceError, match="another TraceWriter"):
        machine([], tmp_path).resume(path)


LOOK = "Action: Calculator\nAction Input: 1+{}"
PAYS = 'Action: Pay\nAction Input: {{"payee": "shop", "amount": {}}}'
STEPS = st.lists(
    st.sampled_from(
        [LOOK.format(1), LOOK.format(2), "Hm.", PAYS.format(1), PAYS.format(2), FINAL]
    ),
    min_size=1,
    max_size=9,
)


@settings(max_examples=80, deadline=None)
@given(STEPS, st.booleans(), st.sampled_from([None, 260]), st.booleans())
def test_a_run_in_pieces_is_the_run_in_one(steps, in_calls, context, one_call):
    """whatever was suspended and resumed ends as it would have in one go"""
    turns = [
        [ToolRequest("Pay", {"payee": "shop", "amount": n}, "x") for n in (1, 2)]
        if in_calls and step == "Hm."
        else step
        for step in steps
    ]
    options = {
        "adapter": FunctionCalls if in_calls else None,
        "context_tokens": context,
        "one_call": one_call,
        "budget": Budget(steps=8, tokens=3000),
    }

    def in_one(folder):
        with TraceWriter(folder / "run.jsonl") as hook:
            machine(turns * 9, folder, ask=yes, hook=hook, **options).run("Pay?")

    def in_pieces(folder):
        path, asked = folder / "run.jsonl", itertools.cycle([None, yes])
        with TraceWriter(path) as hook:
            machine(turns * 9, folder, hook=hook, **options).run("Pay?")
        while Trace.read(path).end is None:
            said = len(Trace.read(path).of("model_turn"))
            left, ask = (turns * 9)[said:], next(asked)
            machine(left, folder, ask=ask, **options).resume(path)

    told = []
    for play in (in_one, in_pieces):
        with tempfile.TemporaryDirectory() as name:
            play(Path(name))
            trace = Trace.read(Path(name) / "run.jsonl")
            assert [e["seq"] for e in trace] == list(range(len(trace)))
            told.append(
                [
                    (e["kind"], e.get("event"), e.get("text"), e.get("state"))
                    for e in trace
                    if e.get("event") != "suspended"
                ]
            )
            told[-1].append([payment.cents for payment in paid(Path(name))])
    assert told[0] == told[1]


@pytest.mark.parametrize("budget", [Budget(tokens=5000), Budget(tokens=200)])
def test_what_a_purse_allowed_is_in_the_record(tmp_path, budget):
    """a run that a shared capped or ended is replayed, whatever is in it now"""
    with TraceWriter() as hook:
        agent = machine(
            [SUM, FINAL],
            tmp_path,
            hook=hook,
            handlers={"THINK": SharedBudget(budget).think},
        )
        end = agent.run("How much?")
    shared = SharedBudget(budget)
    once_more = machine([], tmp_path, handlers={"THINK": shared.think})
    again = replay(hook.trace(), once_more)
    assert (again.state, again.reason) == (end.state, end.reason)
    assert shared.spent() == Spent()


@pytest.mark.parametrize("said", ["yes", SystemExit(3), ValueError("no: time")])
def test_a_person_who_did_not_answer_is_replayed(tmp_path, said):
    """what came in place of an answer ends the run again, in the same words"""

    def ask(request):
        if isinstance(said, str):
            return said
        raise said

    with TraceWriter() as hook:
        end = machine([PAY], tmp_path, hook=hook, ask=ask).run("Pay the bill.")
    again = replay(hook.trace(), machine([], tmp_path))
    assert (again.state, again.message) == (end.state, end.message)


def test_tools_that_were_withdrawn_for_time_are_so_again(tmp_path):
    """what a clock decided in the first run is decided so in the replay"""
    now, options = [0.0], {"budget": Budget(wall_s=10.0)}

    def listen(event):
        now[0] = 9.0 * (event["seq"] > 3)

    clock = {"clock": lambda: now[0]}
    with TraceWriter(listener=listen) as hook:
        agent = machine([SUM, FINAL], tmp_path, hook=hook, **clock, **options)
        assert agent.run("How much?").forced
    assert replay(hook.trace(), machine([], tmp_path, **options)).forced


def test_what_was_estimated_is_estimated_again(tmp_path):
    """a model that counts no tokens is replayed with the same estimate, and its mark"""

    class Uncounted(Script):
        def complete(self, prompt, **options):
            return replace(super().complete(prompt, **options), usage=Usage())

    def agent(turns, **options):
        budget = Budget(tokens=3000)
        return guarded(Uncounted(turns), [calculator()], budget=budget, **options)

    with TraceWriter() as hook:
        end = agent([SUM, FINAL], hook=hook).run("How much?")
    assert hook.trace().of("model_turn")[0]["usage"]["estimated"]
    assert replay(hook.trace(), agent([])).spent.usage == end.spent.usage
