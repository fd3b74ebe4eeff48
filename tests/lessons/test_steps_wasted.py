"""Steps wasted: the calls of a run beyond the shortest path."""

import pytest


def trace(*kinds, **more):
    """Return events of these kinds, of one run."""
    about = {"trace_id": "t", "tool": "WikiSearch", "arguments": {}, **more}
    return [{"seq": n, "kind": kind, **about} for n, kind in enumerate(kinds)]


CALL = ("tool_call", "observation")


@pytest.mark.parametrize(("calls", "shortest", "wasted"), [(3, 2, 1), (5, 0, 5)])
def test_calls_beyond_the_shortest_path(steps_wasted, calls, shortest, wasted):
    """each tool call beyond the shortest path is wasted, repeated or failed ones too"""
    refused = trace(*CALL, call_id="c1", ok=False, error={"kind": "denied"})
    assert steps_wasted(trace(*CALL * calls), shortest) == wasted
    assert steps_wasted(refused * calls, shortest) == wasted


@pytest.mark.parametrize("calls", [0, 1, 2])
def test_never_below_zero(steps_wasted, calls):
    """a run with fewer calls than the shortest path wastes 0"""
    assert steps_wasted(trace(*CALL * calls), 2) == 0


def test_calls_inside_a_call_do_not_count(steps_wasted):
    """a call with a `parent` was made by another call, and does not count"""
    inside = trace(*CALL, parent=7)
    assert steps_wasted([*trace("tool_call"), *inside, *inside], 1) == 0


def test_a_trace_may_be_cut_short(steps_wasted):
    """a call counts from its start, also if the trace ends before its observation"""
    assert steps_wasted(iter(trace("run_started", *CALL, "tool_call")), 1) == 1
    assert steps_wasted([], 0) == 0


def test_turns_are_no_calls(steps_wasted):
    """only tool calls count: not turns, decisions, or observations without a call"""
    others = trace("model_request", "model_turn", "decision", "observation")
    assert steps_wasted(others * 3, 0) == 0


def test_a_path_has_no_calls_or_more(steps_wasted):
    """`shortest` below 0 is a ValueError that says its value"""
    with pytest.raises(ValueError, match="-3"):
        steps_wasted([], -3)
