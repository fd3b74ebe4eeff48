"""Guards: who may do what, how often, how much of it, and how long a prompt gets.

That no limit is exceeded, whatever a run does, is in `test_anywhere`.
"""

import itertools
import json
import re
import subprocess
import sys

import pytest

from tests.runtime.playing import (
    FINAL,
    act,
    call,
    note,
    noted,
    play,
    stepping,
    texts,
)
from workbook.paths import ROOT
from workbook.runtime import permission as person
from workbook.runtime.budget import Budget, Limits, budget
from workbook.runtime.calls import ToolFailure
from workbook.runtime.context import context
from workbook.runtime.guards import hand_over, own_guard
from workbook.runtime.journal import Journal
from workbook.runtime.ledger import Ledger, LedgerError, Make, Once
from workbook.runtime.model import Prefilled
from workbook.runtime.permission import Approve, Edit, Reject, permission, yes
from workbook.runtime.script import Script
from workbook.runtime.stuck import stuck
from workbook.runtime.tools import Tool

N = {"properties": {"n": {"type": "integer", "default": 1}}}


def send(sent, **about):
    """Return a WRITE that keeps what it was sent."""
    run = lambda n: sent.append(n) or {"sent": n}  # noqa: E731
    return Tool("Send", "Sends.", N, run, "write", **{"timeout_s": None, **about})


def sending(answer, mode="build", **about):
    """Play a model that sends 1 and a person; return the end, and what was sent."""
    sent, guards = [], [permission(answer, mode)]
    return play([act("Send", 1), FINAL], [send(sent, **about)], guards), sent


OTHER = lambda request: Approve("call_1", "another digest")  # noqa: E731


@pytest.mark.parametrize(
    ("mode", "answer", "sent", "decided"),
    [
        ("plan", yes, [], ["deny"]),
        ("build", yes, [1], ["ask", "approve"]),
        ("build", lambda r: Reject("too dear"), [], ["ask", "reject"]),
        ("build", lambda r: Edit({"n": 2}), [2], ["ask", "edit"]),
        ("build", OTHER, [], ["ask", *["approve"] * 3]),
    ],
)
def test_what_becomes_of_a_write(mode, answer, sent, decided):
    """each mode, and each answer, has its effect or none; the trace says who decided"""
    end, found = sending(answer, mode)
    assert (end.state, found) == ("DONE", sent)
    assert [event["what"] for event in end.trace.of("decision")] == decided
    assert ("Error" in texts(end)[0]) is (not sent)
    assert ("too dear" in texts(end)[0]) is ("reject" in decided)


@pytest.mark.parametrize("arguments", [{1: float("nan")}, None])
def test_an_edit_that_is_not_valid_is_refused(arguments):
    """the person reads why, and is asked again; what is made is what the trace has"""
    problems = []

    def answer(request):
        problems.append(request.problem)
        return Edit({"n": 3}) if request.problem else Edit(arguments)

    end, sent = sending(answer)
    assert (sent, problems[0], "invalid_arguments" in problems[1]) == ([3], "", True)
    assert "person changed the arguments" in texts(end)[0]


def test_an_approval_is_for_one_call():
    """each call of a turn is asked about by itself, and the same one once more"""
    answers, sent = iter([yes, person.no, yes, yes, lambda request: "yes"]), []
    turns = [
        [call("Send", {"n": n}, f"c{n}") for n in (1, 2, 3)],
        call("Send", {"n": 4}),
    ]
    guards = [permission(lambda request: next(answers)(request))]
    end = noted([*turns, turns[1], FINAL], [send(sent)], guards, chat=True).run("?")
    assert sent == [1, 3, 4]
    assert (end.state, "no Approve" in end.message) == ("ERROR", True)  # "yes" is none


def test_the_time_of_a_person_is_not_the_runs():
    """a budget of a minute survives a person who thinks for an hour, also replayed"""
    now = [0.0]

    def slow(request):
        now[0] += 3600
        return yes(request)

    guards = [budget(Budget(wall_s=60)), permission(slow)]
    journal = Journal(clock=lambda: now[0])
    end = play([act("Send", 1), FINAL], [send([])], guards, journal=journal)
    assert (end.state, end.spent.wall_s) == ("DONE", 0)


