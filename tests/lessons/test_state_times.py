"""Seconds in each state: what a transition tells, and of which state."""


def moved(source, elapsed_s, target=None):
    about = {"source": source, "event": "e", "target": target or source, "why": "w"}
    return {"kind": "transition", **about, "elapsed_s": elapsed_s}


def test_the_time_belongs_to_the_state_that_was_left(state_times):
    """`elapsed_s` is the time in `source`; a state that is never left is not there"""
    asks = moved("THINK", 2.5, "PENDING_APPROVAL")
    waited = moved("PENDING_APPROVAL", 3600.0, "EXECUTE_TOOL")
    assert state_times([asks, waited]) == {"THINK": [2.5], "PENDING_APPROVAL": [3600.0]}
    assert state_times([moved("THINK", 1.0, "DONE")]) == {"THINK": [1.0]}


def test_each_stay_is_a_number_of_its_own(state_times):
    """return the time of each stay, in order; do not add them up"""
    run = [moved("THINK", 1.0), moved("THINK", 0.0), moved("THINK", 1.0)]
    assert state_times(run) == {"THINK": [1.0, 0.0, 1.0]}


def test_the_states_are_in_order(state_times):
    """the states come in the order in which they were first left"""
    run = [moved(state, 1.0) for state in ("OBSERVE", "ASK", "THINK", "ASK")]
    states = list(state_times(run))
    assert states == ["OBSERVE", "ASK", "THINK"], f"they come as {states}"


def test_other_events_are_not_looked_at(state_times):
    """events of other kinds do not count, whatever fields they have"""
    page = {"kind": "observation", "source": "https://example.org", "elapsed_s": 9.0}
    run = [{"kind": "run_started"}, page]
    assert state_times([*run, moved("THINK", 1.0)]) == {"THINK": [1.0]}
    assert state_times(run) == {}


def test_the_events_may_come_one_by_one(state_times):
    """`events` may be a generator, as `read_events` is: read it only once"""
    events = (moved(state, 1.0) for state in ("THINK", "OBSERVE", "THINK"))
    assert state_times(events) == {"THINK": [1.0, 1.0], "OBSERVE": [1.0]}
