"""What stops a run in the middle: its time, Ctrl-C, a cancel; pieces; READs at once.

What hangs waits for the end of its test, and what must happen has a minute. A limit
that is to be exceeded is short, and the clock of its run stands still.
"""

import math
import signal
import threading
from collections import deque
from functools import partial

import pytest

from tests.runtime import playing
from tests.runtime.playing import FINAL, Asked, assert_replayed, call, note, noted, play
from workbook.runtime import waiting
from workbook.runtime.budget import Budget, Limits, budget
from workbook.runtime.guards import own_guard
from workbook.runtime.journal import Journal
from workbook.runtime.model import Response
from workbook.runtime.permission import PolicyRule, permission
from workbook.runtime.replay import resume
from workbook.runtime.wrappers import run_in_parallel

STOPS = pytest.mark.parametrize("stop", ["ctrl-c", "cancel"])


@pytest.fixture(autouse=True)
def hang(monkeypatch):
    """Return a call without an answer; a call that is stopped has a minute to end."""
    monkeypatch.setattr(waiting, "GRACE_S", 60)
    before, over = signal.getsignal(signal.SIGINT), threading.Event()
    yield lambda *args, **kwargs: over.wait(300) and None
    over.set()
    assert signal.getsignal(signal.SIGINT) is before


def stopping(stop, machine):
    """Return what stops the run of a machine, from any thread."""
    main = threading.main_thread().ident
    press = lambda: signal.pthread_kill(main, signal.SIGINT)  # noqa: E731
    return machine.cancel if stop == "cancel" else press


# time


LIMITS = [Budget(wall_s=0.2), Budget(wall_s=math.inf, model_s=0.2)]


@pytest.mark.parametrize("limits", LIMITS)
def test_a_model_that_hangs_is_given_up(limits, hang):
    """a model call gets what is left of the time, or its own share; replayed at once"""
    model, journal = Asked(hang, streams=True), Journal(clock=lambda: 0.0)
    end = play(model, guards=[budget(limits)], journal=journal)
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")
    [stopped] = [e for e in end.trace if e.get("stopped")]
    assert (stopped["kind"], stopped["what"]) == ("decision", "timed_out")


@pytest.mark.parametrize(
    ("own_s", "left_s", "words"),
    [
        (25, 0.2, "had not answered when the run's time was over"),
        (0.2, 60, "did not answer within 0.2 s"),
    ],
)
def test_a_tool_that_hangs_is_given_up(own_s, left_s, words, hang):
    """it gets its own time or what is left, whichever is less; the model reads so"""
    tools, limits = [note(run=hang, timeout_s=own_s)], Limits(wall_s=left_s)
    turns, journal = [playing.act("Note", 1), FINAL], Journal(clock=lambda: 0.0)
    end = play(turns, tools, limits=limits, journal=journal)
    [observation] = end.trace.of("observation")
    assert observation["error"]["kind"] == "timeout"
    assert words in observation["text"]


def test_the_seconds_of_a_run_are_all_of_them():
    """those that a guard of yours takes are the run's, too"""
    now = [0.0]

    def slow(*args):
        now[0] += 3

    turns, journal = [playing.act("Note", 1)] * 3, Journal(clock=lambda: now[0])
    guards = [own_guard(slow), budget(Budget(wall_s=5))]
    end = play(turns, guards=guards, journal=journal)
    assert (end.reason, end.spent.wall_s, end.spent.steps) == ("out_of_time", 6, 2)


# Ctrl-C and cancel


