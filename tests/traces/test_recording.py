"""What a recording tells a machine again, as it was said the first time."""

import functools
import json
import math
import threading
from dataclasses import replace as with_fields

import pytest

from tests.traces.test_replay import TEXT, EndsLike, Watched, recorded
from workbook.fsm import FunctionCalls, Limits, TextTurns
from workbook.models.base import Completion, ToolRequest
from workbook.tools.registry import ToolRegistry
from workbook.traces.divergence import Divergence, first_divergence
from workbook.traces.events import TraceError, to_line
from workbook.traces.replay import replay
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter


def played_again(turns, change=lambda first: None, **options):
    """Play turns on a changed machine, and again from their lines; return the trace."""
    first, again = Watched(turns, **options), Watched(turns, **options)
    first.machine.hook = TraceWriter()
    change(first)
    end = first.machine.run("What is left?")
    trace = first.machine.hook.trace()
    lines = [json.loads(to_line(event)) for event in trace]
    assert replay(Trace(tuple(lines)), again.machine) == EndsLike(end)
    return trace


def with_tool(first, run):
    """Have the machine call something else."""
    tools = [with_fields(tool, run=run) for tool in first.machine.tools]
    first.machine.tools = ToolRegistry(tools)


SAID = ["100-20", '{"text": ', None, {"text": math.nan}, {"text": 2**70}]
IDS = [(1, 2), ("a", "a"), ("", "runtime_1"), (None, None)]


@pytest.mark.parametrize(
    "calls",
    [
        *([ToolRequest("Sum", said, "a")] for said in SAID),
        *([ToolRequest("Sum", {"text": "1"}, each) for each in ids] for ids in IDS),
    ],
)
def test_calls_are_told_again_as_they_were_said(calls):
    """What a model gave in place of an object or an id, not what became of it."""
    played_again([calls, calls, "80"], adapter=FunctionCalls)


def test_a_part_that_breaks_on_a_turn_breaks_again():
    """The turn on which the parser raised is in the trace, and raises once more."""

    def parse(text):
        raise LookupError(f"no: {text[:7]}\nin two lines")

    trace = played_again(TEXT, adapter=functools.partial(TextTurns, parse=parse))
    assert trace.of("model_turn")[0]["text"] == TEXT[0]
    with pytest.raises(Divergence) as caught:  # once it is mended
        replay(trace, Watched([]).machine)
    assert caught.value.expected["kind"] == "model_turn"


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (lambda trace: Trace(()), "does not begin"),
        (lambda trace: Trace(trace.events[1:]), "does not begin"),
        (lambda trace: Trace(trace.events, lost="line 9: torn"), "line 9: torn"),
    ],
    ids=["empty", "no beginning", "torn"],
)
def test_what_is_no_whole_trace_is_not_played(wrong, words):
    """It is told what is missing, before the machine does anything."""
    trace, _, again = recorded(TEXT)
    with pytest.raises(TraceError, match=words) as caught:
        replay(wrong(trace), again.machine)
    assert not isinstance(caught.value, Divergence)


def test_a_record_that_ends_in_a_call_is_told():
    """Nothing is live in a replay: nobody is asked whether the call may be repeated."""
    trace, _, again = recorded(TEXT)
    call = trace.of("tool_call")[0]["seq"]
    with pytest.raises(TraceError, match="no end to come to"):
        replay(Trace(trace.events[: call + 1]), again.machine)


def test_what_happened_inside_a_call_is_passed_over():
    """A tool that asked a model tells it again only when it is called again."""

    def change(first):
        hook = first.machine.hook

        def ask(text):
            hook("model_request", prompt=text, parent=len(hook.events) - 1)
            hook("model_turn", text="80", turn=None, usage=None, parent=0)
            return {"result": "80"}

        with_tool(first, ask)

    played_again(TEXT, change)


