"""The table of an agent: what a run may do, and what it must never do.

A message says what a missing, wrong or extra row would let happen.
"""

from collections import Counter

import pytest

from workbook.runtime.table import CORE, Event, State, Table

S, E = State, Event
LIVE = (S.THINK, S.EXECUTE_TOOL, S.OBSERVE)
WITHOUT = {
    E.TOOL_REQUESTED: "the tool that the model asked for does not run",
    E.FINAL_ANSWER: "the model's answer does not end the run",
    E.UNREADABLE_TURN: "the model does not read what was wrong with its turn",
    E.TOOL_RETURNED: "the model never reads the tool's result",
    E.MORE_CALLS: "the next call of the same turn is not made",
    E.OBSERVED: "the model is not asked again",
    E.OUT_OF_STEPS: "nothing says how the run ends when no step is left",
    E.OUT_OF_TOOL_CALLS: "nothing says how the run ends when no tool call is left",
    E.OUT_OF_TIME: "nothing says how the run ends when no time is left",
    E.CANCEL: "the user cannot stop the run there",
    E.FAILED: "an exception there does not end the run as an error",
}
"""What happens where the row of such an event is missing."""
TO = {
    S.THINK: "the model would be asked before it could read what happened",
    S.EXECUTE_TOOL: "a tool would run that the model did not ask for",
    S.OBSERVE: "the model would be shown an observation of nothing",
    S.DONE: "the run would count as answered",
    S.EXHAUSTED: "the run would count as one that spent its limits",
    S.CANCELLED: "the run would count as one that the user stopped",
    S.ERROR: "the run would count as one in which something raised",
}
"""What happens where a row leads to such a state, and should lead elsewhere."""
TO_BY = {
    (E.MORE_CALLS, S.THINK): "the model would be asked before its next call is made"
}
"""The same, where an event makes it something else."""
WITH = {
    E.TOOL_REQUESTED: "a tool would run that no model asked for",
    E.FINAL_ANSWER: "an answer would count that the model did not give",
    E.UNREADABLE_TURN: "a turn would be judged where no model was asked",
    E.TOOL_RETURNED: "the run would accept a result although no tool had run",
    E.MORE_CALLS: "a call would be made before the last result was observed",
    E.OBSERVED: "the model would be asked although nothing was observed",
    E.OUT_OF_STEPS: "the run would end for steps where no model is asked",
    E.OUT_OF_TOOL_CALLS: "the run would end for tool calls where no tool is called",
    E.OUT_OF_TIME: "the run would end for time between two pieces of work",
}
"""What a row of such an event allows where it does not belong."""


def rows_of(table):
    """Return the targets by state and event, of what has to be a table."""
    assert isinstance(table, Table), "return Table((Transition(…), Transition(…), …))"
    return {(rule.source, rule.event): rule.target for rule in table.rules}


def assert_goes(table, *way):
    """Follow state, event, state …, and say where and why it cannot be followed."""
    rows = rows_of(table)
    for state, event, target in zip(way[::2], way[1::2], way[2::2], strict=False):
        found = rows.get((state, event))
        why = f"in {state}, {event} has no row: {WITHOUT[event]}"
        if found:
            lets = TO_BY.get((event, found)) or TO.get(found, "there is no such state")
            why = f"in {state}, {event} leads to {found}: {lets}"
        assert found == target, why


def test_an_answer_ends_the_run(agent_table):
    """a run starts in THINK; final_answer ends it as DONE"""
    table = agent_table()
    assert_goes(table, S.THINK, E.FINAL_ANSWER, S.DONE)
    assert table.start == S.THINK, f"it starts in {table.start}"


def test_a_tool_is_observed_and_the_model_asked_again(agent_table):
    """a requested tool runs, its result is observed, and the model is asked again"""
    way = S.THINK, E.TOOL_REQUESTED, S.EXECUTE_TOOL, E.TOOL_RETURNED, S.OBSERVE
    assert_goes(agent_table(), *way, E.OBSERVED, S.THINK)


def test_more_calls_are_made_first(agent_table):
    """after an observation, more_calls runs the next tool; no model is asked between"""
    assert_goes(agent_table(), S.OBSERVE, E.MORE_CALLS, S.EXECUTE_TOOL)


def test_an_unreadable_turn_is_observed(agent_table):
    """after unreadable_turn no tool runs: what was wrong is observed"""
    assert_goes(agent_table(), S.THINK, E.UNREADABLE_TURN, S.OBSERVE)


@pytest.mark.parametrize("event", [E.OUT_OF_STEPS, E.OUT_OF_TIME])
def test_what_has_run_out_before_a_model_call_exhausts(agent_table, event):
    """if no step or no time is left for a model call, the run is EXHAUSTED"""
    assert_goes(agent_table(), S.THINK, event, S.EXHAUSTED)


@pytest.mark.parametrize("event", [E.OUT_OF_TOOL_CALLS, E.OUT_OF_TIME])
def test_what_has_run_out_before_a_tool_call_exhausts(agent_table, event):
    """if no tool call or no time is left for a tool, the run is EXHAUSTED"""
    assert_goes(agent_table(), S.EXECUTE_TOOL, event, S.EXHAUSTED)


@pytest.mark.parametrize("state", LIVE)
def test_everywhere_the_user_may_stop_and_something_may_break(agent_table, state):
    """in each of the three live states, cancel leads to CANCELLED, failed to ERROR"""
    table = agent_table()
    assert_goes(table, state, E.CANCEL, S.CANCELLED)
    assert_goes(table, state, E.FAILED, S.ERROR)


def test_nothing_else_can_happen(agent_table):
    """there is no other row: nothing else can happen, and nothing after an end"""
    for (state, event), target in rows_of(agent_table()).items():
        allows = "the run would go on after its end"
        if state not in CORE.ends:
            allows = WITH.get(event, f"no handler returns {event}")
        why = f"{state} has a row for {event}, to {target}: {allows}"
        assert (state, event) in CORE.rows, why


def test_one_event_has_one_way(agent_table):
    """a state has at most one row for an event"""
    rows_of(table := agent_table())
    counts = Counter((rule.source, rule.event) for rule in table.rules)
    for (state, event), count in counts.items():
        why = f"{state} has {count} rows for {event}: nobody knows where it leads"
        assert count == 1, why
