"""The table of an agent: each event with a meaning in a state, and where it leads."""

import pytest

from workbook.fsm.table import Event, State, Table

S, E = State, Event
LIVE = (S.THINK, S.EXECUTE_TOOL, S.OBSERVE)


def made(table):
    """Return the table, if it is one."""
    assert isinstance(table, Table), "return Table((Transition(…), Transition(…), …))"
    return table


def assert_leads(table, state, targets):
    """Say of an event that leads elsewhere where it should lead."""
    rows = {(rule.source, rule.event): rule.target for rule in made(table).rules}
    for event, target in targets.items():
        found = rows.get((state, event), "nowhere")
        assert found == target, f"in {state}, {event} leads to {found}, not to {target}"


def test_it_is_an_honest_table(agent_table):
    """return a `Table` in which its own audit finds nothing wrong"""
    breaches = made(agent_table()).audit()
    assert breaches == [], f"the audit says: {'; '.join(breaches)}"


def test_it_starts_with_the_model(agent_table):
    """a run starts in THINK"""
    start = made(agent_table()).start
    assert start == S.THINK, f"it starts in {start}"


def test_what_the_model_did(agent_table):
    """in THINK, tool_requested leads to EXECUTE_TOOL and final_answer to DONE"""
    targets = {E.TOOL_REQUESTED: S.EXECUTE_TOOL, E.FINAL_ANSWER: S.DONE}
    assert_leads(agent_table(), S.THINK, targets)


def test_an_unreadable_turn_is_observed(agent_table):
    """in THINK, unreadable_turn leads to OBSERVE: the model is told, no tool runs"""
    assert_leads(agent_table(), S.THINK, {E.UNREADABLE_TURN: S.OBSERVE})


def test_a_tool_is_observed_and_the_model_goes_on(agent_table):
    """EXECUTE_TOOL leads to OBSERVE on tool_returned, OBSERVE to THINK on observed"""
    assert_leads(agent_table(), S.EXECUTE_TOOL, {E.TOOL_RETURNED: S.OBSERVE})
    assert_leads(agent_table(), S.OBSERVE, {E.OBSERVED: S.THINK})


def test_more_calls_are_made_first(agent_table):
    """in OBSERVE, more_calls leads to EXECUTE_TOOL: a turn may hold several calls"""
    assert_leads(agent_table(), S.OBSERVE, {E.MORE_CALLS: S.EXECUTE_TOOL})


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
    """when steps, tool calls or time have run out, the run is EXHAUSTED"""
    assert_leads(agent_table(), state, {event: S.EXHAUSTED})


@pytest.mark.parametrize("state", LIVE)
def test_everywhere_the_user_may_stop_and_something_may_break(agent_table, state):
    """in each state that is no end, cancel leads to CANCELLED and failed to ERROR"""
    assert_leads(agent_table(), state, {E.CANCEL: S.CANCELLED, E.FAILED: S.ERROR})


def test_nothing_else_can_happen(agent_table):
    """the table has these sixteen rows and no others"""
    count = len(made(agent_table()).rules)
    assert count == 16, f"it has {count} rows"
