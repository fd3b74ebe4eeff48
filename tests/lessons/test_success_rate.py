"""The success rate: of how many calls, and which of them were retries."""

import pytest

from workbook.lessons.traces_and_replay import Rate


def asked(call_id, tool="Search", run="r", **arguments):
    about = {"call_id": call_id, "tool": tool, "arguments": arguments}
    return {"trace_id": run, "at_s": 0.0, "kind": "tool_call", **about}


def observed(call_id, ok=True, tool="Search", run="r"):
    about = {"call_id": call_id, "tool": tool, "ok": ok, "text": "t"}
    return {"trace_id": run, "at_s": 0.0, "kind": "observation", **about}


def call(number, ok=True, tool="Search", run="r", **arguments):
    call_id = f"call_{number}"
    return [asked(call_id, tool, run, **arguments), observed(call_id, ok, tool, run)]


def inside(*events):
    return [{**event, "parent": 3} for event in events]


def test_calls_and_those_that_went_well(success_rate):
    """`calls`: tool calls with an observation, no others; `ok`: those with `ok` true"""
    run = [*call(1, q="a"), *call(2, ok=False, q="b"), *call(3, tool="Pay", q="c")]
    assert success_rate(run) == Rate(ok=2, calls=3, retries=0)
    cut_short = [*call(1, ok=False, q="a"), asked("call_2", q="a")]
    assert success_rate(cut_short) == Rate(ok=0, calls=1, retries=0)


@pytest.mark.parametrize("events", [[], [{"trace_id": "r", "kind": "run_started"}]])
def test_no_calls_is_no_figure(success_rate, events):
    """without calls all three are 0, and `share` is None: no figure, not 0 %"""
    assert success_rate(events) == Rate(0, 0, 0)


def test_a_turn_that_nobody_could_read_is_no_call(success_rate):
    """skip an observation whose `call_id` is None: no call could be read"""
    unreadable = observed(None, ok=False, tool=None)
    moved = {"trace_id": "r", "kind": "transition", "call_id": "call_1"}
    assert success_rate([unreadable, *call(1), moved]) == Rate(1, 1, 0)


FAILED = call(1, ok=False, q="a")


def test_a_retry_is_the_same_call_after_a_failure(success_rate):
    """a call is a retry if the last call with the same tool and arguments has failed"""
    twice = [*FAILED, *call(2, ok=False, q="a")]
    assert success_rate([*twice, *call(3, q="a")]) == Rate(1, 3, 2)
    assert success_rate([*FAILED, *call(2, q="a"), *call(3, q="a")]) == Rate(2, 3, 1)
    others = [*call(2, q="b"), *call(3, tool="Pay", q="a")]
    assert success_rate([*FAILED, *others]) == Rate(2, 3, 0)


@pytest.mark.parametrize(
    ("again", "retries"), [({"b": [2], "a": 1}, 1), ({"a": "1", "b": [2]}, 0)]
)
def test_the_order_of_the_arguments_does_not_count(success_rate, again, retries):
    """arguments are equal in any order of their names; 1 and "1" are not equal"""
    run = [*call(1, ok=False, a=1, b=[2]), *call(2, **again)]
    assert success_rate(run) == Rate(ok=1, calls=2, retries=retries)


def test_calls_in_flight_at_once_are_no_retries(success_rate):
    """a call that was made before the failure was observed is no retry"""
    at_once = [asked("a", q="x"), asked("b", q="x")]
    run = [*at_once, observed("b", ok=False), observed("a")]
    assert success_rate(run) == Rate(ok=1, calls=2, retries=0)


def test_a_call_inside_another_is_not_the_agents_own(success_rate):
    """skip events with a `parent`: another call made them"""
    nested = inside(*call(2, ok=False, q="a"))
    run = [asked("call_1", q="a"), *nested, observed("call_1"), *call(3, q="a")]
    assert success_rate(run) == Rate(ok=2, calls=2, retries=0)


ONE_AFTER_THE_OTHER = [*FAILED, *call(1, run="s", q="a")]
MIXED = [asked("x", q="a"), asked("x", run="s", q="b"), observed("x", ok=False)]
MIXED += [observed("x", run="s"), *call(2, q="a")]


def test_events_of_several_runs(success_rate):
    """events of several runs may be mixed; a retry is of a call with its `trace_id`"""
    assert success_rate(ONE_AFTER_THE_OTHER) == Rate(1, 2, 0)
    assert success_rate(MIXED) == Rate(2, 3, 1)
