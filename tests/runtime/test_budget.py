"""What a run may spend: asked before a call, settled after it, never exceeded."""

import math

import pytest

from workbook.runtime.budget import Budget, NextCall, Prices, Spent, last_turn, room
from workbook.runtime.model import Usage
from workbook.runtime.table import Event

PRICES = Prices("EUR", "2026-11-01", input=0.1, output=3.0, cached=0.02)
TOOL, MODEL = NextCall("tool"), NextCall("model")


def spent(read=0, written=0, cached=0, **others):
    return Spent(usage=Usage(read, written, cached), **others)


def test_the_next_call_counts(within_budget):
    """steps=5 allows five model calls, tool_calls=5 five tool calls, and no sixth"""
    steps, tools = Budget(steps=5), Budget(tool_calls=2)
    assert within_budget(Spent(steps=4), steps, MODEL) is None
    assert within_budget(Spent(steps=5), steps, MODEL) == Event.OUT_OF_STEPS
    assert within_budget(Spent(tool_calls=1), tools, TOOL) is None
    assert within_budget(Spent(tool_calls=2), tools, TOOL) == Event.OUT_OF_TOOL_CALLS


@pytest.mark.parametrize(
    ("call", "used"), [(TOOL, Spent(steps=5)), (MODEL, Spent(tool_calls=2))]
)
def test_each_kind_has_its_own_number(within_budget, call, used):
    """steps do not limit tool calls, and tool_calls do not limit model calls"""
    assert within_budget(used, Budget(steps=5, tool_calls=2), call) is None


@pytest.mark.parametrize("call", [TOOL, MODEL])
@pytest.mark.parametrize(
    ("wall_s", "word"), [(1.9, None), (2.0, Event.OUT_OF_TIME), (9.0, "out_of_time")]
)
def test_a_call_needs_some_time(within_budget, call, wall_s, word):
    """once `spent.wall_s` has reached `budget.wall_s`, no call is allowed"""
    assert within_budget(Spent(wall_s=wall_s), Budget(wall_s=2), call) == word


@pytest.mark.parametrize(
    ("limit", "most"), [("input_tokens", 130), ("output_tokens", 70), ("tokens", 200)]
)
def test_tokens_are_asked_for_before(within_budget, limit, most):
    """tokens spent plus tokens of the next call may equal each limit, not exceed it"""
    used, call = spent(100, 50), NextCall("model", 30, 20)
    assert within_budget(used, Budget(**{limit: most}), call) is None
    assert within_budget(used, Budget(**{limit: most - 1}), call) == "out_of_tokens"


@pytest.mark.parametrize(
    ("money", "cached", "word"),
    [
        (0.31, 0, None),
        (0.309, 0, "out_of_money"),
        (0.262, 600_000, None),
        (0.261, 600_000, "out_of_money"),
    ],
)
def test_money_is_the_cost_of_all_tokens(within_budget, money, cached, word):
    """the price of all these tokens together may equal `money`, not exceed it"""
    limits = Budget(money=money, prices=PRICES)  # 0.1 for the input, 0.21 to write
    call = NextCall("model", 400_000, 20_000)
    assert within_budget(spent(600_000, 50_000, cached), limits, call) == word


def test_a_tool_costs_no_tokens(within_budget):
    """a tool call is allowed even when no tokens and no money are left"""
    limits = Budget(tokens=10, money=0.000001, prices=PRICES)
    assert within_budget(spent(900, 900), limits, TOOL) is None


def test_the_cap_is_what_is_left():
    """after 100 and 50 tokens, with a prompt of 30, the model may write what is left"""

    def cap(**limits):
        return room(spent(100, 50), Budget(**limits), 30)

    assert cap() is None
    assert cap(money=1, prices=Prices("EUR", "d", 1, 0, 0)) is None
    assert cap(input_tokens=1000) is None
    assert (cap(tokens=200), cap(output_tokens=60)) == (20, 10)
    assert cap(tokens=10) == cap(tokens=180.5) == 0
    assert cap(money=0.000173, prices=PRICES) == 3  # 0.000163 are spent, 3.3 are left


LEFT = "this prompt leaves at most 20% of the {}"


@pytest.mark.parametrize(
    ("used", "prompt", "short"),
    [
        (Spent(steps=98, tool_calls=99), 0, None),
        (Spent(steps=99), 0, "it is the last step"),
        (Spent(tool_calls=100), 0, "no tool call is left"),
        (spent(100, 59), 0, None),
        (spent(100, 60), 0, LEFT.format("tokens")),  # 160 of 200
        (spent(0, 20), 120, LEFT.format("input tokens")),  # 120 of 150
        (spent(0, 80), 0, LEFT.format("output tokens")),  # 80 of 100
        (spent(0, 0, wall_s=7.9), 0, None),
        (spent(0, 0, wall_s=8.0), 0, LEFT.format("seconds")),
        (spent(900, 900), 0, LEFT.format("money")),  # 9.3 times what there is
    ],
)
def test_the_last_turn_is_where_a_fifth_is_left_of_what_is_scarcest(
    used, prompt, short
):
    """of steps, calls, tokens, money and time, the one that ends first is named"""
    most = {"input_tokens": 150, "output_tokens": 100, "tokens": 200, "wall_s": 10}
    limits = Budget(100, 100, money=0.0003, prices=PRICES, **most)
    assert last_turn(used, limits, prompt) == short


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tokens": 0}, "tokens is 0"),
        ({"money": -1, "prices": PRICES}, "money is -1"),
        ({"model_s": math.nan}, "model_s is nan"),
        ({"money": 1}, "give Prices"),
        ({"steps": 0}, "at least 1 step"),
        ({"wall_s": math.nan}, "at least 1 step"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(wrong, words):
    """nothing to spend, or money without prices, is a mistake, and the error says so"""
    with pytest.raises(ValueError, match=words):
        Budget(**wrong)
    for price in (-1, math.nan, math.inf):
        with pytest.raises(ValueError, match="from 0"):
            Prices("EUR", "d", price, 1, 1)