def test_a_step_that_differs_is_told():
    """A Divergence says what differs in both, and is short, however long they are."""
    trace, _, again = recorded(TEXT)
    events = [{**event, "step": 7} for event in trace]
    with pytest.raises(Divergence, match=r"'step': 7.*'step': 0"):
        replay(Trace(tuple(events)), again.machine)
    trace, _, _ = recorded(TEXT, preamble="x" * 100_000)
    with pytest.raises(Divergence) as caught:
        replay(trace, Watched([], preamble="y" * 100_000).machine)
    assert len(str(caught.value)) < 1_000


def test_a_replay_leaves_the_machines_own_cancel_alone():
    """What somebody has said to stop is stopped, though a replay came before it."""
    trace, end, again = recorded(TEXT)
    again.machine.cancel()
    assert replay(trace, again.machine) == EndsLike(end)
    assert again.machine.run("What is left?").state == "CANCELLED"


def test_two_runs_that_took_different_times_are_the_same():
    """Whatever a writer tells of a time; and what JSON makes alike is alike."""
    told = []
    for slow in (1.0, 7.0):
        now = (n * slow for n in range(9))
        hook = TraceWriter(clock=now.__next__, unix_clock=lambda day=slow: 1000 * day)
        hook("run_started", engine="fsm", question="?")
        hook("transition", source="THINK", event="final_answer", elapsed_s=slow)
        hook("decision", who="me", what="seen", why="", pages=(1, {2: ("a", None)}))
        hook("run_finished", state="DONE", spent={"steps": 1, "wall_s": slow})
        told.append(hook.events)
    assert first_divergence(*told) is None
    read = [json.loads(to_line(event)) for event in told[0]]
    assert read[2] != told[0][2]
    assert first_divergence(read, told[0]) is None


def test_a_limit_that_was_not_reached_in_time_is_not_reached_again():
    """What was asked in time, and took long to be asked, is no later in a replay."""
    now = [0.0]

    class Slow(TextTurns):
        def request(self):
            now[0] = 11.0
            return super().request()

    def change(first):
        first.machine.clock = lambda: now[0]
        first.machine.hook = TraceWriter(clock=first.machine.clock)

    options = {"adapter": Slow, "limits": Limits(wall_s=10.0)}
    trace = played_again(["Final Answer: 80"], change, **options)
    assert trace.end["state"] == "DONE"


def test_a_limit_that_was_reached_between_two_events_is_reached_again():
    """The record has no event at that time, but it says what the clock decided."""
    now = [0.0]

    def late(event):
        if event.get("target") == "THINK":
            now[0] = 11.0

    def change(first):
        first.machine.clock = lambda: now[0]
        first.machine.hook = TraceWriter(clock=lambda: now[0], listener=late)

    trace = played_again(TEXT, change, limits=Limits(wall_s=10.0))
    assert (trace.end["state"], trace.end["reason"]) == ("EXHAUSTED", "out_of_time")


def test_a_model_that_hung_hangs_again():
    """A call that got no answer in time is given up in the replay, at once."""

    def change(first):
        first.complete = lambda prompt, *, stop=(): threading.Event().wait(9)

    trace = played_again(TEXT, change, limits=Limits(wall_s=0.05))
    assert (trace.end["state"], trace.end["reason"]) == ("EXHAUSTED", "out_of_time")


def test_a_call_that_was_interrupted_is_so_again():
    """Ctrl-C while a tool is at work: the replay stops inside that call as well."""

    def stop(text):
        raise KeyboardInterrupt

    trace = played_again(TEXT, lambda first: with_tool(first, stop))
    assert trace.end["state"] == "CANCELLED"
    assert trace.of("transition")[-1]["made"] is True


def test_a_turn_that_was_cut_is_cut_again():
    """A final answer that was cut at its limit is none in the replay either."""
    cut = Completion("Final Answer: 8", finish_reason="length")
    assert played_again([cut, "Final Answer: 80"]).end["spent"]["steps"] == 2
