"""A turn that is handed on piece by piece, and one that is stopped in the middle."""

import signal
import threading

import pytest

from workbook.fsm.adapters import FunctionCalls, TextTurns
from workbook.fsm.limits import Limits
from workbook.fsm.machine import Machine
from workbook.models.base import Completion
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.traces.replay import replay
from workbook.traces.writer import TraceWriter

STEP = "Thought: one and one.\nAction: Calculator\nAction Input: 1 + 1 + 1 + 1 + 1"
ADAPTERS = [TextTurns, FunctionCalls]


def machine(model, **options):
    return Machine(model, ToolRegistry([calculator()]), **options)


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_a_turn_is_handed_on_piece_by_piece(adapter):
    """The pieces that are handed on, put together, are the turns of the trace"""
    pieces, emit = [], TraceWriter()
    model = Script(["Final Answer: twelve and a half"])
    machine(model, adapter=adapter, hook=emit, on_text=pieces.append).run("?")
    assert len(pieces) > 1
    assert "".join(pieces) == "".join(e["text"] for e in emit.trace().of("model_turn"))


def test_ctrl_c_waits_for_the_piece_that_is_being_written():
    """The first Ctrl-C while a model writes keeps what was written, as a cancel does"""
    emit = TraceWriter()
    model = Script(["Final Answer: twelve and a half"])
    stop = signal.raise_signal
    words = machine(model, hook=emit, on_text=lambda piece: stop(signal.SIGINT))
    assert words.run("?").state == "CANCELLED"
    assert emit.trace().of("model_turn")[0]["text"] == "Fina"


@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("pieces", [1, 3, 9, len(STEP) // 4])
def test_a_cancel_stops_a_model_that_is_writing(pieces, adapter):
    """No more is written, what there is is counted, and half a step is never taken"""
    heard, emit = [], TraceWriter()

    def on_text(piece):
        heard.append(piece)
        if len(heard) == pieces:
            stopped.cancel()

    stopped = machine(Script([STEP]), adapter=adapter, hook=emit, on_text=on_text)
    assert (stopped.run("?").state, len(heard)) == ("CANCELLED", pieces)
    (turn,) = emit.trace().of("model_turn")
    assert turn["text"] == "".join(heard)
    assert (turn["turn"]["kind"], turn["turn"]["cut"]) == ("malformed", True)
    assert turn["usage"]["output"] == pieces
    assert emit.trace().of("tool_call") == []


def test_a_model_that_writes_all_at_once_is_asked_as_ever():
    """A model that does not take on_text is not handed it"""

    class Plain:
        name = "plain"

        def complete(self, prompt, *, stop=()):
            return Completion("Final Answer: 1")

    assert machine(Plain(), on_text=print).run("?").answer == "1"


def test_what_a_stopped_model_did_not_count_is_estimated():
    """A model that is stopped before it said its usage gets an estimate, marked so"""

    class Uncounted:
        name = "uncounted"
        streams = True

        def complete(self, prompt, *, stop=(), on_text=None):
            assert on_text("Thought: half a")
            return Completion("Thought: half a", finish_reason="cancelled")

    emit = TraceWriter()
    stopped = machine(Uncounted(), hook=emit, on_text=lambda piece: stopped.cancel())
    stopped.run("?")
    usage = emit.trace().of("model_turn")[0]["usage"]
    assert usage["estimated"]
    assert usage["input"] > usage["output"] > 0
    assert replay(emit.trace(), machine(Script([]))).state == "CANCELLED"


def test_a_model_that_nobody_waits_for_is_stopped():
    """A model that is still writing when its time is over is told to stop"""
    heard, told, over, done = [], [], threading.Event(), threading.Event()

    class Slow:
        name = "slow"
        streams = True

        def complete(self, prompt, *, stop=(), on_text=None):
            told.append(on_text("a"))
            assert over.wait(10)
            told.append(on_text("b"))
            done.set()

    late = machine(Slow(), limits=Limits(wall_s=0.05), on_text=heard.append)
    assert late.run("?").reason == "out_of_time"
    over.set()
    assert done.wait(10)
    assert (told, heard) == ([False, True], ["a"])
