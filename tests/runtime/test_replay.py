"""A recorded run is played again, with no model and no tool."""

import copy

import pytest

from tests.doubles import Like
from workbook.runtime.budget import Limits
from workbook.runtime.journal import Divergence
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model, ToolRequest
from workbook.runtime.replay import alike
from workbook.runtime.script import Script
from workbook.runtime.table import CORE, Event, State, Transition
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace, TraceError

SUM = "Thought: take it off\nAction: Sum\nAction Input: {}"
TEXT = [SUM.format("100-20"), "Hm.", SUM.format("boom"), "Final Answer: 80"]
CALLS = [
    [ToolRequest("Sum", {"text": "100-20"}), ToolRequest("Nope", {})],
    [ToolRequest("Sum", {"text": "boom"}, "id_7")],
    "80",
]


def test_what_makes_two_events_alike():
    """their numbers and kinds count where both have them, their times never"""
    event = {"seq": 1, "step": 2, "at_s": 0.5, "kind": "model_turn", "text": "80"}
    assert alike(event, event | {"at_s": 7.0, "trace_id": "t"})
    assert alike(event, {"text": "80"})
    for other in ({"seq": 2}, {"step": 3}, {"kind": "decision"}, {"text": "90"}):
        assert not alike(event, event | other), other


class Watching(Machine):
    """A machine with a repr that says what it is."""

    def __repr__(self):
        return f"<{self.words}>"


class Watched(Model):
    """A model and a tool that count how often they were called."""

    at_once = True

    def __init__(self, turns, words="a machine like the first", **options):
        self.script, self.asked, self.summed = Script(turns), 0, 0
        schema = {"properties": {"text": {"type": "string"}}, "required": ["text"]}
        tool = Tool("Sum", "Works out a sum.", schema, self._sum)
        self.machine = Watching(self, [tool], **options)
        self.machine.words = words

    def respond(self, request):
        self.asked += 1
        return self.script.respond(request)

    def _sum(self, text):
        self.summed += 1
        if text == "boom":
            raise ValueError("no sum")
        return {"result": "80"}


def ends_like(end):
    """Return what is equal to a RunResult that says the same as this one."""
    fields = {n: getattr(end, n) for n in ("state", "reason", "answer", "message")}
    shown = ", ".join(f"{name}={value!r}" for name, value in fields.items())
    words = f"a RunResult with {shown}"
    return Like(words, lambda o: {n: getattr(o, n, Like) for n in fields} == fields)


def recorded(turns, **options):
    """Return the trace of a run, its end, and a machine like the first."""
    end = Watched(turns, **options).machine.run("What is left?")
    return end.trace, end, Watched(turns, **options)


@pytest.mark.parametrize(
    ("turns", "options"),
    [(TEXT, {}), (CALLS, {"chat": True}), (TEXT, {"limits": Limits(steps=2)})],
    ids=["text turns", "function calls", "a limit"],
)
def test_it_comes_to_the_same_end(replay, turns, options):
    """return a RunResult like the first run's, also after a failed call or a limit"""
    trace, end, again = recorded(turns, **options)
    assert replay(trace, again.machine) == ends_like(end)


def test_nobody_is_asked(replay):
    """call neither the model nor a tool"""
    trace, _, again = recorded(TEXT)
    replay(trace, again.machine)
    asked, summed = again.asked, again.summed
    why = f"the model was called {asked} times, and the tool {summed} times"
    assert (asked, summed) == (0, 0), why


IN_TELL = "if `tell` raises, the run ends in ERROR at once: compare after the run"


def divergence(replay, trace, machine):
    """Return what replaying raises, which has to be a Divergence."""
    with pytest.raises(Divergence) as caught:
        replay(trace, machine)
    return caught.value


def test_another_machine_diverges(replay):
    """if the machine does something else, raise Divergence with the first such `seq`"""
    trace, _, _ = recorded(TEXT)
    rude = CORE.with_rules(
        Transition(State.THINK, Event.UNREADABLE_TURN, State.ERROR, "one is enough")
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
    assert found, f"seq is {raised.seq} and found is {found} ({IN_TELL})"
    assert expected == trace.events[raised.seq], f"expected is {expected}"
    assert found.get("kind") == expected["kind"], f"found is {found}"
    assert not alike(expected, found), f"the two are alike: found is {found}"


@pytest.mark.parametrize("length", [2, 5, -1])
def test_a_record_that_breaks_off(replay, length):
    """if the record breaks off before the end, raise a Divergence, or any TraceError"""
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
        assert replay(trace, again.machine) == ends_like(end)
    assert trace.events == before, "the events of the trace have changed"
