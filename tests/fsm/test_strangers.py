"""What a stranger brings: no ids, a hang, Ctrl-C, a full disk, odd values."""

import itertools
import json
import os
import signal
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm import CORE, Event, FunctionCalls, Limits, Machine, State, TextTurns
from workbook.models.base import Completion, ToolRequest
from workbook.models.script import Script
from workbook.record import TraceWriter
from workbook.tools import Effect, Tool, ToolRegistry

NUMBER = {
    "type": "object",
    "properties": {"n": {"type": "number", "multipleOf": 0.5}},
    "required": ["n"],
}
ACT = "Action: Roll\nAction Input: {}"


def roll(run=lambda n: {"result": n}, **fields):
    """Return a registry with one tool."""
    return ToolRegistry(
        [Tool("Roll", "Rolls a die.", NUMBER, run, Effect.WRITE, **fields)]
    )


def assert_whole(trace, end):
    """One end, no hole, one observation a call: what holds for every run."""
    assert [event["seq"] for event in trace] == list(range(len(trace)))
    assert [e["seq"] for e in trace.of("run_finished")] == [len(trace) - 1]
    assert trace.end["state"] == end.state
    assert end.state in CORE.ends
    assert (end.answer is not None) == (end.state == State.DONE)
    called = [event["call_id"] for event in trace.of("tool_call")]
    seen = [e["call_id"] for e in trace.of("observation") if e["call_id"] is not None]
    assert seen == called
    assert len(set(called)) == len(called)


# ids

ids = st.sampled_from(["", None, "call_1", "call_2", "a", 7])
turns_with_ids = st.lists(
    st.lists(
        st.builds(ToolRequest, st.just("Roll"), st.just({"n": 1}), ids),
        min_size=1,
        max_size=3,
    ),
    max_size=4,
)


@settings(max_examples=150, deadline=None)
@given(turns_with_ids)
def test_any_ids_or_none(turns):
    """without ids each call is made; a genuine id that comes again is not made again"""
    ran = []
    writer = TraceWriter()
    tools = roll(lambda n: ran.append(n) or {"result": n}, timeout_s=None)
    machine = Machine(
        Script([*turns, "7"]), tools, adapter=FunctionCalls, hook=writer,
        limits=Limits(steps=9, tool_calls=99),
    )  # fmt: skip
    end = machine.run("?")
    assert_whole(writer.trace(), end)
    asked = [request.call_id for turn in turns for request in turn]
    genuine = {str(each) for each in asked if each not in ("", None)}
    nameless = sum(each in ("", None) for each in asked)
    assert len(ran) == len(genuine) + nameless
    assert end.state == State.DONE


# time


class Hung:
    """A model, or a tool, that takes its time."""

    name = "hung"

    def __init__(self, seconds):
        self.seconds = seconds

    def complete(self, prompt, *, stop=()):
        time.sleep(self.seconds)
        return Completion("Final Answer: too late")

    def chat(self, messages, *, tools=(), stop=()):
        return self.complete("")


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
def test_a_model_that_hangs_is_given_up_in_time(adapter):
    """a model call gets what is left of the wall time, and not more"""
    writer, started = TraceWriter(), time.monotonic()
    machine = Machine(
        Hung(5), roll(), limits=Limits(wall_s=0.2), adapter=adapter, hook=writer
    )
    end = machine.run("?")
    assert time.monotonic() - started < 2
    assert (end.state, end.reason) == (State.EXHAUSTED, Event.OUT_OF_TIME)
    assert_whole(writer.trace(), end)


def test_a_tool_that_hangs_gets_no_more_than_the_run_has_left():
    """a tool's own limit is longer than the time that is left: the shorter one holds"""
    writer, started = TraceWriter(), time.monotonic()
    tools = roll(lambda n: time.sleep(5) or {"result": n}, timeout_s=4)
    machine = Machine(
        Script([ACT.format(1), "Final Answer: 7"]),
        tools,
        limits=Limits(wall_s=0.3),
        hook=writer,
    )
    end = machine.run("?")
    assert time.monotonic() - started < 2
    assert end.state == State.EXHAUSTED
    assert_whole(writer.trace(), end)


