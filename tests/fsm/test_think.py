"""The handler of THINK: a limit, the model, its turn, and the event that it is."""

import pytest

from workbook.fsm.limits import Limits
from workbook.fsm.machine import Machine
from workbook.fsm.table import Event, State
from workbook.models.script import Script
from workbook.record.writer import TraceWriter
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.tools.timeouts import TimedOut

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
    """it returns the event of the model's turn, whichever that is"""
    assert Played(think, turn, FINAL).events[0] == event


def test_the_model_is_asked_once(think):
    """it asks the model once, and hears its completion once: one step is spent"""
    played = Played(think, FINAL)
    assert (played.model.asked, played.end.spent.steps) == (1, 1)
    assert played.kinds == ["model_request", "model_turn"]


def test_a_run_reaches_its_answer(think):
    """with it, the machine runs from the question over a tool to the answer"""
    end = Played(think, ACT, FINAL).end
    assert (end.state, end.answer, end.message[:11]) == ("DONE", "6", "the model g")


def test_the_limit_is_asked_before_the_model(think):
    """what the limits say has run out is returned, and the model is not asked

    perhaps, of DONE: you ask the model first, and the limits afterwards"""
    played = Played(think, ACT, FINAL, limits=Limits(steps=1))
    assert played.events == [Event.TOOL_REQUESTED, Event.OUT_OF_STEPS]
    assert (played.end.state, played.model.asked) == (State.EXHAUSTED, 1)


def test_the_clock_is_looked_at(think):
    """the limits are given `run.elapsed()`, what is spent after a look at the clock

    perhaps, of final_answer: run.spent is as old as the last look"""
    now = iter([0.0, *[99.0] * 20])
    played = Played(think, FINAL, limits=Limits(wall_s=10), clock=lambda: next(now))
    assert played.events == [Event.OUT_OF_TIME]
    assert played.model.asked == 0


def test_a_model_that_does_not_answer_in_time(think):
    """TimedOut, raised by `run.ask()`, is the event OUT_OF_TIME"""
    played = Played(think, TimedOut())
    assert (played.events, played.end.state) == ([Event.OUT_OF_TIME], State.EXHAUSTED)


def test_what_a_model_raises_is_the_drivers(think):
    """any other exception is let through: the driver makes it FAILED"""
    played = Played(think, ConnectionError("no network"))
    assert (played.events, played.end.state) == ([], State.ERROR)
    assert played.end.message == "ConnectionError: no network"
