"""A recorded run is played again, with no model and no tool."""

import copy

import pytest

from workbook.fsm import CORE, Event, FunctionCalls, Limits, Machine, State, Transition
from workbook.models.base import ToolRequest
from workbook.models.script import Script
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool
from workbook.traces.divergence import Divergence
from workbook.traces.events import TraceError
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

SUM = "Thought: take it off\nAction: Sum\nAction Input: {}"
TEXT = [SUM.format("100-20"), "Hm.", SUM.format("boom"), "Final Answer: 80"]
CALLS = [
    [ToolRequest("Sum", {"text": "100-20"}), ToolRequest("Nope", {})],
    [ToolRequest("Sum", {"text": "boom"}, "id_7")],
    "80",
]


class Watching(Machine):
    """A machine with a repr that says what it is."""

    def __repr__(self):
        return f"<{self.words}>"


class Watched:
    """A model and a tool that count how often they were called."""

    def __init__(self, turns, words="a machine like the first", **options):
        self.name, self.script, self.asked, self.summed = "watched", Script(turns), 0, 0
        schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
        tool = Tool("Sum", "Works out a sum.", schema, self._sum)
        self.machine = Watching(self, ToolRegistry([tool]), **options)
        self.machine.words = words

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


class EndsLike:
    """Equal to a RunResult with the state, reason, answer and message of this one."""

    def __init__(self, end):
        self.fields = {name: getattr(end, name) for name in FIELDS}

    def __eq__(self, other):
        return all(getattr(other, n, self) == v for n, v in self.fields.items())

    __hash__ = None

    def __repr__(self):
        told = ", ".join(f"{name}={value!r}" for name, value in self.fields.items())
        return f"a RunResult with {told}"


FIELDS = ("state", "reason", "answer", "message")


def recorded(turns, **options):
    """Return the trace of a run, its exit, and a machine like the first."""
    first, again = Watched(turns, **options), Watched(turns, **options)
    first.machine.hook = TraceWriter()
    end = first.machine.run("What is left?")
    return first.machine.hook.trace(), end, again


@pytest.mark.parametrize(
    ("turns", "options"),
    [
        (TEXT, {}),
        (CALLS, {"adapter": FunctionCalls}),
        (TEXT, {"limits": Limits(steps=2)}),
    ],
    ids=["text turns", "function calls", "a limit"],
)
def test_it_comes_to_the_same_end(replay, turns, options):
    """return a RunResult like the first run's, also after errors, calls and limits"""
    trace, end, again = recorded(turns, **options)
    assert replay(trace, again.machine) == EndsLike(end)


@pytest.mark.parametrize("turns", [TEXT, CALLS], ids=["text", "calls"])
def test_nobody_is_asked(replay, turns):
    """call neither the model nor a tool"""
    adapter = FunctionCalls if turns is CALLS else None
    trace, _, again = recorded(turns, adapter=adapter)
    replay(trace, again.machine)
    asked, summed = again.asked, again.summed
    why = f"the model was called {asked} times, and the tool {summed} times"
    assert (asked, summed) == (0, 0), why


IN_TELL = "if `tell` raises, the machine catches it and goes on: compare after the run"


def divergence(replay, trace, machine):
    """Return what replaying raises, which has to be a Divergence."""
    with pytest.raises(Divergence) as caught:
        replay(trace, machine)
    return caught.value


def test_another_machine_diverges(replay):
    """if the machine does something else, raise Divergence with the first such `seq`"""
    trace, _, _ = recorded(TEXT)
    rude = CORE.with_rules(
        Transition(State.THINK, Event.UNREADABLE_TURN, State.ERROR, "it was told once")
    )
    words = "a machine that ends at an unreadable turn"
    seq = divergence(replay, trace, Watched(TEXT, words, table=rude).machine).seq
    (first,) = [e["seq"] for e in trace if e.get("event") == "unreadable_turn"]
    why = f"seq is {seq}; event {first} is the first that differs"
    assert seq == first, f"{why} ({IN_TELL})" if seq > first else why


def test_a_divergence_holds_both(replay):
    """a Divergence has the recorded event as `expected`, the machine's as `found`"""
    trace, _, _ = recorded(TEXT)
    brief = Watched(TEXT, "a machine with another preamble", preamble="Be brief.\n")
    raised = divergence(replay, trace, brief.machine)
    expected, found = raised.expected, raised.found
    swallowed = f"seq is {raised.seq} and found is {found} ({IN_TELL})"
    assert raised.seq == 1, swallowed
    assert found, swallowed
    assert expected == trace.events[1], f"expected is {expected}"
    assert found.get("kind") == "model_request", f"found is {found}"
    assert "Be brief." in str(found), f"found is {found}"


@pytest.mark.parametrize("length", [2, 5, -1])
def test_a_record_that_breaks_off(replay, length):
    """if the record breaks off before the end, raise TraceError or a Divergence"""
    trace, _, again = recorded(TEXT)
    with pytest.raises(TraceError):
        replay(Trace(trace.events[:length]), again.machine)


def test_a_record_that_is_too_long(replay):
    """an event in the record after the machine's end is a Divergence too"""
    trace, _, again = recorded(TEXT)
    last = trace.events[-1]
    longer = Trace((*trace.events, {**last, "seq": last["seq"] + 1}))
    seq = divergence(replay, longer, again.machine).seq
    assert seq == len(trace), f"seq is {seq}; event {len(trace)} is the one too many"


def test_the_record_stays_as_it_is(replay):
    """change neither the trace nor the machine: it can be replayed twice"""
    trace, end, again = recorded(TEXT)
    before = copy.deepcopy(trace.events)
    for _ in range(2):
        assert replay(trace, again.machine) == EndsLike(end)
    assert trace.events == before, "the events of the trace have changed"
