"""Seconds in each state: what a transition tells, and of which state."""

import pytest


def moved(source, elapsed_s, target="THINK", **more):
    about = {"source": source, "event": "e", "target": target, "why": "w"}
    return {"kind": "transition", **about, "elapsed_s": elapsed_s, **more}


def test_the_time_belongs_to_the_state_that_was_left(state_times):
    """`elapsed_s` of a transition is the time in its `source`, the state that was left

    perhaps: you count it for the `target`"""
    run = [moved("THINK", 2.5, "EXECUTE_TOOL"), moved("EXECUTE_TOOL", 0.25, "OBSERVE")]
    assert state_times(run) == {"THINK": [2.5], "EXECUTE_TOOL": [0.25]}


def test_each_stay_is_a_number_of_its_own(state_times):
    """each stay is a number of its own, in order; nothing is added up or left out

    perhaps: a stay of no seconds is a stay too"""
    run = [moved("THINK", 1.0), moved("THINK", 0.0), moved("THINK", 1.0)]
    assert state_times(run) == {"THINK": [1.0, 0.0, 1.0]}


def test_the_states_are_in_order(state_times):
    """the states stand in the order in which they were left for the first time"""
    run = [moved(state, 1.0) for state in ("OBSERVE", "ASK", "THINK", "ASK")]
    assert list(state_times(run)) == ["OBSERVE", "ASK", "THINK"]


def test_a_state_that_was_not_left_is_not_there(state_times):
    """a state that was not left has no time: an end, or where a trace is cut short"""
    done = [moved("THINK", 1.0, "DONE")]
    cut_short = [moved("THINK", 1.0, "OBSERVE")]
    assert state_times(done) == state_times(cut_short) == {"THINK": [1.0]}


def test_waiting_for_a_person_counts(state_times):
    """a state in which a person is waited for is a state like any other"""
    run = [moved("THINK", 1.0), moved("PENDING_APPROVAL", 3600.0)]
    assert state_times(run) == {"THINK": [1.0], "PENDING_APPROVAL": [3600.0]}


def test_other_events_are_not_looked_at(state_times):
    """other events are not looked at, whatever they carry

    perhaps: you look for `source` or `elapsed_s`, and not at the kind"""
    page = {"kind": "observation", "source": "https://example.org", "elapsed_s": 9.0}
    run = [{"kind": "run_started"}, page, moved("THINK", 1.0)]
    assert state_times(run) == {"THINK": [1.0]}


@pytest.mark.parametrize("events", [[], [{"kind": "model_turn", "elapsed_s": 1.0}]])
def test_without_transitions_there_are_no_times(state_times, events):
    """without a transition, as in a loop that has no states, the dict is empty"""
    assert state_times(events) == {}


def test_the_events_may_come_one_by_one(state_times):
    """`events` may be a generator, as `read_events` is: it can be read only once"""
    events = (moved(state, 1.0) for state in ("THINK", "OBSERVE", "THINK"))
    assert state_times(events) == {"THINK": [1.0, 1.0], "OBSERVE": [1.0]}
