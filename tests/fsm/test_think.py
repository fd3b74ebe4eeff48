"""The handler of THINK: a limit, the model, its turn, and the event that it is."""

import pytest

from workbook.fsm.limits import Limits
from workbook.fsm.machine import Machine
from workbook.fsm.table import Event, State
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.tools.threads import TimedOut
from workbook.traces.writer import TraceWriter

ACT = "Thought: I calculate.\nAction: Calculator\nAction Input: 2*3"
FINAL = "Thought: I know.\nFinal Answer: 6"


class Played:
    """What came of a script: the events that `think` gave, how the run ended."""

    def __init__(self, think, *turns, **options):
        self.events, self.model, self.told = [], Script(turns), TraceWriter()

        def noted(run):
            event = think(run)
            self.events.append(event)
            return event

        tools, handlers = ToolRegistry([calculator()]), {State.THINK: noted}
        options = {"handlers": handlers, "hook": self.told} | options
        self.end = Machine(self.model, tools, **options).run("What is 2*3?")

    @property
    def kinds(self):
        """What the trace tells of it, without the transitions."""
        told = [event["kind"] for event in self.told.events]
        return [kind for kind in told if kind != "transition"][1:-1]


@pytest.mark.parametrize(
    ("turn", "event"),
    [
        (ACT, Event.TOOL_REQUESTED),
        (FINAL, Event.FINAL_ANSWER),
        ("Well, let me see.", Event.UNREADABLE_TURN),
    ],
)
def test_it_returns_what_the_model_did(think, turn, event):
    """return the event of the model's turn, whichever it is"""
    events = Played(think, turn, FINAL).events
    assert events[:1] == [event], (
        f"the model said {turn!r}: think should return {event}"
    )


def test_the_model_is_asked_once(think):
    """ask the model once and read its turn once: one step is spent"""
    played = Played(think, FINAL)
    asked, steps = played.model.asked, played.end.spent.steps
    assert (asked, steps) == (1, 1), f"{asked} questions to the model, {steps} steps"
    read = played.kinds.count("model_turn")
    assert read == 1, f"its turn was read {read} times: run.heard(completion) reads it"


def test_the_limit_is_asked_before_the_model(think):
    """if the limits return an event, return it and do not ask the model"""
    played = Played(think, ACT, FINAL, limits=Limits(steps=1))
    expected = [Event.TOOL_REQUESTED, Event.OUT_OF_STEPS]
    why = f"with one step, think should return {expected}; it returned {played.events}"
    assert played.events == expected, why
    assert played.model.asked == 1, f"calls of the model: {played.model.asked}"


def test_the_clock_is_looked_at(think):
    """give the limits `run.elapsed()`: it looks at the clock, `run.spent` does not"""
    now = iter([0.0, *[99.0] * 20])
    played = Played(think, FINAL, limits=Limits(wall_s=10), clock=lambda: next(now))
    why = f"99 of 10 seconds are over: out_of_time, not {played.events}"
    assert played.events == [Event.OUT_OF_TIME], why
    assert played.model.asked == 0, "the model was asked after its time"


def test_a_model_that_does_not_answer_in_time(think):
    """if `run.ask()` raises TimedOut, return OUT_OF_TIME"""
    events = Played(think, TimedOut()).events
    why = f"think returned {events}" if events else "TimedOut left think"
    assert events == [Event.OUT_OF_TIME], why


def test_what_a_model_raises_is_the_drivers(think):
    """let any other exception out: the driver turns it into FAILED"""
    played = Played(think, ConnectionError("no network"))
    why = f"ConnectionError did not leave think, which returned {played.events}"
    assert played.events == [], why
    assert played.end.message == "ConnectionError: no network", played.end.message
