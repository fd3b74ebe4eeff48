"""A record goes on: killed at any event, from each end, with one thing changed."""

import json
import os
import re
import signal
from functools import partial

import pytest

from tests.runtime import playing
from tests.runtime.playing import FINAL, act, assert_replayed, call, note, noted, texts
from workbook.runtime.budget import Budget, Limits, budget
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Divergence
from workbook.runtime.ledger import Ledger, Once
from workbook.runtime.permission import PolicyRule, permission, yes
from workbook.runtime.replay import first_divergence, replay, resume, what_if
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace, TraceError
from workbook.runtime.turns import Action

EUROS = {"euros": {"type": "integer"}, "to": {"type": "string"}}
PAYMENT = {"properties": EUROS, "required": ["euros", "to"]}
BOTH = "25 Ada\n7 Ben\n"
pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


@pytest.fixture
def home():
    with playing.in_memory() as folder:
        yield folder


@pytest.fixture
def path(home):
    return home / "t.jsonl"


def kill():
    os.kill(os.getpid(), signal.SIGKILL)


def pay(home, die=None):
    """Return a tool with an effect: a line in the bank's file, which it can look up."""
    bank = home / "bank"

    def run(euros, to):
        if die == "before":
            kill()
        with bank.open("a") as file:
            file.write(f"{euros} {to}\n")
        if die == "after":
            kill()
        return {"result": f"paid {euros} to {to}"}

    def look_up(euros, to):
        is_paid = bank.exists() and f"{euros} {to}\n" in bank.read_text()
        return {"result": f"paid {euros} to {to}"} if is_paid else None

    return Tool("Pay", "Pays.", PAYMENT, run, "write", timeout_s=None, look_up=look_up)


ADA, BEN = {"euros": 25, "to": "Ada"}, {"euros": 7, "to": "Ben"}
TURNS = [act("Note", 1), act("Pay", json.dumps(ADA)), "what?"]
TURNS += [act("Pay", json.dumps(BEN)), FINAL]
CALLS = [[call("Note", 1, "a"), call("Note", 2, "b"), call("Pay", ADA)]]
CALLS += [[call("Pay", BEN, "a"), call("Nope", {}, "x")], FINAL]


def paying(home, turns=TURNS, die=None):
    """Return a machine with all guards, a ledger, and somebody who approves."""
    chat, make = turns is CALLS, Once(Ledger(home / "ledger"))
    guards, tools = all_guards(Budget(tokens=9000), yes), [note(), pay(home, die)]
    return noted(turns, tools, guards, chat=chat, parallel=chat, make=make)


def in_a_process_that_dies(work):
    """Do something in a process that kills itself."""
    pid = os.fork()
    if pid == 0:
        try:
            work()
        finally:
            os._exit(0)
    return os.WTERMSIG(os.waitpid(pid, 0)[1]) == signal.SIGKILL


@pytest.mark.parametrize("turns", [TURNS, CALLS])
def test_killed_at_any_event(home, turns):
    """kill -9 after each event: resumed to the same answer, paid once, and replayed"""

    def in_folder(name):
        (home / name).mkdir()
        return home / name, paying(home / name, turns)

    folder, machine = in_folder("whole")
    whole = machine.run("?", folder / "t")
    assert (whole.state, (folder / "bank").read_text()) == ("DONE", BOTH)
    for k in range(len(whole.trace) - 1):
        folder, machine = in_folder(str(k))

        machine.listener = lambda event, k=k: event["seq"] == k and kill()
        assert in_a_process_that_dies(partial(machine.run, "?", folder / "t"))
        machine.listener = None
        end = resume(folder / "t", machine)
        assert (end.state, (folder / "bank").read_text()) == ("DONE", BOTH), k
        assert texts(end, "model") == texts(whole, "model")
        assert len(texts(end)) == len(texts(whole))
        assert end.spent.steps == whole.spent.steps
        assert_replayed(end, machine, Trace.read(folder / "t"))


@pytest.mark.parametrize("die", ["before", "after"])
@pytest.mark.parametrize("has_ledger", [True, False])
def test_killed_inside_an_effect(home, path, die, has_ledger):
    """the bank knows, or nobody does: what may have been done is not done again"""

    def made(die=None):
        plain = noted(TURNS, [note(), pay(home, die)])
        return paying(home, die=die) if has_ledger else plain

    assert in_a_process_that_dies(lambda: made(die).run("?", path))
    end = resume(path, made())
    assert (home / "bank").read_text() == ("7 Ben\n" if die == "before" else BOTH)
    found = has_ledger and die == "after"
    assert ("it was done before" if found else "needs_person") in texts(end)[1]
    assert_replayed(end, made(), Trace.read(path))