def test_a_preview_is_what_the_person_sees():
    """one that raises shows the arguments; a ToolFailure is what the model reads"""
    seen = []

    def refuses(n):
        raise ToolFailure("not_there", f"{n} is not there.", hint="Look again.")

    for preview in (lambda n: f"sends {n}!", lambda n: n / 0, None, refuses):
        end, sent = sending(lambda r: seen.append(r.preview), preview=preview)
    assert seen == ["sends 1!", '{"n": 1} (no preview: division by zero)', '{"n": 1}']
    assert (end.state, sent) == ("DONE", [])
    assert texts(end) == ["Error (not_there): 1 is not there. Look again."]


@pytest.mark.parametrize("turn", [act("Note", 1), "Hmm."])
def test_a_repetition_is_warned_of_and_then_ends_the_run(turn):
    """third time: a warning that the model reads; fourth time: STUCK"""
    end = play(Script([turn], repeat_last=True), guards=[stuck()])
    assert (end.state, end.reason, end.spent.steps) == ("STUCK", "repeated", 4)
    assert [event["what"] for event in end.trace.of("decision")] == ["warning", "stuck"]
    assert re.search("3 times.*Do something else.", texts(end)[2])
    assert play([*[turn] * 3, act("Note", 2), FINAL], guards=[stuck()]).answer == "ok"


@pytest.mark.parametrize("chat", [False, True])
def test_before_the_last_step_the_tools_are_withdrawn(chat):
    """the model is asked to answer, and offered none; a call all the same is refused"""
    seen, model = [], stepping(chat)
    respond = model.respond
    model.respond = lambda r: seen.append((r.text, bool(r.tools))) or respond(r)
    end = play(model, guards=[budget(Budget(steps=3))], chat=chat)
    assert (end.reason, end.spent.tool_calls) == ("not_converged", 2)
    assert end.trace.of("observation")[-1]["error"]["kind"] == "withdrawn"
    assert (end.run.forced, end.trace.end["forced"]) == (True, True)
    assert "No tool can be called any more" in seen[2][0]
    assert [offered for _, offered in seen] == [chat, chat, False]
    end = play(model, guards=[budget(Budget(steps=3), converge=False)], chat=chat)
    assert (end.reason, end.run.forced) == ("out_of_steps", False)


@pytest.mark.parametrize("chat", [False, True])
def test_what_an_endpoint_does_not_report_is_estimated(chat):
    """a model without usage is counted by its prompts, schemas, notes and turns"""
    end = play(stepping(chat), guards=[budget(Budget(tokens=2000))], chat=chat)
    used = [event["usage"] for event in end.trace.of("model_turn")]
    assert all(each["estimated"] and each["input"] > each["output"] for each in used)
    total = sum(each["input"] + each["output"] for each in used)
    assert (end.state, total <= 2000) == ("EXHAUSTED", True)
    assert end.spent.usage.input + end.spent.usage.output == total
    first = end.trace.of("model_request")[0]["prompt"]
    assert used[0]["input"] > len(json.dumps([first, end.run.machine.schemas])) / 5


def test_a_prefill_counts():
    """what a model's turns begin with is sent, and billed, with each prompt"""
    turns = [f" {n} is next.\nAction: Note\nAction Input: {n}" for n in range(9)]
    for tokens in range(90, 300, 7):
        model = Prefilled(Script(turns), "Thought:")
        guards = [budget(Budget(tokens=tokens), converge=False)]
        used = noted(model, guards=guards).run("?").spent.usage
        assert used.input + used.output <= tokens


WISH = "No peanuts, please."


