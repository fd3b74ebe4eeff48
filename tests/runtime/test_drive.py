"""The driver: ask what happened, advance, emit, until an end is reached."""

import pytest

from tests.doubles import named
from workbook.runtime.table import (
    CORE,
    Event,
    IllegalTransition,
    State,
    Table,
    Transition,
    advance,
)

S, E = State, Event


class Story:
    """A context that knows what happens next, and keeps where it was asked."""

    def __init__(self, *events):
        self.events, self.all = list(events), events
        self.asked = []

    def __repr__(self):
        return f"<a story: {', '.join(map(repr, self.all))}>"


def ask(state):
    """Return a handler for a state that returns the next event of the story."""

    def handler(story):
        story.asked.append(state)
        event = story.events.pop(0)
        if isinstance(event, BaseException):
            raise event
        return event

    return named("returns or raises the story's next", handler)


HANDLERS = {state: ask(state) for state in (S.THINK, S.EXECUTE_TOOL, S.OBSERVE)}
ONE_CALL = (E.TOOL_REQUESTED, E.TOOL_RETURNED, E.OBSERVED, E.FINAL_ANSWER)
NIGHT = Table((Transition(S.THINK, "timer", "OFF", "night"),), S.THINK, ends={"OFF"})
STOPS = [Transition(state, E.CANCEL, "STOPPED", "the user") for state in HANDLERS]
STOPPABLE = CORE.with_rules(*STOPS, ends={"STOPPED"})


class Emitted:
    """An `emit` that keeps what it gets."""

    def __init__(self):
        self.rows, self.raised = [], []

    def __call__(self, rule, raised):
        self.rows.append((rule.source, rule.event, rule.target))
        self.raised.append(raised)

    def __repr__(self):
        return "emit"


def test_every_end_ends_the_run(drive):
    """stop at the first state of `table.ends`, and return it"""
    assert drive(CORE, HANDLERS, Story(E.FINAL_ANSWER), Emitted()) == S.DONE
    assert drive(CORE, HANDLERS, Story(E.OUT_OF_STEPS), Emitted()) == S.EXHAUSTED
    assert drive(CORE, HANDLERS, Story(E.CANCEL), Emitted()) == S.CANCELLED
    assert drive(CORE, HANDLERS, Story(E.FAILED), Emitted()) == S.ERROR
    assert drive(NIGHT, HANDLERS, Story("timer"), Emitted()) == "OFF"


def test_each_state_has_its_own_handler(drive):
    """in each state, call the handler of that state with the context"""
    story = Story(*ONE_CALL)
    drive(CORE, HANDLERS, story, Emitted())
    expected = [S.THINK, S.EXECUTE_TOOL, S.OBSERVE, S.THINK]
    why = f"the handlers of {expected} should be called; those of {story.asked} were"
    assert story.asked == expected, why


def test_every_transition_is_emitted(drive):
    """call `emit(row, None)` once for each row that is taken, the last one too"""
    emitted = Emitted()
    drive(CORE, HANDLERS, Story(*ONE_CALL), emitted)
    expected = [
        (S.THINK, E.TOOL_REQUESTED, S.EXECUTE_TOOL),
        (S.EXECUTE_TOOL, E.TOOL_RETURNED, S.OBSERVE),
        (S.OBSERVE, E.OBSERVED, S.THINK),
        (S.THINK, E.FINAL_ANSWER, S.DONE),
    ]
    assert emitted.rows == expected, f"emit was called with the rows {emitted.rows}"
    assert emitted.raised == [None] * 4, f"emit was given the errors {emitted.raised}"


def test_the_start_is_the_tables(drive):
    """start in `table.start`"""
    table = CORE.with_rules(start=S.OBSERVE)
    story = Story(E.OBSERVED, E.FINAL_ANSWER)
    assert drive(table, HANDLERS, story, Emitted()) == S.DONE


def end_of(drive, error, table=CORE, before=ONE_CALL[:1]):
    """Return how a run ends in which a handler raises, after what went well before."""
    try:
        return drive(table, HANDLERS, Story(*before, error), Emitted())
    except BaseException as left:
        if left is not error:
            raise
        raise AssertionError(f"a state is returned, but {left!r} left drive") from None


@pytest.mark.parametrize("before", [(), ONE_CALL[:1], ONE_CALL[:2]])
def test_ctrl_c_is_a_cancel(drive, before):
    """KeyboardInterrupt (Ctrl-C) in a handler is the event CANCEL, in each state"""
    end = end_of(drive, KeyboardInterrupt(), STOPPABLE, before)
    why = f"in this table CANCEL leads to STOPPED; Ctrl-C ended the run as {end}"
    assert end == "STOPPED", why


@pytest.mark.parametrize(
    "error", [ConnectionError("no network"), SystemExit(1), GeneratorExit()]
)
def test_a_handler_that_raises_has_failed(drive, error):
    """anything else that a handler raises, even SystemExit, is the event FAILED"""
    end = end_of(drive, error)
    assert end == S.ERROR


def test_what_was_raised_is_emitted_once(drive):
    """with the row taken after an exception, and no other, call `emit(row, error)`"""
    goes_on = CORE.with_rules(Transition(S.EXECUTE_TOOL, E.FAILED, S.OBSERVE, "go on"))
    error, emitted = ConnectionError("no network"), Emitted()
    story = Story(E.TOOL_REQUESTED, error, E.OBSERVED, E.FINAL_ANSWER)
    drive(goes_on, HANDLERS, story, emitted)
    found = [
        (row[1], each) for row, each in zip(emitted.rows, emitted.raised, strict=True)
    ]
    why = f"only failed comes with an error; events and errors are {found}"
    assert [pair for pair in found if pair[1]] == [(E.FAILED, error)], why


@pytest.mark.parametrize("nonsense", [E.OBSERVED, S.DONE, "done", None])
def test_an_event_without_a_row_has_failed(drive, nonsense):
    """an event that has no row is FAILED, too; emit gets the IllegalTransition"""
    goes_on = CORE.with_rules(Transition(S.THINK, E.FAILED, S.OBSERVE, "go on"))
    emitted = Emitted()
    end = drive(goes_on, HANDLERS, Story(nonsense, E.OBSERVED, E.FINAL_ANSWER), emitted)
    why = f"after {nonsense!r} the run ended as {end}, and emit got {emitted.raised}"
    assert end == S.DONE, why
    assert [type(error) for error in emitted.raised[:1]] == [IllegalTransition], why


@pytest.mark.parametrize("error", [None, ConnectionError("down"), KeyboardInterrupt()])
def test_the_table_is_asked_where_an_event_leads(drive, error):
    """ask `table.advance(state, event)` for each next state, also after an exception"""
    asked = []

    def noted(table, state, event):
        asked.append((state, event))
        return advance(table, state, event)

    noted = named("advance, which notes what it is asked", noted)
    emitted, last = Emitted(), error or E.FINAL_ANSWER
    drive(CORE.using(advance=noted), HANDLERS, Story(last), emitted)
    took = [row[:2] for row in emitted.rows]
    why = f"it took the rows {took}, and asked `table.advance` about {asked}"
    assert set(took) <= set(asked), why
