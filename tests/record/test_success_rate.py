"""The success rate: of how many calls, and which of them were retries."""

import pytest

from workbook.record.figures import Rate


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
    """`calls` are the tool calls with an observation, `ok` those whose `ok` is true"""
    run = [*call(1, q="a"), *call(2, ok=False, q="b"), *call(3, tool="Pay", q="c")]
    assert success_rate(run) == Rate(ok=2, calls=3, retries=0)


@pytest.mark.parametrize("events", [[], [{"trace_id": "r", "kind": "run_started"}]])
def test_no_calls_is_no_figure(success_rate, events):
    """without calls all three are 0, so that `share` is None: no figure, and not 0 %"""
    rate = success_rate(events)
    assert rate == Rate(0, 0, 0)
    assert rate.share is None


def test_a_turn_that_nobody_could_read_is_no_call(success_rate):
    """an observation whose `call_id` is None is of no call: a turn nobody could read

    perhaps: you count all observations, or read `transition` events as calls"""
    unreadable = observed(None, ok=False, tool=None)
    moved = {"trace_id": "r", "kind": "transition", "call_id": "call_1"}
    assert success_rate([unreadable, *call(1), moved]) == Rate(1, 1, 0)


def test_a_call_without_an_observation_is_not_counted(success_rate):
    """a call without an observation counts nowhere, and not as a retry either

    perhaps: you count it where it is asked, and not where it is observed"""
    cut_short = [*call(1, ok=False, q="a"), asked("call_2", q="a")]
    assert success_rate(cut_short) == Rate(ok=0, calls=1, retries=0)


def test_a_retry_is_the_same_call_after_a_failure(success_rate):
    """a retry has the tool and the arguments of a call that has failed the last time

    perhaps: the arguments stand in `tool_call`, and the call_id says whose they are"""
    run = [*call(1, ok=False, q="a"), *call(2, ok=False, q="a"), *call(3, q="a")]
    assert success_rate(run) == Rate(ok=1, calls=3, retries=2)
    assert success_rate(run + call(4, q="a")) == Rate(ok=2, calls=4, retries=2)
    others = [*call(2, q="b"), *call(3, tool="Pay", q="a")]
    assert success_rate(call(1, ok=False, q="a") + others).retries == 0


def test_the_order_of_the_arguments_does_not_count(success_rate):
    """the same arguments in another order are the same, and 1 is not "1"

    perhaps: a value may be a list or a dict, which no set can hold; a text of it can"""
    failed = call(1, ok=False, a=1, b=[2])
    assert success_rate([*failed, *call(2, b=[2], a=1)]).retries == 1
    assert success_rate([*failed, *call(2, a="1", b=[2])]).retries == 0


def test_calls_in_flight_at_once_are_no_retries(success_rate):
    """what was asked for before the failure was observed is no retry

    perhaps: you look for failures where the observation comes, not where it is asked"""
    at_once = [asked("a", q="x"), asked("b", q="x")]
    run = [*at_once, observed("b", ok=False), observed("a")]
    assert success_rate(run) == Rate(ok=1, calls=2, retries=0)


def test_a_call_inside_another_is_not_the_agents_own(success_rate):
    """what has a `parent` was called inside another call: it is not the agent's own"""
    nested = inside(*call(2, ok=False, q="a"))
    run = [asked("call_1", q="a"), *nested, observed("call_1"), *call(3, q="a")]
    assert success_rate(run) == Rate(ok=2, calls=2, retries=0)


def test_events_of_several_runs(success_rate):
    """events of several runs may follow each other; a retry is one within its run

    perhaps: call_ids are alike in all runs; `trace_id` tells them apart"""
    runs = [*call(1, ok=False, q="a"), *call(1, run="s", q="a")]
    assert success_rate(iter(runs)) == Rate(ok=1, calls=2, retries=0)
    mixed = [asked("x", q="a"), asked("x", run="s", q="b"), observed("x", ok=False)]
    mixed += [observed("x", run="s"), *call(2, q="a")]
    assert success_rate(mixed) == Rate(ok=2, calls=3, retries=1)
