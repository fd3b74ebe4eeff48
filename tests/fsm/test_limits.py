"""What a run may spend: reached is allowed, exceeded is not."""

import math

import pytest

from workbook.fsm.limits import Limits, Spent
from workbook.fsm.table import Event


@pytest.mark.parametrize(
    ("steps", "event"), [(0, None), (4, None), (5, Event.OUT_OF_STEPS)]
)
def test_exactly_so_many_model_calls(steps, event):
    """with steps=5 the fifth model call is allowed and the sixth is not"""
    assert Limits(steps=5).before_model_call(Spent(steps=steps)) == event


@pytest.mark.parametrize(
    ("calls", "event"), [(0, None), (1, None), (2, Event.OUT_OF_TOOL_CALLS)]
)
def test_exactly_so_many_tool_calls(calls, event):
    """with tool_calls=2 the second tool call is allowed and the third is not"""
    assert Limits(tool_calls=2).before_tool_call(Spent(tool_calls=calls)) == event


@pytest.mark.parametrize(("wall_s", "event"), [(1.9, None), (2, Event.OUT_OF_TIME)])
def test_time_is_asked_before_either(wall_s, event):
    """when the time is used up, neither a model call nor a tool call begins"""
    limits, spent = Limits(wall_s=2), Spent(wall_s=wall_s)
    assert limits.before_model_call(spent) == event
    assert limits.before_tool_call(spent) == event


@pytest.mark.parametrize("most", [1.5, 2, 2.5])
def test_what_is_spent_is_never_more_than_the_limit(most):
    """a limit between two whole numbers is not rounded up"""
    limits, spent = Limits(steps=most, tool_calls=most), Spent()
    while limits.before_model_call(spent) is None:
        spent.steps += 1
    while limits.before_tool_call(spent) is None:
        spent.tool_calls += 1
    assert spent.steps == spent.tool_calls == math.floor(most)


def test_no_limit():
    """infinity is no limit"""
    limits = Limits(math.inf, math.inf, math.inf)
    spent = Spent(10**9, 10**9, 1e9)
    assert limits.before_model_call(spent) is None
    assert limits.before_tool_call(spent) is None


def test_limits_are_valid_json():
    """JSON has no infinity: no limit is null in a trace"""
    data = {"steps": None, "tool_calls": 3, "wall_s": 2.5}
    assert Limits(math.inf, 3, 2.5).as_data() == data


def test_a_limit_may_be_a_number_of_any_size():
    """a number too large for a float is a limit like any other"""
    assert Limits(steps=10**400).as_data()["steps"] == 10**400


@pytest.mark.parametrize(
    "wrong",
    [
        {"steps": 0},
        {"steps": -1},
        {"tool_calls": -1},
        {"wall_s": 0},
        {"wall_s": math.nan},
    ],
)
def test_limits_that_make_no_sense_are_refused(wrong):
    """a limit that allows nothing at all is a mistake, and is said to be one"""
    with pytest.raises(ValueError, match="at least 1 step"):
        Limits(**wrong)