# Ctrl-C


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
    turns = [*map(ACT.format, range(1, 150)), "Final Answer: 7"]
    limits = Limits(steps=200, tool_calls=200)
    for number in range(120):
        writer = TraceWriter()
        machine = Machine(
            Script(turns), roll(timeout_s=None), limits=limits, hook=writer
        )
        delay_s = number % 60 * 2e-4
        timer = threading.Timer(delay_s, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        end = machine.run("?")
        assert_whole(writer.trace(), end)
        ends.append(end.state)
        timer.join()
        assert signal.getsignal(signal.SIGINT) is handler
    assert set(ends) <= {State.CANCELLED, State.DONE}
    came_too_late = ends.count(State.DONE) - len(outside)  # behind the last handler
    assert 0 <= came_too_late < 30
    assert ends.count(State.CANCELLED) > 20


def test_a_second_ctrl_c_is_pythons_own():
    """who presses twice gets out, whatever the run is doing"""
    seen = []

    def run(n):
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
        return {"result": n}

    def stubborn(n):
        try:
            return run(n)
        except KeyboardInterrupt:
            seen.append("first")
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.01)
            return {"result": n}

    machine = Machine(Script([ACT.format(1)]), roll(stubborn, timeout_s=None))
    end = machine.run("?")  # the second one is raised in the tool as well
    assert (end.state, seen) == (State.CANCELLED, ["first"])


def test_ctrl_c_gives_up_a_model_that_hangs():
    """nobody waits for the model when the person at the keyboard does not want to"""
    writer, started = TraceWriter(), time.monotonic()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    end = Machine(Hung(5), roll(), hook=writer).run("?")
    assert time.monotonic() - started < 2
    assert end.state == State.CANCELLED
    assert_whole(writer.trace(), end)


# a sink that fails


@pytest.mark.parametrize("fails_at", range(18))
def test_a_sink_that_fails_once_and_recovers(fails_at):
    """the run ends in ERROR, and the sink is told of the end"""
    kept, numbers = [], itertools.count()

    def hook(kind, **fields):
        if next(numbers) == fails_at:
            raise OSError(28, "No space left on device")
        kept.append({"kind": kind, **fields})

    turns = [ACT.format(1), ACT.format(2), "Final Answer: 7"]
    end = Machine(Script(turns), roll(timeout_s=None), hook=hook).run("?")
    assert end.state == (State.ERROR if fails_at < 17 else State.DONE)
    assert "No space left" in end.message
    assert kept[-1]["kind"] == "run_finished"


# values at the edge of JSON

edges = st.recursive(
    st.sampled_from(
        [
            None,
            True,
            0,
            -0.0,
            0.5,
            1e308,
            10**400,
            -(10**400),
            2**64,
            "",
            "\ud800",
            "\x00",
        ]
    ),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("na"), inner)
    ),
    max_leaves=4,
)


def nested(depth):
    """Return a list in a list in a list."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def assert_it_goes_on(turn, adapter, last):
    """The run goes on after this turn, to its answer."""
    writer = TraceWriter()
    tools = roll(lambda n: {"result": 1}, timeout_s=None)
    end = Machine(Script([turn, last]), tools, adapter=adapter, hook=writer).run("?")
    assert (end.state, end.answer) == (State.DONE, "7")
    assert_whole(writer.trace(), end)


@pytest.mark.parametrize("depth", [50, 250, 500, 960, 5000])
def test_arguments_nested_as_deeply_as_one_likes(depth):
    """whatever its depth, an argument is refused in words, and the run goes on"""
    request = ToolRequest("Roll", {"n": nested(depth)}, "a")
    assert_it_goes_on([request], FunctionCalls, "7")
    text = '{"n": ' + "[" * depth + "]" * depth + "}"
    assert_it_goes_on(ACT.format(text), TextTurns, "Final Answer: 7")


@settings(max_examples=150, deadline=None)
@given(edges, st.booleans())
def test_whatever_value_a_model_sends_is_an_observation(value, as_text):
    """no argument ends a run in ERROR: it is used, repaired, or refused"""
    if as_text:
        text = json.dumps({"n": value})
        assert_it_goes_on(ACT.format(text), TextTurns, "Final Answer: 7")
    else:
        request = ToolRequest("Roll", {"n": value}, "a")
        assert_it_goes_on([request], FunctionCalls, "7")