@STOPS
@pytest.mark.parametrize("where", ["model", "tool", "person"])
def test_a_stop_while_something_hangs(where, stop, tmp_path, hang):
    """the run ends in CANCELLED at once, is replayed so, and goes on when resumed"""
    hangs = {where}

    def stopped(what):
        if what in hangs:
            stopping(stop, machine)()
            hang() if (what, stop) != ("person", "cancel") else None  # no answer counts

    def respond(request):
        stopped("model")
        calls = sum(part["role"] == "result" for part in request.parts)
        return Response(FINAL if calls else playing.act("Note", 1))

    def run(input):
        stopped("tool")
        return {}

    effect = "write" if where == "person" else "read"
    tools = [note(run=run, timeout_s=100, effect=effect)]
    person = permission(lambda request: stopped("person"))
    machine = noted(Asked(respond), tools, [person])
    end = machine.run("?", tmp_path / "t")
    assert end.state in ("CANCELLED", "SUSPENDED" if where == "person" else "")
    assert_replayed(end, machine)
    hangs.clear()
    done = resume(tmp_path / "t", machine)
    assert done.state == ("SUSPENDED" if where == "person" else "DONE")
    assert_replayed(done, machine)
    words = "the run was stopped before Note had a result"
    assert where != "tool" or words in playing.texts(done)[0]


def test_a_second_ctrl_c_is_pythons_own():
    """the first one waits for the next state; who presses twice gets out"""
    caught = []

    def stubborn(asked, seen):
        for number in (1, 2):
            try:
                signal.raise_signal(signal.SIGINT)
            except KeyboardInterrupt:
                caught.append(number)

    end = noted([playing.act("Note", 1), FINAL], guards=[own_guard(stubborn)]).run("?")
    assert (end.state, caught) == ("CANCELLED", [2])


# a model that streams

LONG = "Thought: one and one.\nAction: Note\nAction Input: 1 + 1 + 1 + 1 + 1"


def test_the_pieces_are_the_text():
    """what a model streams is passed on as it is written; a plain model is not asked"""
    pieces = []
    assert play([LONG, FINAL], on_text=pieces.append).answer == "ok"
    assert ("".join(pieces), len(pieces) > 9) == (LONG + FINAL, True)
    plain = Asked(lambda request: Response(f"Final Answer: {request.on_text}"))
    assert play(plain, on_text=print).answer == "None"


@STOPS
@pytest.mark.parametrize("chat", [False, True])
@pytest.mark.parametrize("pieces", [1, 9])
def test_a_model_that_writes_stops_at_its_next_piece(pieces, stop, chat, tmp_path):
    """half a turn is recorded and counted, never taken, and asked for again"""
    written = []

    def on_text(piece):
        written.append(piece)
        if len(written) == pieces:
            stopping(stop, machine)()

    machine = noted([LONG, FINAL], on_text=on_text, chat=chat)
    end = machine.run("?", tmp_path / "t")
    assert (end.state, len(written)) == ("CANCELLED", pieces)
    [turn] = end.trace.of("model_turn")
    assert (turn["text"], turn["finish"]) == ("".join(written), "cancelled")
    assert (turn["usage"]["output"], end.trace.of("tool_call")) == (pieces, [])
    assert_replayed(end, machine)
    done = resume(tmp_path / "t", machine)
    assert (done.answer, playing.texts(done, "model")) == ("ok", [FINAL])
    assert_replayed(done, machine)


@STOPS
def test_a_model_that_stops_writing_is_given_up(stop, monkeypatch, hang):
    """one that streamed a piece and then hangs is not waited for"""
    monkeypatch.setattr(waiting, "GRACE_S", 0.1)

    def respond(request):
        request.on_text("Thou")
        stopping(stop, machine)()
        hang()

    machine = noted(Asked(respond, streams=True), on_text=lambda piece: None)
    end = machine.run("?")
    assert end.state == "CANCELLED"
    assert_replayed(end, machine)


def test_a_model_that_nobody_waits_for_stops():
    """one that writes when its time is over writes no more, and nobody reads it"""
    pieces, in_flight = [], waiting.InFlight(deque())
    write = partial(in_flight.take_text, pieces.append)
    assert in_flight.wait(lambda: write("a"), 60) is False
    assert write("b") is True
    assert pieces == ["a"]


# READs of one turn, made at once


def at_once(names, tools, guards=None, **options):
    """Return a machine whose model asks for so many calls in its first turn."""
    turn = [call(name, n, f"c{n}") for n, name in enumerate(names)]
    options = {"chat": True, "parallel": True, **options}
    return noted([turn, FINAL], tools, guards, **options)


