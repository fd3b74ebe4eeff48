"""The driver: ask what happened, advance, tell, until an end is reached."""

import pytest

from workbook.fsm.machine import drive as our_drive
from workbook.fsm.table import (
    CORE,
    Event,
    IllegalTransition,
    Rule,
    State,
    Table,
)

S, E = State, Event


class Story:
    """A context that knows what happens next, and keeps where it was asked."""

    def __init__(self, *events):
        self.events = list(events)
        self.asked = []

    def __repr__(self):
        return "a story"


def ask(state):
    """Return a handler for a state that tells the next event of the story."""

    def handler(story):
        story.asked.append(state)
        event = story.events.pop(0)
        if isinstance(event, BaseException):
            raise event
        return event

    return handler


HANDLERS = {state: ask(state) for state in (S.THINK, S.EXECUTE_TOOL, S.OBSERVE)}
ONE_CALL = (E.TOOL_REQUESTED, E.TOOL_RETURNED, E.OBSERVED, E.FINAL_ANSWER)


class Told:
    """An `emit` that keeps what it is told."""

    def __init__(self):
        self.rows, self.raised = [], []

    def __call__(self, rule, raised):
        self.rows.append((rule.source, rule.event, rule.target))
        self.raised.append(raised)

    def __repr__(self):
        return "emit"


def test_one_event_leads_to_an_end(drive):
    """the driver returns the terminal state that the event leads to"""
    assert drive(CORE, HANDLERS, Story(E.FINAL_ANSWER), Told()) == S.DONE


@pytest.mark.parametrize(
    ("event", "end"),
    [
        (E.OUT_OF_STEPS, S.EXHAUSTED),
        (E.CANCEL, S.CANCELLED),
        (E.FAILED, S.ERROR),
    ],
)
def test_every_end_ends_the_run(drive, event, end):
    """the driver stops at any terminal state

    perhaps, of KeyError or IllegalTransition: you wait for DONE; table.ends holds
    them all"""
    assert drive(CORE, HANDLERS, Story(event), Told()) == end


def test_each_state_has_its_own_handler(drive):
    """in each state the handler of that state is asked, with the context"""
    story = Story(*ONE_CALL)
    assert drive(CORE, HANDLERS, story, Told()) == S.DONE
    assert story.asked == [S.THINK, S.EXECUTE_TOOL, S.OBSERVE, S.THINK]


def test_every_transition_is_told(drive):
    """emit is told each row that was taken, in order, the last one with them"""
    told = Told()
    drive(CORE, HANDLERS, Story(*ONE_CALL), told)
    assert told.rows == [
        (S.THINK, E.TOOL_REQUESTED, S.EXECUTE_TOOL),
        (S.EXECUTE_TOOL, E.TOOL_RETURNED, S.OBSERVE),
        (S.OBSERVE, E.OBSERVED, S.THINK),
        (S.THINK, E.FINAL_ANSWER, S.DONE),
    ]
    assert told.raised == [None] * 4


def test_the_start_is_the_tables(drive):
    """a run starts in the table's start"""
    table = CORE.with_rules(start=S.OBSERVE)
    story = Story(E.OBSERVED, E.FINAL_ANSWER)
    assert drive(table, HANDLERS, story, Told()) == S.DONE
    assert story.asked == [S.OBSERVE, S.THINK]


def test_a_handler_that_raises_has_failed(drive):
    """an exception in a handler is the event FAILED, and does not get out"""
    story = Story(E.TOOL_REQUESTED, ConnectionError("no network"))
    assert drive(CORE, HANDLERS, story, Told()) == S.ERROR


def test_what_was_raised_is_told(drive):
    """emit is told what was raised, together with the row"""
    error, told = ConnectionError("no network"), Told()
    drive(CORE, HANDLERS, Story(E.TOOL_REQUESTED, error), told)
    assert told.rows[-1] == (S.EXECUTE_TOOL, E.FAILED, S.ERROR)
    assert told.raised == [None, error]


def test_what_was_raised_is_told_once(drive):
    """where a failure leads on, the rows after it are told without what was raised"""
    mended = CORE.with_rules(Rule(S.EXECUTE_TOOL, E.FAILED, S.OBSERVE, "go on"))
    error, told = ConnectionError("no network"), Told()
    story = Story(E.TOOL_REQUESTED, error, E.OBSERVED, E.FINAL_ANSWER)
    assert drive(mended, HANDLERS, story, told) == S.DONE
    assert told.raised == [None, error, None, None]


def test_the_ends_are_the_tables(drive):
    """a table with other words has other ends, and the run stops there"""
    light = Table((Rule("RED", "timer", "OFF", "night"),), "RED", ends={"OFF"})
    assert drive(light, {"RED": ask("RED")}, Story("timer"), Told()) == "OFF"


@pytest.mark.parametrize("nonsense", [E.OBSERVED, S.DONE, "done", None])
def test_an_event_without_a_row_has_failed(drive, nonsense):
    """a handler that returns what the table does not know there has FAILED

    perhaps, of KeyError or IllegalTransition: advance raises outside of your try"""
    assert drive(CORE, HANDLERS, Story(nonsense), Told()) == S.ERROR


# what the driver does besides, for the machine


def test_an_illegal_event_is_explained():
    """what is told says which event was not legal, and what would have been"""
    told = Told()
    our_drive(CORE, HANDLERS, Story(E.OBSERVED), told)
    assert isinstance(told.raised[0], IllegalTransition)
    assert "final_answer" in str(told.raised[0])


def test_ctrl_c_is_a_cancel():
    """KeyboardInterrupt in a handler is the event CANCEL"""
    story = Story(E.TOOL_REQUESTED, KeyboardInterrupt())
    assert our_drive(CORE, HANDLERS, story, Told()) == S.CANCELLED


@pytest.mark.parametrize("signal", [SystemExit(1), GeneratorExit(), BaseException()])
def test_a_handler_cannot_end_the_program(signal):
    """what is raised and is no Exception has FAILED as well, and does not get out"""
    assert our_drive(CORE, HANDLERS, Story(signal), Told()) == S.ERROR


def test_a_state_without_a_handler_has_failed():
    """a live state for which nobody is there ends the run in ERROR"""
    assert our_drive(CORE, {}, Story(), Told()) == S.ERROR
