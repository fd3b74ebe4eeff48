"""What stops a run in the middle: its time, Ctrl-C, a cancel; pieces; READs at once.

Nothing here sleeps for long: what hangs waits for an event that never comes.
"""

import signal
import threading
import time

import pytest

from tests.runtime.playing import (
    FINAL,
    Asked,
    act,
    assert_honest,
    assert_replayed,
    call,
    ctrl_c,
    listening,
    note,
    noted,
    play,
    texts,
)
from workbook.runtime.budget import Budget, Limits, budget
from workbook.runtime.guards import own_guard
from workbook.runtime.model import Response
from workbook.runtime.permission import PolicyRule, permission
from workbook.runtime.replay import resume
from workbook.runtime.wrappers import run_in_parallel

STOPS = pytest.mark.parametrize("stop", ["ctrl-c", "cancel"])


def hang(*args, **kwargs):
    """Stand for a call that has no answer for a long time."""
    threading.Event().wait(8)
    return Response(FINAL)


def stopping(stop, machine):
    """Return what stops the run of a machine, from any thread."""
    main = threading.main_thread().ident
    press = lambda: signal.pthread_kill(main, signal.SIGINT)  # noqa: E731
    return machine.cancel if stop == "cancel" else press


@pytest.fixture(autouse=True)
def _in_time():
    """Nothing here waits for what hangs, and Ctrl-C is left as it was."""
    before, began = signal.getsignal(signal.SIGINT), time.perf_counter()
    yield
    assert time.perf_counter() - began < 6
    assert signal.getsignal(signal.SIGINT) is before


# time


@pytest.mark.parametrize("limits", [Budget(wall_s=0.2), Budget(model_s=0.2)])
def test_a_model_that_hangs_is_given_up(limits):
    """a model call gets what is left of the time, or its own share; replayed at once"""
    end = play(Asked(hang, streams=True), guards=[budget(limits)])
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")
    [stopped] = [e for e in end.trace if e.get("stopped")]
    assert (stopped["kind"], stopped["what"]) == ("decision", "timed_out")


@pytest.mark.parametrize(
    ("own_s", "left_s", "words", "state"),
    [
        (25, 0.2, "had not answered when the run's time was over", "EXHAUSTED"),
        (0.2, 60, "did not answer within 0.2 s", "DONE"),
    ],
)
def test_a_tool_that_hangs_is_given_up(own_s, left_s, words, state):
    """it gets its own time or what is left, whichever is less; the model reads so"""
    tools, limits = [note(run=hang, timeout_s=own_s)], Limits(wall_s=left_s)
    end = play([act("Note", 1), FINAL], tools, limits=limits)
    [observation] = end.trace.of("observation")
    assert (end.state, observation["error"]["kind"]) == (state, "timeout")
    assert words in observation["text"]


def test_the_seconds_of_a_run_are_all_of_them():
    """those that a guard of yours takes are the run's, too"""
    now = [0.0]

    def slow(*args):
        now[0] += 3

    turns, journal = [act("Note", 1)] * 3, listening(None, clock=lambda: now[0])
    guards = [own_guard(slow), budget(Budget(wall_s=5))]
    end = play(turns, guards=guards, journal=journal)
    assert (end.reason, end.spent.wall_s, end.spent.steps) == ("out_of_time", 6, 2)


@pytest.mark.parametrize("jump", range(1, 40))
def test_a_clock_that_jumps_at_any_look(jump):
    """what the clock decided in a run is decided so in its replay"""
    looks, guard = iter(range(10_000)), own_guard(lambda *_: None)
    clock = lambda: 10.0 * (next(looks) >= jump)  # noqa: E731
    turns = [act("Note", 1), act("Note", 2), FINAL]
    journal = listening(None, clock=clock)
    end = play(turns, guards=[guard, budget(Budget(wall_s=9))], journal=journal)
    assert end.state in ("DONE", "EXHAUSTED")


# Ctrl-C and cancel


@STOPS
@pytest.mark.parametrize("where", ["model", "tool", "person"])
def test_a_stop_while_something_hangs(where, stop, tmp_path):
    """the run ends in CANCELLED at once, is replayed so, and goes on when resumed"""
    hangs = {where}

    def respond(request):
        hang() if "model" in hangs else None
        calls = sum(part["role"] == "result" for part in request.parts)
        return Response(FINAL if calls else act("Note", 1))

    def run(input):
        hang() if "tool" in hangs else None
        return {}

    def person(request):
        if "person" in hangs:
            stopping(stop, machine)()  # cancelled while they think: no answer counts
            hang() if stop == "ctrl-c" else None

    effect = "write" if where == "person" else "read"
    tools = [note(run=run, timeout_s=20, effect=effect)]
    machine = noted(Asked(respond), tools, [permission(person)])
    if where != "person":
        threading.Timer(0.2, stopping(stop, machine)).start()
    end = machine.run("?", tmp_path / "t")
    assert end.state in ("CANCELLED", "SUSPENDED" if where == "person" else "")
    assert_honest(end)
    assert_replayed(end, machine)
    hangs.clear()
    done = resume(tmp_path / "t", machine)
    assert done.state == ("SUSPENDED" if where == "person" else "DONE")
    assert_replayed(done, machine)
    stopped = "the run was stopped before Note had a result"
    assert where != "tool" or stopped in texts(done)[0]