def test_what_cannot_go_on_is_refused(path):
    """no file, no run in it, a damaged one, or one that has its answer"""
    with pytest.raises(FileNotFoundError, match="there is no trace"):
        resume(path, noted([]))
    path.write_bytes(b"")
    with pytest.raises(TraceError, match="nothing to resume"):
        resume(path, noted([]))
    events = noted([FINAL]).run("?", path).trace.events
    with pytest.raises(TraceError, match="has ended in DONE"):
        resume(path, noted([FINAL]))
    for trace in (Trace(()), Trace(events[:-1]), Trace(events, "torn")):
        with pytest.raises(TraceError):
            replay(trace, noted([FINAL]))


# from each end

NOTES = [act("Note", 1), act("Note", 2), act("Note", 3), FINAL]


def test_from_exhausted(path):
    """other limits let it go on, the same ones give the same end; all of it replayed"""

    def limited(*limits):
        return noted(NOTES, guards=[budget(Budget(*limits), converge=False)])

    assert limited(2).run("?", path).reason == "out_of_steps"
    for limits, reason in (
        ((2,), "out_of_steps"),
        ((9, 2), "out_of_tool_calls"),
        ((9, 9), "final_answer"),
    ):
        end = resume(path, limited(*limits))
        assert end.reason == reason
        assert_replayed(end, limited(2), Trace.read(path))
    assert end.spent.steps == 4
    resumed = [event for event in end.trace if event.get("what") == "resumed"]
    assert [[*event["settings"]] for event in resumed] == [[], *[["limits"]] * 2]
    for event in resumed:
        assert re.fullmatch(r"event \d+ was the last one", event["why"])
        assert event["who"] == "record"


@pytest.mark.parametrize("chat", [False, True])
def test_a_request_without_a_response_is_sent_as_it_was_recorded(path, chat):
    """a process that dies while the model writes asks once more for the same"""

    def one(steps, seen):
        model = playing.stepping(chat)
        respond = model.respond
        model.respond = lambda r: seen.append((r.messages, r.tools)) or respond(r)
        return noted(model, guards=[budget(Budget(steps))], chat=chat)

    whole, again = [], []
    trace = one(2, whole).run("?", path).trace
    playing.cut(path, trace.of("model_request")[1]["seq"] + 1)
    end = resume(path, one(4, again))
    assert again[0] == whole[1]
    assert "Tools can be called again." in texts(end, "note")
    assert_replayed(end, one(2, []), Trace.read(path))


def test_a_read_that_was_lost_is_made_again(path):
    """a process that dies in a READ has done no harm, also without a ledger"""
    trace = noted(NOTES).run("?", path).trace
    playing.cut(path, trace.of("tool_call")[0]["seq"] + 1)
    assert texts(resume(path, noted(NOTES))) == ["noted"] * 3


def test_a_note_comes_after_the_results(path):
    """what a resumed run is told waits until the calls of a turn are observed"""
    turns = [[call("Note", 1, "a"), call("Note", 2, "b")], FINAL]
    noted(turns, chat=True, limits=Limits(tool_calls=1)).run("?", path)
    end = resume(path, noted(turns, [note(), note("More")], chat=True))
    roles = [part["role"] for part in end.run.parts[-4:]]
    assert roles == ["result", "result", "note", "model"]


@pytest.mark.parametrize("chat", [False, True])
def test_from_error_with_one_more_tool(path, chat):
    """a model that raised is asked again; a new tool is described, or offered"""
    do = call if chat else act
    turns = [do("Note", 4), ConnectionError("no network"), do("Twice", 4), FINAL]
    guards = [budget(Budget(tokens=9000))]  # each turn has a cap, less the schemas
    first = noted(turns, guards=guards, chat=chat)
    end = first.run("?", path)
    assert (end.state, end.message) == ("ERROR", "ConnectionError: no network")
    assert_replayed(end, first)
    twice = note("Twice", lambda input: {"result": int(input) * 2})
    more = noted(turns, [note(), twice], guards, chat=chat)
    end = resume(path, more)
    assert (end.state, texts(end)) == ("DONE", ["noted", "8"])
    [words] = texts(end, "note")
    assert "Twice(input: string): Twice one thing." in words
    assert_replayed(end, more, Trace.read(path))


def test_from_suspended(home, path):
    """a run that waits has no end; the next process brings a person, and other rules

    What was decided before stays.
    """
    turns = [*TURNS[:4], act("Note", 9), FINAL]

    def asking(person, **options):
        guards, make = [permission(person, **options)], Once(Ledger(home / "ledger"))
        return noted(turns, [note(), pay(home)], guards, make=make)

    end = asking(None).run("?", path)
    assert (end.state, end.trace.end) == ("SUSPENDED", None)
    assert resume(path, asking(None)).state == "SUSPENDED"
    assert_replayed(end, asking(None))
    rules = [PolicyRule("deny", tool="Note", why="enough"), PolicyRule("allow")]
    end = resume(path, asking(yes, rules=rules))
    assert (end.state, (home / "bank").read_text()) == ("DONE", BOTH)
    assert (texts(end)[0], "enough" in texts(end)[-1]) == ("noted", True)
    assert_replayed(end, asking(None), Trace.read(path))


# other machines