@pytest.mark.parametrize("chat", [False, True])
def test_a_long_run_is_compacted_now_and_then(chat):
    """what the user pinned stays in each prompt; in between the prompt only grows"""
    page, question = "All is well. " * 4 + "The end.", "What does the book say?"
    reads = [[call("Read", n)] if chat else act("Read", n) for n in range(40)]
    options = {"chat": chat, "preamble": "Read.\n", "limits": Limits(99, 99, 999)}
    book = note("Read", lambda input: {"result": page})
    machine = noted([*reads, FINAL], [book], [context(400, [WISH])], **options)
    trace = machine.run(question).trace
    prompts = [trace.prompt(e["seq"]) for e in trace.of("model_request")]
    for prompt in prompts:
        assert f"{question}\n{WISH}" in (prompt[1]["content"] if chat else prompt)
        assert machine.model.count(prompt) <= 400
    for prompt in prompts[1:]:  # the newest observation is read
        newest = prompt[-1]["content"] if chat else prompt.splitlines()[-1]
        assert newest == (page if chat else f"Observation: {page}")
    pairs = itertools.pairwise(prompts)
    changed = [after[: len(before)] != before for before, after in pairs]
    done = [e for e in trace.of("decision") if e["what"] == "compacted"]
    assert 0 < sum(changed) == len(done) < len(changed) / 2
    assert all(each["before"] > each["limit"] >= each["after"] for each in done)
    assert "Earlier steps in short" in str(prompts[-1])


class Bell:
    """A tool that rings, and may fail before or after it."""

    def __init__(self, *ends, **about):
        self.rings, self.ends = 0, list(ends)
        about = {"timeout_s": None, "effect": "write", **about}
        self.tool = Tool("Ring", "Rings the bell.", N, self.ring, **about)

    def ring(self, n=1):
        end = self.ends.pop(0) if self.ends else {}
        if isinstance(end, ToolFailure) and end.error.kind != "timeout":
            raise end
        self.rings += 1
        if isinstance(end, BaseException):
            raise end
        return end

    def rung(self, make, *given):
        """Run a model that asks so, each in a turn; return what came of each."""
        turns = [[call("Ring", each)] for each in given]
        end = noted([*turns, "ok"], [self.tool], chat=True, make=make).run("?")
        self.message = end.message
        return [
            seen.error.kind
            if seen.error
            else ["done", "before"]["again" in seen.text()]
            for seen in end.run.observed
        ]


NO_ROPE = ToolFailure("no_rope", "the rope is away", True)
LATE, DEAD = ToolFailure("timeout", "late"), OSError("the line is dead")
PERSON, BEFORE = ["needs_person"] * 2, ["before"] * 2


@pytest.mark.parametrize(
    ("about", "end", "outcomes", "rings"),
    [
        ({}, {}, ["done", *BEFORE], 1),
        ({"effect": "read"}, {}, ["done"] * 3, 3),
        ({"repeatable": True}, {}, ["done"] * 3, 3),
        ({}, NO_ROPE, ["no_rope", "done", "before"], 1),
        ({}, LATE, ["timeout", *PERSON], 1),
        ({"look_up": lambda n: None}, DEAD, ["tool_raised", *PERSON], 1),
        ({"look_up": lambda n: 1 / 0}, "odd", ["bad_output", *PERSON], 1),
        ({"look_up": lambda n: {}}, DEAD, ["tool_raised", *BEFORE], 1),
    ],
)
@pytest.mark.parametrize("in_file", [True, False])
def test_one_operation_is_done_once(tmp_path, in_file, about, end, outcomes, rings):
    """another call_id, the default spelled out, 1.0 for 1: the same operation

    What its tool refused may be tried again. Of what is unknown the tool may know the
    result; otherwise a ledger in a file asks a person, also in another run.
    """
    make = Once(Ledger(tmp_path / "ledger.db") if in_file else None)
    if in_file or end in ({}, NO_ROPE):
        bell = Bell(end, **about)
        assert bell.rung(make, {"n": 1}, {}, {"n": 1.0}) == outcomes
        assert bell.rings == rings
        assert not in_file or bell.rung(make, {}) == outcomes[-1:]
        assert bell.rung(make, {"n": 2}) == ["done"]
    assert Bell().rung(Make(), {}, {}) == ["done"] * 2