def test_a_second_ctrl_c_is_pythons_own():
    """the first one waits for the next state; who presses twice gets out"""
    caught = []

    def stubborn(asked, seen):
        for number in (1, 2):
            try:
                ctrl_c()
                time.sleep(0.01)
            except KeyboardInterrupt:
                caught.append(number)

    end = noted([act("Note", 1), FINAL], guards=[own_guard(stubborn)]).run("?")
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
@pytest.mark.parametrize("pieces", [1, 9, len(LONG) // 4])
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
    assert (done.answer, texts(done, "model")) == ("ok", [FINAL])
    assert_replayed(done, machine)


@STOPS
def test_a_model_that_stops_writing_is_given_up(stop):
    """one that streamed a piece and then hangs is not waited for"""
    model = Asked(lambda request: request.on_text("Thou") or hang(), streams=True)
    machine = noted(model, on_text=lambda piece: None)
    threading.Timer(0.2, stopping(stop, machine)).start()
    end = machine.run("?")
    assert end.state == "CANCELLED"
    assert_replayed(end, machine)


def test_a_model_that_nobody_waits_for_stops():
    """one that writes when its time is over writes no more, and nobody reads it"""
    read, asked, over, done = [], [], threading.Event(), threading.Event()

    def respond(request):
        asked.append(request.on_text("a"))
        assert over.wait(5)
        asked.append(request.on_text("b"))
        done.set()

    model, limits = Asked(respond, streams=True), Limits(wall_s=0.05)
    assert play(model, limits=limits, on_text=read.append).reason == "out_of_time"
    over.set()
    assert done.wait(5)
    assert (asked, read) == ([False, True], ["a"])


# READs of one turn, made at once


def at_once(names, tools, guards=None, **options):
    """Return a machine whose model asks for so many calls in its first turn."""
    turn = [call(name, n, f"c{n}") for n, name in enumerate(names)]
    options = {"chat": True, "parallel": True, **options}
    return noted([turn, FINAL], tools, guards, **options)


def test_reads_are_made_at_once_and_a_write_alone():
    """one READ that hangs and one that raises are errors of their own

    Results stand in the order of the calls; a limit holds for all; a replay is quiet.
    """
    together, alone = threading.Barrier(3), []

    def read(input):
        if input == "3":
            raise OSError("no line")
        hang() if input == "2" else together.wait(5)  # for two others
        return {"result": input}

    write = note("Write", lambda input: alone.append(input) or {}, effect="write")
    tools = [note("Read", read, timeout_s=0.5), write]
    names = [*["Read"] * 5, "Write", "Read", "Read", "Read", "Read"]
    machine = at_once(names, tools, limits=Limits(tool_calls=9))
    end = machine.run("?")
    good = [event["ok"] for event in end.trace.of("observation")]
    assert good == [n not in (2, 3) for n in range(9)]
    ids = [part["id"] for part in end.run.parts if "id" in part]
    assert (ids[:6], alone) == ([f"c{n}" for n in range(6)], ["5"])
    assert (end.reason, end.spent.tool_calls) == ("out_of_tool_calls", 9)
    threads = threading.active_count()
    assert_replayed(end, machine)
    assert threading.active_count() <= threads


@pytest.mark.parametrize("which", [0, 1, 2])
@pytest.mark.parametrize("verdict", ["deny", "ask", "mine"])
def test_a_read_that_may_not_be_made_stops_no_other(which, verdict):
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
    assert_honest(end)
    assert_replayed(end, machine)


@STOPS
def test_a_stop_reaches_all_reads(stop, tmp_path):
    """nobody is waited for, and each call that was begun has one observation"""
    begun, hangs = threading.Barrier(3), [True]

    def run(input):
        if hangs:
            begun.wait(5)
            stopping(stop, machine)() if input == "2" else None
            hang()
        return {}

    machine = at_once(["Note"] * 3, [note(run=run, timeout_s=60)])
    end = machine.run("?", tmp_path / "t")
    errors = [event["error"]["kind"] for event in end.trace.of("observation")]
    assert (end.state, errors) == ("CANCELLED", ["cancelled"] * 3)
    assert_honest(end)
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
    assert_honest(end)
    assert_replayed(end, machine)
