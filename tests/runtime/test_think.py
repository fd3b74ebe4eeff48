"""The handler of THINK: a limit, the model, its turn, and the event that it is."""

from types import SimpleNamespace

import pytest

from workbook.runtime.table import Event
from workbook.runtime.waiting import TimedOut


class Running:
    """A run with the four calls of the card; it notes which were made."""

    def __init__(self, event=Event.FINAL_ANSWER, ran_out=None, raised=None):
        self.event, self.ran_out, self.raised = event, ran_out, raised
        self.spent, self.now = "seconds of long ago", "seconds of now"
        self.limits, self.calls, self.looked_at = self, [], []

    def __repr__(self):
        return "<run>"

    def elapsed(self):
        return self.now

    def before_model_call(self, spent):
        self.calls.append("before_model_call")
        self.looked_at.append(spent)
        return self.ran_out

    def ask(self):
        self.calls.append("ask")
        if self.raised:
            raise self.raised
        return "response"

    def read(self, response):
        self.calls.append("read")
        assert response == "response", f"run.read got {response!r}, no response"
        return SimpleNamespace(event=self.event)


EVENTS = [Event.TOOL_REQUESTED, Event.FINAL_ANSWER, Event.UNREADABLE_TURN]


@pytest.mark.parametrize("event", EVENTS)
def test_it_returns_what_the_model_did(think, event):
    """return the event of the model's turn, whichever it is"""
    assert think(Running(event)) == event


def test_the_model_is_asked_once(think):
    """ask the model once and read its turn once: one step is spent"""
    think(run := Running())
    asked, read = run.calls.count("ask"), run.calls.count("read")
    assert asked == 1, f"the model was asked {asked} times"
    assert read == 1, f"its turn was read {read} times: run.read(response) reads it"


@pytest.mark.parametrize("ran_out", [Event.OUT_OF_STEPS, "out_of_money"])
def test_the_limit_is_asked_before_the_model(think, ran_out):
    """if the limits return an event, return it and do not ask the model"""
    run = Running(ran_out=ran_out)
    assert think(run) == ran_out
    assert "ask" not in run.calls, f"the calls were {', '.join(run.calls)}"


def test_the_clock_is_looked_at(think):
    """give the limits `run.elapsed()`: it looks at the clock, `run.spent` does not"""
    think(run := Running())
    assert run.looked_at == [run.now], f"the limits were given {run.looked_at}"


def test_a_model_that_does_not_answer_in_time(think):
    """if `run.ask()` raises TimedOut, return OUT_OF_TIME"""
    try:
        event = think(Running(raised=TimedOut()))
    except TimedOut:
        event = "nothing: TimedOut left it"
    assert event == Event.OUT_OF_TIME, f"think returned {event}"


def test_what_a_model_raises_is_the_drivers(think):
    """let any other exception out: the driver turns it into FAILED"""
    with pytest.raises(ConnectionError):
        think(Running(raised=ConnectionError("no network")))