def test_reads_are_made_at_once_and_a_write_alone(hang):
    """one READ that hangs and one that raises are errors of their own

    Results stand in the order of the calls; a limit holds for all; a replay is quiet.
    """
    together, alone = threading.Barrier(3), []

    def read(input):
        if input == "3":
            raise OSError("no line")
        together.wait(60)  # for two others
        return {"result": input}

    write = note("Write", lambda input: alone.append(input) or {}, effect="write")
    tools = [note("Read", read), note("Slow", hang, timeout_s=0.2), write]
    names = ["Read", "Read", "Slow", "Read", "Read", "Write", *["Read"] * 4]
    machine = at_once(names, tools, limits=Limits(tool_calls=9))
    end = machine.run("?")
    good = [event["ok"] for event in end.trace.of("observation")]
    assert good == [n not in (2, 3) for n in range(9)]
    ids = [part["id"] for part in end.run.parts if "id" in part]
    assert (ids[:6], alone) == ([f"c{n}" for n in range(6)], ["5"])
    assert (end.reason, end.spent.tool_calls) == ("out_of_tool_calls", 9)
    assert_replayed(end, machine)


@pytest.mark.parametrize(
    ("which", "verdict", "decided"),
    [
        (0, "deny", [("policy", "deny")]),
        (1, "deny", [("policy", "deny")]),
        (1, "ask", [("policy", "ask"), ("person", "later")]),
        (1, "mine", [("guard", "deny")]),
    ],
)
def test_a_read_that_may_not_be_made_stops_no_other(which, verdict, decided):
    """what is denied is refused, what is asked about waits; those before it are made"""
    made, asked = [], []
    tools = [note(run=lambda input: made.append(input) or {}), note("Peek")]
    names = ["Note"] * which + ["Peek"] + ["Note"] * (2 - which)
    rules = [PolicyRule(verdict, tool="Peek"), PolicyRule("allow")]
    guard = permission(asked.append, rules=rules)
    if verdict == "mine":
        guard = own_guard(lambda each, seen: "no" if each.name == "Peek" else None)
    machine = at_once(names, tools, [guard])
    end = machine.run("?")
    waits = verdict == "ask"
    rest = range(which if waits else 3)
    assert end.state == ("SUSPENDED" if waits else "DONE")
    assert (len(asked), sorted(made)) == (waits, [str(n) for n in rest if n != which])
    good = {e["call_id"]: e["ok"] for e in end.trace.of("observation")}
    assert good == {f"c{n}": n != which for n in rest}
    assert [(e["who"], e["what"]) for e in end.trace.of("decision")] == decided
    assert_replayed(end, machine)


@STOPS
def test_a_stop_reaches_all_reads(stop, tmp_path, hang):
    """nobody is waited for, and each call that was begun has one observation"""
    begun, hangs = threading.Barrier(3), [True]

    def run(input):
        if hangs:
            begun.wait(60)
            stopping(stop, machine)() if input == "2" else None
            hang()
        return {}

    machine = at_once(["Note"] * 3, [note(run=run, timeout_s=100)])
    end = machine.run("?", tmp_path / "t")
    errors = [event["error"]["kind"] for event in end.trace.of("observation")]
    assert (end.state, errors) == ("CANCELLED", ["cancelled"] * 3)
    assert_replayed(end, machine)
    hangs.clear()
    assert resume(tmp_path / "t", machine).answer == "ok"


@pytest.mark.parametrize("mixed", [reversed, lambda seen: seen[:1]])
def test_an_observation_is_never_another_calls(mixed):
    """a run_in_parallel that mixes observations up, or loses one, ends in ERROR"""
    parts = {"run_in_parallel": lambda *about: [*mixed(run_in_parallel(*about))]}
    machine = at_once(["Note"] * 2, [note()], parts=parts)
    end = machine.run("?")
    assert (end.state, "an observation a call" in end.message) == ("ERROR", True)
    assert not any(event["ok"] for event in end.trace.of("observation"))
    assert_replayed(end, machine)
