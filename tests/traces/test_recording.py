"""What a recording tells a machine again, as it was said the first time."""

import functools
import json
import math
import threading
from dataclasses import replace as with_fields

import pytest

from tests.traces.test_replay import TEXT, Watched, recorded
from workbook.fsm import FunctionCalls, Limits, TextTurns
from workbook.models.base import Completion, ToolRequest
from workbook.tools.registry import ToolRegistry
from workbook.traces.divergence import Divergence, first_divergence
from workbook.traces.events import to_line
from workbook.traces.replay import replay
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter


def same(one, other):
    """Return whether two runs came to the same end."""
    fields = ("state", "reason", "answer", "message")
    return all(getattr(one, name) == getattr(other, name) for name in fields)


def as_recorded(turns, **options):
    """Play turns, and again from their trace in a line each; return both exits."""
    trace, end, again = recorded(turns, **options)
    lines = [json.loads(to_line(event)) for event in trace]
    return end, replay(Trace(tuple(lines)), again.machine)


@pytest.mark.parametrize(
    "said", ["100-20", '{"text": ', None, [1], {"text": math.nan}, {"text": 2**70}]
)
def test_arguments_are_bound_again_as_they_were_said(said):
    """What a model gave in place of an object is said again, not what became of it."""
    turns = [[ToolRequest("Sum", said, "a")], "80"]
    assert same(*as_recorded(turns, adapter=FunctionCalls))


@pytest.mark.parametrize("ids", [(1, 2), ("a", "a"), ("", "runtime_1"), (None, None)])
def test_ids_are_given_again_as_they_were_said(ids):
    """Numbers, one id twice, ours, and none are replayed as they came."""
    calls = [ToolRequest("Sum", {"text": "1"}, each) for each in ids]
    assert same(*as_recorded([calls, calls, "80"], adapter=FunctionCalls))


def test_a_part_that_breaks_on_a_turn_breaks_again():
    """The turn on which the parser raised is in the trace, and raises once more."""

    def parse(text):
        raise LookupError(f"no: {text[:7]}\nin two lines")

    adapter = functools.partial(TextTurns, parse=parse)
    trace, end, again = recorded(TEXT, adapter=adapter)
    assert same(replay(trace, again.machine), end)
    assert trace.of("model_turn")[0]["text"] == TEXT[0]
    with pytest.raises(Divergence) as caught:  # once it is mended
        replay(trace, Watched([]).machine)
    assert caught.value.expected["kind"] == "model_turn"


def test_what_happened_inside_a_call_is_passed_over():
    """A tool that asked a model tells it again only when it is called again."""
    hook = TraceWriter()

    def ask(text):
        hook("model_request", prompt=text, parent=len(hook.events) - 1)
        hook("model_turn", text="80", turn=None, usage=None, parent=0)
        return {"result": "80"}

    first, again = Watched(TEXT), Watched(TEXT)
    first._sum, first.machine.hook = ask, hook
    first.machine.tools = ToolRegistry(
        [with_fields(tool, run=ask) for tool in first.machine.tools]
    )
    end = first.machine.run("What is left?")
    assert same(replay(hook.trace(), again.machine), end)


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


@pytest.mark.parametrize("other_way", [False, True])
def test_a_field_that_one_alone_has_is_a_difference(other_way):
    """Whether the record or the machine tells more of an event, it is another one."""
    one, more = recorded(TEXT)[0].events, recorded(TEXT)[0].events
    more = (*more[:-1], more[-1] | {"forced": True})
    pair = (more, one) if other_way else (one, more)
    assert first_divergence(*pair) == len(one) - 1


def test_a_replay_leaves_the_machines_own_cancel_alone():
    """What somebody has said to stop is stopped, though a replay came before it."""
    trace, end, again = recorded(TEXT)
    again.machine.cancel()
    assert same(replay(trace, again.machine), end)
    assert again.machine.run("What is left?").state == "CANCELLED"


def test_two_runs_that_took_different_times_are_the_same():
    """Whatever a writer tells of a time: the day, each step's, and what was spent."""
    told = []
    for slow in (1.0, 7.0):
        now = (n * slow for n in range(9))
        hook = TraceWriter(clock=now.__next__, unix_clock=lambda day=slow: 1000 * day)
        hook("run_started", engine="fsm", question="?")
        hook("transition", source="THINK", event="final_answer", elapsed_s=slow)
        hook("run_finished", state="DONE", spent={"steps": 1, "wall_s": slow})
        told.append(hook.events)
    assert first_divergence(*told) is None


def test_what_json_makes_alike_is_alike():
    """A file has lists and names, where a machine tells of tuples and numbers."""
    hook = TraceWriter()
    hook("decision", who="me", what="seen", why="", pages=(1, {2: ("a", None)}))
    read = [json.loads(to_line(event)) for event in hook.events]
    assert read != hook.events
    assert first_divergence(read, hook.events) is None


def test_a_limit_that_was_not_reached_in_time_is_not_reached_again():
    """What was asked in time, and took long to be asked, is no later in a replay."""
    now = [0.0]

    class Slow(TextTurns):
        def request(self):
            now[0] = 11.0
            return super().request()

    options = {"adapter": Slow, "limits": Limits(wall_s=10.0)}
    first, again = [Watched(["Final Answer: 80"], **options) for _ in range(2)]
    first.machine.clock = lambda: now[0]
    first.machine.hook = TraceWriter(clock=first.machine.clock)
    end = first.machine.run("What is left?")
    assert end.state == "DONE"
    assert same(replay(first.machine.hook.trace(), again.machine), end)


def test_a_model_that_hung_hangs_again():
    """A call that got no answer in time is given up in the replay, at once."""
    first, again = [Watched(TEXT, limits=Limits(wall_s=0.05)) for _ in range(2)]
    first.complete = lambda prompt, *, stop=(): threading.Event().wait(9)
    first.machine.hook = TraceWriter()
    end = first.machine.run("What is left?")
    assert (end.state, end.reason) == ("EXHAUSTED", "out_of_time")
    assert same(replay(first.machine.hook.trace(), again.machine), end)


def test_a_call_that_was_interrupted_is_so_again():
    """Ctrl-C while a tool is at work: the replay stops inside that call as well."""
    first, again = Watched(TEXT), Watched([])
    hook = first.machine.hook = TraceWriter()

    def stop(text):
        raise KeyboardInterrupt

    tools = [with_fields(tool, run=stop) for tool in first.machine.tools]
    first.machine.tools = ToolRegistry(tools)
    end = first.machine.run("What is left?")
    assert (end.state, hook.trace().of("transition")[-1]["made"]) == ("CANCELLED", True)
    assert same(replay(hook.trace(), again.machine), end)


def test_a_turn_that_was_cut_is_cut_again():
    """A final answer that was cut at its limit is none in the replay either."""
    cut = Completion("Final Answer: 8", finish_reason="length")
    trace, end, again = recorded([cut, "Final Answer: 80"])
    assert end.spent.steps == 2
    assert same(replay(trace, again.machine), end)