@pytest.mark.parametrize(("key", "rings"), [((), 2), (("n",), 1)])
def test_a_ledger_of_single_runs(tmp_path, key, rings):
    """what one run did another one does again, unless it has a business key"""
    bell, ledger = Bell(business_key=key), Ledger(tmp_path / "db", across_runs=False)
    for _ in range(2):
        bell.rung(Once(ledger), {}, {})
    assert bell.rings == rings


PAYER = """
import time
from tests.runtime.playing import call, note, noted
from workbook.runtime.ledger import Ledger, Once

def pay(input):
    time.sleep(0.05)  # the other process comes meanwhile
    with open("bank", "a") as file:
        file.write(f"{input} ")
    return {}

turns = [[call("Pay", n)] for n in range(8)]
tool, once = note("Pay", pay, effect="write"), Once(Ledger("db"))
noted([*turns, "ok"], [tool], chat=True, make=once).run("?")
"""


def test_of_two_processes_one_pays(tmp_path, monkeypatch):
    """two processes that pay the same at once pay each payment once"""
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-c", PAYER]
    both = [subprocess.Popen(command, cwd=tmp_path) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    paid = (tmp_path / "bank").read_text().split()
    assert sorted(paid) == list("01234567")


def test_one_invoice_is_paid_with_one_amount(tmp_path):
    """what a business key names was done: with other arguments it is not done"""
    schema = {"properties": {"invoice": {}, "amount": {}}}
    about = {"business_key": ("invoice",), "timeout_s": None}
    pay = Tool("Pay", "Pays.", schema, lambda **given: {}, "write", **about)
    turns = [[call("Pay", {"invoice": "I7", "amount": n})] for n in (1, 2)]
    make = Once(Ledger(tmp_path / "db"))
    end = noted([*turns, "ok"], [pay], chat=True, make=make).run("?")
    assert re.match(r"Error \(denied\): .*I7.* other arguments", texts(end)[1])


def test_a_file_that_is_no_ledger_is_named(tmp_path):
    """a damaged ledger is an error in words, and nothing is done without it"""
    path, bell = tmp_path / "ledger.db", Bell()
    once = Once(Ledger(path))
    path.write_text("x" * 999)
    bell.rung(once, {})
    assert re.search(r"ledger\.db cannot be .*restore a copy", bell.message)
    assert bell.rings == 0
    with pytest.raises(LedgerError):
        Ledger(path)


def test_a_guard_of_your_own():
    """it sees the call and what was observed, and stops it with a reason"""

    def twice(asked, observed):
        asked.arguments.clear()  # it only looks
        return f"{observed[-1].text()} is enough" if observed else None

    end = play([act("Note", 1), act("Note", 2), FINAL], guards=[own_guard(twice)])
    denied = "Error (denied): Note was stopped by a guard: noted is enough."
    assert texts(end) == ["noted", denied]
    [decision] = end.trace.of("decision")
    assert (decision["who"], decision["why"]) == ("guard", "noted is enough")
    for wrong in (lambda *_: "", lambda *_: True, lambda *_: 1 / 0):
        end = play([act("Note", 1), FINAL], guards=[own_guard(wrong)])
        assert (end.state, end.run.observed) == ("ERROR", [])


@pytest.mark.parametrize("answer", ["Use the other one.", None])
def test_a_tool_that_fails_again_and_again_is_handed_over(answer):
    """a person gets what was tried, and answers; or the run waits"""
    got, tools = [], [note(run=lambda input: 1 / 0), note("Other")]
    turns = [*(act("Note", n) for n in range(3)), act("Other", 1), FINAL]
    end = play(turns, tools, [hand_over(lambda tried: got.append(tried) or answer)])
    [tried] = got
    assert [each["arguments"]["input"] for each in tried] == ["0", "1", "2"]
    assert all("ZeroDivisionError" in each["error"] for each in tried)
    assert end.state == ("DONE" if answer else "SUSPENDED")
    assert texts(end, "note") == ([f"A person answers: {answer}"] if answer else [])
