"""A recorded run is played again, with no model and no tool."""

import copy

import pytest

from workbook.fsm import CORE, Event, FunctionCalls, Limits, Machine, Rule, State
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.record.divergence import Divergence
from workbook.record.events import TraceError
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

SUM = "Thought: take it off\nAction: Sum\nAction Input: {}"
TEXT = [SUM.format("100-20"), "Hm.", SUM.format("boom"), "Final Answer: 80"]
CALLS = [
    [ToolRequest("Sum", {"text": "100-20"}), ToolRequest("Nope", {})],
    [ToolRequest("Sum", {"text": "boom"}, "id_7")],
    "80",
]


class Watched:
    """A model and a tool that count how often they were called."""

    def __init__(self, turns, **options):
        self.name, self.script, self.asked, self.summed = "watched", Script(turns), 0, 0
        schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
        tool = Tool("Sum", "Works out a sum.", schema, self._sum)
        self.machine = Machine(self, ToolRegistry([tool]), **options)

    def complete(self, prompt, *, stop=()):
        self.asked += 1
        return self.script.complete(prompt, stop=stop)

    def chat(self, messages, *, tools=()):
        self.asked += 1
        return self.script.chat(messages, tools=tools)

    def _sum(self, text):
        self.summed += 1
        if text == "boom":
            raise ValueError("no sum")
        return {"result": "80"}


def recorded(turns, **options):
    """Return the trace of a run, its exit, and a machine like the first."""
    first, again = Watched(turns, **options), Watched(turns, **options)
    first.machine.hook = TraceWriter()
    end = first.machine.run("What is left?")
    return first.machine.hook.trace(), end, again


def same(one, other):
    """Return whether two runs came to the same end."""
    fields = ("state", "reason", "answer", "message")
    return [getattr(one, name) for name in fields] == [
        getattr(other, name) for name in fields
    ]


def test_text_turns_come_to_the_same_end(replay):
    """a run of text turns comes to the same Exit: results, errors, unreadable turns"""
    trace, end, again = recorded(TEXT)
    assert same(replay(trace, again.machine), end)


def test_function_calls_come_to_the_same_end(replay):
    """so does a run of function calls, with two in a turn and with an unknown tool"""
    trace, end, again = recorded(CALLS, adapter=FunctionCalls)
    assert same(replay(trace, again.machine), end)


@pytest.mark.parametrize("turns", [TEXT, CALLS], ids=["text", "calls"])
def test_nobody_is_asked(replay, turns):
    """neither the model nor a tool is called"""
    adapter = FunctionCalls if turns is CALLS else None
    trace, _, again = recorded(turns, adapter=adapter)
    replay(trace, again.machine)
    assert (again.asked, again.summed) == (0, 0)


def test_a_limit_ends_it_again(replay):
    """a run that its limits ended comes to that end"""
    trace, end, again = recorded(TEXT, limits=Limits(steps=2))
    assert end.state == "EXHAUSTED"
    assert same(replay(trace, again.machine), end)


def test_another_machine_diverges(replay):
    """a machine that does something else raises Divergence, `seq` its first event

    perhaps: what you raise inside `tell` only ends the machine's run in ERROR"""
    trace, _, _ = recorded(TEXT)
    rude = CORE.with_rules(
        Rule(State.THINK, Event.UNREADABLE_TURN, State.ERROR, "it was told once")
    )
    other = Watched(TEXT, table=rude).machine
    with pytest.raises(Divergence) as caught:
        replay(trace, other)
    expected = trace.events[caught.value.seq]
    assert (expected["kind"], expected["event"]) == ("transition", "unreadable_turn")


def test_a_divergence_holds_both(replay):
    """a Divergence has the record's event as `expected`, the machine's as `found`"""
    trace, _, _ = recorded(TEXT)
    other = Watched(TEXT, preamble="Be brief.\n").machine
    with pytest.raises(Divergence) as caught:
        replay(trace, other)
    found, expected = caught.value.found, caught.value.expected
    assert (found and found["kind"]) == (expected and expected["kind"])
    assert "Be brief." in str(found)
    assert "Be brief." not in str(expected)


def test_a_record_that_breaks_off(replay):
    """a record that breaks off has no end to come to: TraceError, as Divergence is"""
    trace, _, again = recorded(TEXT)
    for length in (2, 5, len(trace) - 1):
        with pytest.raises(TraceError):
            replay(Trace(trace.events[:length]), again.machine)


def test_a_record_that_is_too_long(replay):
    """an event behind the end of the run is a Divergence as well"""
    trace, _, again = recorded(TEXT)
    last = trace.events[-1]
    longer = Trace((*trace.events, {**last, "seq": last["seq"] + 1}))
    with pytest.raises(Divergence) as caught:
        replay(longer, again.machine)
    assert caught.value.seq == len(trace)


def test_the_record_stays_as_it_is(replay):
    """the trace and the machine are not changed: it can be replayed twice"""
    trace, end, again = recorded(TEXT)
    before = copy.deepcopy(trace.events)
    for _ in range(2):
        assert same(replay(trace, again.machine), end)
    assert trace.events == before
