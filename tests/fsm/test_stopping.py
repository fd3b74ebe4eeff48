"""What stops a run: its time, Ctrl-C, a cancel in the middle of a turn."""

import os
import signal
import threading
import time

import pytest

from tests.fsm.playing import ACT, FINAL, machine, play
from workbook.fsm import Event, FunctionCalls, Limits, State, TextTurns
from workbook.models.base import Completion
from workbook.traces.writer import TraceWriter

# time and Ctrl-C


def hang(seen):
    threading.Event().wait(30)


def test_a_model_that_hangs_is_given_up_in_time():
    """a model call gets what is left of the wall time, and not more"""
    end, _ = play([hang], limits=Limits(wall_s=0.2))
    assert end.spent.wall_s < 20
    assert (end.state, end.reason) == (State.EXHAUSTED, Event.OUT_OF_TIME)


@pytest.mark.parametrize(
    ("own_s", "left_s", "state"), [(25, 0.2, State.EXHAUSTED), (0.2, 60, State.DONE)]
)
def test_a_tool_that_hangs_gets_its_own_time_or_what_is_left(own_s, left_s, state):
    """the shorter one holds; the model is told, and the run goes on if it has time"""
    turns, limits = [ACT.format(1), FINAL], Limits(wall_s=left_s)
    end, trace = play(turns, lambda n: hang(n), own_s, limits=limits)
    assert (end.state, end.spent.wall_s < 20) == (state, True)
    assert trace.of("observation")[0]["error"]["kind"] == "timeout"


@pytest.fixture
def outside():
    """How often Ctrl-C came while no run was on."""
    came = []
    before = signal.signal(signal.SIGINT, lambda number, frame: came.append(number))
    yield came
    signal.signal(signal.SIGINT, before)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_ctrl_c_at_any_moment_ends_in_cancelled(outside):
    """a first Ctrl-C, whenever it comes, is CANCELLED with a whole trace"""
    handler, ends = signal.getsignal(signal.SIGINT), []
    turns = [*map(ACT.format, range(1, 150)), FINAL]
    limits = Limits(steps=200, tool_calls=200)
    for number in range(120):
        delay_s = number % 60 * 2e-4
        timer = threading.Timer(delay_s, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        ends.append(play(turns, limits=limits)[0].state)
        timer.join()
        assert signal.getsignal(signal.SIGINT) is handler
    assert set(ends) <= {State.CANCELLED, State.DONE}
    came_too_late = ends.count(State.DONE) - len(outside)  # behind the last handler
    assert 0 <= came_too_late < 30
    assert ends.count(State.CANCELLED) > 20


def test_a_second_ctrl_c_is_pythons_own():
    """who presses twice gets out, whatever the run is doing"""
    seen = []

    def stubborn(n):
        for number in (1, 2):
            try:
                os.kill(os.getpid(), signal.SIGINT)
                time.sleep(0.01)
            except KeyboardInterrupt:
                seen.append(number)
        raise KeyboardInterrupt

    end, _ = play([ACT.format(1)], stubborn)
    assert (end.state, seen) == (State.CANCELLED, [1, 2])


def test_ctrl_c_gives_up_a_model_that_hangs():
    """nobody waits for the model when the person at the keyboard does not want to"""
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    end, _ = play([hang])
    assert (end.state, end.spent.wall_s < 20) == (State.CANCELLED, True)


# a model that hands on what it writes, piece by piece

STEP = "Thought: one and one.\nAction: Roll\nAction Input: 1 + 1 + 1 + 1 + 1 + 1 + 1"


def test_ctrl_c_waits_for_the_piece_that_is_being_written():
    """the first Ctrl-C while a model writes keeps what was written, as a cancel does"""

    def ctrl_c(piece):
        signal.raise_signal(signal.SIGINT)

    end, trace = play(["Final Answer: twelve and a half"], on_text=ctrl_c)
    assert end.state == "CANCELLED"
    assert trace.of("model_turn")[0]["text"] == "Fina"


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
@pytest.mark.parametrize("pieces", [1, 9, len(STEP) // 4])
def test_a_cancel_stops_a_model_that_is_writing(pieces, adapter):
    """no more is written, what there is is counted, and half a step is never taken"""
    heard, emit = [], TraceWriter()

    def on_text(piece):
        heard.append(piece)
        if len(heard) == pieces:
            stopped.cancel()

    stopped = machine([STEP], adapter=adapter, hook=emit, on_text=on_text)
    assert (stopped.run("?").state, len(heard)) == ("CANCELLED", pieces)
    (turn,) = emit.trace().of("model_turn")
    assert turn["text"] == "".join(heard)
    assert (turn["turn"]["kind"], turn["turn"]["cut"]) == ("malformed", True)
    assert turn["usage"]["output"] == pieces
    assert emit.trace().of("tool_call") == []


class Model:
    """A model that writes as a function of `on_text` says."""

    name = "own"
    streams = True

    def __init__(self, write):
        self.write = write

    def complete(self, prompt, *, stop=(), on_text=None):
        return self.write(on_text)


def test_a_model_that_writes_all_at_once_is_asked_as_ever():
    """a model that does not take on_text is not handed it"""
    plain = Model(lambda on_text: Completion(f"Final Answer: {on_text}"))
    plain.streams = False
    assert play(plain, on_text=print)[0].answer == "None"


def test_what_a_stopped_model_did_not_count_is_estimated():
    """a model that is stopped before it said its usage gets an estimate, marked so"""

    def write(on_text):
        assert on_text("Thought: half a")
        return Completion("Thought: half a", finish_reason="cancelled")

    emit, model = TraceWriter(), Model(write)
    stopped = machine(model, hook=emit, on_text=lambda piece: stopped.cancel())
    stopped.run("?")
    usage = emit.trace().of("model_turn")[0]["usage"]
    assert usage["estimated"]
    assert usage["input"] > usage["output"] > 0


def test_a_model_that_nobody_waits_for_is_stopped():
    """a model that is still writing when its time is over is told to stop"""
    heard, told, over, done = [], [], threading.Event(), threading.Event()

    def write(on_text):
        told.append(on_text("a"))
        assert over.wait(10)
        told.append(on_text("b"))
        done.set()

    end, _ = play(Model(write), limits=Limits(wall_s=0.05), on_text=heard.append)
    assert end.reason == "out_of_time"
    over.set()
    assert done.wait(10)
    assert (told, heard) == ([False, True], ["a"])