def test_a_machine_that_does_something_else(path):
    """a Divergence names event and difference; the file stays whole and free"""
    noted(NOTES, limits=Limits(2)).run("?", path)
    before, record = path.read_bytes(), Trace.read(path)
    other = noted(NOTES, parts={"parse_turn": lambda text: Action("", "Note", "26")})
    with pytest.raises(Divergence) as caught:
        resume(path, other)
    found = caught.value
    assert found.expected == record.events[found.seq]
    assert found.expected["kind"] == found.found["kind"] == "tool_call"
    different = "'arguments': {'input': '%s'}"
    message = f"{different % 1}}}; this run has tool_call {{{different % 26}}}"
    assert str(found).endswith(message)
    assert path.read_bytes() == before
    assert resume(path, noted(NOTES)).state == "DONE"


OTHERS = [{"preamble": "Be brief.\n"}, {"limits": Limits(7)}, {"chat": True}]


@pytest.mark.parametrize("options", OTHERS)
def test_a_replay_is_of_the_same_machine(options):
    """another preamble, limit, kind of model or guard is a Divergence at once

    A cancel that somebody has asked for stays for the run that comes after it.
    """
    record, other = noted(NOTES).run("?").trace, noted(NOTES, **options)
    with pytest.raises(Divergence) as caught:
        replay(record, other)
    assert caught.value.seq == 0
    same = noted(NOTES)
    for machine in (same, other):
        machine.cancel()
    assert replay(record, same).state == "DONE"
    assert (same.run("?").state, other.run("?").state) == ("CANCELLED", "CANCELLED")


# what if

LATE = {"kind": "timeout", "message": "late", "retryable": True, "hint": ""}
FIVE = [{"tool": "Note", "arguments": {"input": "5"}}]


@pytest.mark.parametrize(
    ("kind", "change", "answer"),
    [
        ("observation", {"result": {"result": 90}}, "90"),
        ("observation", {"error": LATE}, "Error (timeout): late"),
        ("model_turn", {"text": act("Note", 2)}, "noted 2"),
        ("model_turn", {"calls": FIVE}, "noted 5"),
    ],
)
def test_one_line_is_changed(path, kind, change, answer):
    """the run goes on live from there; what came before is as it was"""
    chat = "calls" in change

    def respond(seen):
        return seen.rpartition("tool: " if chat else "Observation: ")[2].strip()

    turns = [call("Note", 1, "a") if chat else act("Note", 1)]
    turns += [lambda seen: f"Final Answer: {respond(seen)}"]
    tools = [note(run=lambda input: {"result": f"noted {input}"})]
    one = noted(turns, tools, chat=chat)
    old = one.run("?").trace
    k = old.of(kind)[0]["seq"]
    new = what_if(old, k, change, one)
    assert new.end["answer"].startswith(answer)
    assert first_divergence(old.events, new.events) == k
    parent = {"trace_id": old.events[0]["trace_id"], "seq": k, "change": change}
    assert new.events[0]["what_if"] == parent
    assert new.events[0]["trace_id"] != parent["trace_id"]
    assert replay(new, playing.silent(one)).answer == new.end["answer"]
    assert Trace.read(new.save(path)) == new
    assert "what_if" not in old.events[0]


@pytest.mark.parametrize("turn", range(2))
def test_a_budget_goes_on_from_a_change(turn, monkeypatch):
    """what was spent is spent, a WRITE is not made again, nor one that has a secret"""
    monkeypatch.setenv("MY_API_KEY", "hunter2-hunter2")
    made = []
    tools = [note(run=lambda input: made.append(input) or {"ok": 1}, effect="write")]
    one = noted(NOTES, tools, all_guards(Budget(steps=4, tool_calls=3), yes))
    old = one.run("?").trace
    made.clear()
    k = old.of("model_turn")[turn]["seq"]
    new = what_if(old, k, {"text": act("Note", "hunter2-hunter2")}, one)
    assert (new.end["state"], len(made)) == ("DONE", 2 - turn)
    assert new.end["spent"]["steps"] == 4
    assert "[secret]" in str(new.events)
    assert "hunter2" not in str(new.events)


@pytest.mark.parametrize(
    ("k", "change", "words"),
    [
        (99, {"text": "Hm."}, "there is no event 99"),
        ("transition", {"event": "cancel"}, "a model_turn or an observation can"),
        ("observation", {"text": "80"}, "result"),
        ("model_turn", {"calls": [{"tool": "Note"}]}, "arguments"),
        ("observation", {"result": {"result": object()}}, "JSON"),
        ("observation", {"result": 80}, "a result is an object"),
        ("observation", {"result": {"result": 1}}, "runtime's own"),  # of "Hm."
    ],
)
def test_what_cannot_be_changed_is_named(k, change, words):
    """another event or field, or what no tool returned: a sentence says what can be"""
    one = noted(["Hm.", act("Note", 1), FINAL])
    old = one.run("?").trace
    k = next((e["seq"] for e in old if e["kind"] == k), k)
    with pytest.raises(TraceError) as caught:
        what_if(old, k, change, one)
    assert words in str(caught.value)
