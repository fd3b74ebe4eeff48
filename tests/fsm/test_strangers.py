"""What a stranger brings: no ids, a hang, Ctrl-C, a full disk, odd values."""

import json
import os
import signal
import subprocess
import sys
import threading
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm import CORE, Event, FunctionCalls, Limits, Machine, State, TextTurns
from workbook.models.base import Completion, ToolRequest
from workbook.models.script import Script
from workbook.tools import Effect, Tool, ToolRegistry
from workbook.traces import TraceWriter

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


# time


class Hung:
    """A model that takes its time."""

    name = "hung"

    def complete(self, prompt, *, stop=()):
        threading.Event().wait(30)
        return Completion("Final Answer: too late")

    def chat(self, messages, *, tools=(), stop=()):
        return self.complete("")


@pytest.mark.parametrize("adapter", [TextTurns, FunctionCalls])
def test_a_model_that_hangs_is_given_up_in_time(adapter):
    """a model call gets what is left of the wall time, and not more"""
    writer, limits = TraceWriter(), Limits(wall_s=0.2)
    end = Machine(Hung(), roll(), limits=limits, adapter=adapter, hook=writer).run("?")
    assert end.spent.wall_s < 20
    assert (end.state, end.reason) == (State.EXHAUSTED, Event.OUT_OF_TIME)
    assert_whole(writer.trace(), end)


@pytest.mark.parametrize(
    ("own_s", "left_s", "state"), [(25, 0.2, State.EXHAUSTED), (0.2, 60, State.DONE)]
)
def test_a_tool_that_hangs_gets_its_own_time_or_what_is_left(own_s, left_s, state):
    """the shorter one holds; the model is told, and the run goes on if it has time"""
    writer, limits = TraceWriter(), Limits(wall_s=left_s)
    tools = roll(lambda n: threading.Event().wait(30), timeout_s=own_s)
    script = Script([ACT.format(1), "Final Answer: 7"])
    end = Machine(script, tools, limits=limits, hook=writer).run("?")
    assert (end.state, end.spent.wall_s < 20) == (state, True)
    (seen,) = writer.trace().of("observation")
    assert seen["error"]["kind"] == "timeout"
    assert_whole(writer.trace(), end)


PROGRAM = """
import threading
from workbook.fsm import Machine
from workbook.models.script import Script
from workbook.tools.tool import Tool
from workbook.tools.registry import ToolRegistry

stuck = Tool("Slow", "Waits.", {}, threading.Event().wait, timeout_s=0.05)
turns = ["Action: Slow\\nAction Input: {}", "Final Answer: gave up"]
print(Machine(Script(turns), ToolRegistry([stuck])).run("q").answer)
"""


def test_the_process_ends_while_a_tool_is_still_stuck():
    """a tool that never returns does not keep the process alive after the run"""
    command = [sys.executable, "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, "gave up\n", "")


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
    writer = TraceWriter()
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    end = Machine(Hung(), roll(), hook=writer).run("?")
    assert (end.state, end.spent.wall_s < 20) == (State.CANCELLED, True)
    assert_whole(writer.trace(), end)


# values at the edge of JSON

ODD = [None, True, 0, -0.0, 0.5, 1e308, 10**400, -(10**400), 2**64]
edges = st.recursive(
    st.sampled_from([*ODD, "", "\ud800", "\x00"]),
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


@pytest.mark.parametrize("depth", [50, 960, 5000])
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
