"""The table of an agent: each event with a meaning in a state, and where it leads."""

import pytest

from workbook.fsm.machine import Machine
from workbook.fsm.table import Event, State, Table
from workbook.models.script import Script
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry

S, E = State, Event
LIVE = (S.THINK, S.EXECUTE_TOOL, S.OBSERVE)


def targets(table, state, *events):
    """Return where a table leads from a state, by event."""
    rows = {(rule.source, rule.event): rule.target for rule in table.rules}
    return {event: rows.get((state, event), "no row") for event in events}


def test_it_is_an_honest_table(agent_table):
    """a `Table` comes back, and its audit finds nothing wrong

    perhaps, of AttributeError: return Table((Rule(…), Rule(…))), not the rules alone"""
    table = agent_table()
    assert isinstance(table, Table)
    assert table.audit() == []


def test_it_starts_with_the_model(agent_table):
    """a run starts in THINK"""
    assert agent_table().start == S.THINK


def test_what_the_model_did(agent_table):
    """in THINK, tool_requested leads to EXECUTE_TOOL and final_answer to DONE"""
    events = E.TOOL_REQUESTED, E.FINAL_ANSWER
    expected = {E.TOOL_REQUESTED: S.EXECUTE_TOOL, E.FINAL_ANSWER: S.DONE}
    assert targets(agent_table(), S.THINK, *events) == expected


def test_an_unreadable_turn_is_observed(agent_table):
    """in THINK, unreadable_turn leads to OBSERVE: the model is told, no tool runs"""
    expected = {E.UNREADABLE_TURN: S.OBSERVE}
    assert targets(agent_table(), S.THINK, E.UNREADABLE_TURN) == expected


def test_a_tool_is_observed_and_the_model_goes_on(agent_table):
    """EXECUTE_TOOL leads to OBSERVE on tool_returned, OBSERVE to THINK on observed"""
    table = agent_table()
    returned = targets(table, S.EXECUTE_TOOL, E.TOOL_RETURNED)
    seen = targets(table, S.OBSERVE, E.OBSERVED)
    assert returned | seen == {E.TOOL_RETURNED: S.OBSERVE, E.OBSERVED: S.THINK}


def test_more_calls_are_made_first(agent_table):
    """in OBSERVE, more_calls leads to EXECUTE_TOOL: one message may have several"""
    expected = {E.MORE_CALLS: S.EXECUTE_TOOL}
    assert targets(agent_table(), S.OBSERVE, E.MORE_CALLS) == expected


@pytest.mark.parametrize(
    ("state", "event"),
    [
        (S.THINK, E.OUT_OF_STEPS),
        (S.THINK, E.OUT_OF_TIME),
        (S.EXECUTE_TOOL, E.OUT_OF_TOOL_CALLS),
        (S.EXECUTE_TOOL, E.OUT_OF_TIME),
    ],
)
def test_what_has_run_out_exhausts(agent_table, state, event):
    """where steps, tool calls or time have run out, the run is EXHAUSTED

    In THINK: out_of_steps, out_of_time; in EXECUTE_TOOL: the other two."""
    assert targets(agent_table(), state, event) == {event: S.EXHAUSTED}


@pytest.mark.parametrize("state", LIVE)
def test_everywhere_the_user_may_stop_and_something_may_break(agent_table, state):
    """in each state that is no end, cancel leads to CANCELLED and failed to ERROR"""
    expected = {E.CANCEL: S.CANCELLED, E.FAILED: S.ERROR}
    assert targets(agent_table(), state, E.CANCEL, E.FAILED) == expected


def test_nothing_else_can_happen(agent_table):
    """these are all: sixteen rows, and no other"""
    assert len(agent_table().rules) == 16


def test_a_run_on_it_ends_with_the_answer(agent_table):
    """a script with one tool call runs on it, and ends in DONE"""
    turns = ["Action: Calculator\nAction Input: 2*3", "Final Answer: 6"]
    table = agent_table()
    end = Machine(Script(turns), ToolRegistry([calculator()]), table).run("2*3?")
    assert (end.state, end.answer) == (S.DONE, "6")
