"""What a run may spend: reached is allowed, exceeded is not."""

import math

import pytest

from workbook.fsm.limits import Limits, Spent
from workbook.fsm.table import Event


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
    assert Limits(math.inf, 3, 2.5).to_dict() == data


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
