"""What a run may spend: asked before a call, settled after it, never exceeded."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.fsm.limits import Limits, Spent
from workbook.fsm.table import Event
from workbook.guardrails.budget import (
    OUT_OF_MONEY,
    OUT_OF_TOKENS,
    Budget,
    NextCall,
    Prices,
    room,
    share_left,
)
from workbook.guardrails.budget import within_budget as ours
from workbook.models.base import Usage
from workbook.models.local import LocalTextModel
from workbook.models.prompts import count_tokens
from workbook.models.script import Script

PRICES = Prices("EUR", "2026-11-01", input=0.1, output=3.0, cached=0.02)
TOOL, MODEL = NextCall("tool"), NextCall("model")


def spent(read=0, written=0, cached=0, **others):
    return Spent(usage=Usage(read, written, cached), **others)


# the exercise


@pytest.mark.parametrize(
    ("call", "used", "limits", "word"),
    [
        (MODEL, Spent(steps=4), Budget(steps=5), None),
        (MODEL, Spent(steps=5), Budget(steps=5), Event.OUT_OF_STEPS),
        (TOOL, Spent(tool_calls=1), Budget(tool_calls=2), None),
        (TOOL, Spent(tool_calls=2), Budget(tool_calls=2), Event.OUT_OF_TOOL_CALLS),
    ],
)
def test_the_next_call_counts(within_budget, call, used, limits, word):
    """with steps=5, five model calls are allowed, a sixth is not; tool calls alike"""
    assert within_budget(used, limits, call) == word


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
    """once wall_s is reached, no call of either kind is allowed: each takes time"""
    assert within_budget(Spent(wall_s=wall_s), Budget(wall_s=2), call) == word


@pytest.mark.parametrize(
    ("limit", "most"), [("input_tokens", 130), ("output_tokens", 70), ("tokens", 200)]
)
def test_tokens_are_asked_for_before(within_budget, limit, most):
    """add what the call may read and write to what is spent: a limit may be reached"""
    used, call = spent(100, 50), NextCall("model", 30, 20)
    assert within_budget(used, Budget(**{limit: most}), call) is None
    assert within_budget(used, Budget(**{limit: most - 1}), call) == OUT_OF_TOKENS


@pytest.mark.parametrize(("money", "word"), [(0.31, None), (0.309, OUT_OF_MONEY)])
def test_money_is_the_cost_of_all_tokens(within_budget, money, word):
    """all tokens, those of the next call included, may cost `money` and no more"""
    limits = Budget(money=money, prices=PRICES)  # 0.1 for the input, 0.21 to write
    call = NextCall("model", 400_000, 20_000)
    assert within_budget(spent(600_000, 50_000), limits, call) == word


def test_a_tool_costs_no_tokens(within_budget):
    """a tool call is allowed even when no tokens and no money are left"""
    limits = Budget(tokens=10, money=0.000001, prices=PRICES)
    assert within_budget(spent(900, 900), limits, TOOL) is None


# the cap


@pytest.mark.parametrize(
    ("limits", "cap"),
    [
        (Budget(), None),
        (Budget(prices=PRICES), None),
        (Budget(input_tokens=1000), None),
        (Budget(tokens=200), 20),
        (Budget(output_tokens=60), 10),
        (Budget(tokens=200, output_tokens=60), 10),
        (Budget(tokens=10), 0),
        (Budget(tokens=180.5), 0),
    ],
)
def test_the_cap_is_what_is_left(limits, cap):
    """after 100 and 50 tokens, with a prompt of 30, the model may write what is left"""
    assert room(spent(100, 50), limits, 30) == cap


def test_money_is_counted_to_the_last_token():
    """a cap for money is the most that it buys: three times 0.1 is 0.3 here"""
    limits = Budget(money=0.3, prices=Prices("EUR", "d", 0, 100_000, 0))
    assert room(Spent(), limits, 1) == 3
    assert ours(Spent(), limits, NextCall("model", 1, 3)) is None
    assert ours(Spent(), limits, NextCall("model", 1, 4)) == OUT_OF_MONEY


def test_writing_for_nothing_is_not_capped():
    """where only reading costs, money does not limit what is written"""
    limits = Budget(money=1, prices=Prices("EUR", "d", 1, 0, 0))
    assert room(Spent(), limits, 10) is None


NUMBER = st.integers(1, 400) | st.just(math.inf)
PRICE = st.sampled_from([0, 0.1, 0.15, 3, 60, 1e5, 0.6e5])
BUDGETS = st.builds(
    Budget,
    input_tokens=NUMBER,
    output_tokens=NUMBER,
    tokens=NUMBER | st.floats(0.1, 400),
    money=st.sampled_from([0.3, 1e-5, 3e-7, 30, math.inf]),
    prices=st.builds(Prices, st.just("EUR"), st.just("d"), PRICE, PRICE, st.just(0)),
)


@given(BUDGETS, st.integers(0, 200), st.integers(0, 200), st.integers(0, 100))
def test_the_cap_is_the_most_that_is_allowed(budget, read, written, prompt):
    """a call with that cap is within the budget, and with one token more it is not"""
    used = spent(read, written)
    if ours(used, budget, NextCall("model", prompt)) is None:
        cap = room(used, budget, prompt)
        assert cap is None or cap >= 0
        if cap is None:
            assert ours(used, budget, NextCall("model", prompt, 10**9)) is None
        else:
            assert ours(used, budget, NextCall("model", prompt, cap)) is None
            assert ours(used, budget, NextCall("model", prompt, cap + 1))


@settings(deadline=None)
@given(BUDGETS, st.lists(st.text("abc ", max_size=300), min_size=1), st.integers(1, 99))
def test_a_budget_is_never_exceeded(budget, turns, steps):
    """whatever the model would say, and whatever the limits are, the budget holds"""
    budget = Budget(**{**{n: getattr(budget, n) for n in FIELDS}, "steps": steps})
    model, used, prompt = Script(turns, loop=True), Spent(), "Question: 2+2\n"
    for _ in range(2 * len(turns)):
        size = model.count(prompt)
        if ours(used, budget, NextCall("model", size, 1)):
            break
        cap = room(used, budget, size)
        reply = model.complete(prompt, max_tokens=cap)
        used.steps += 1
        used.usage += reply.usage
        prompt += reply.text
        assert used.steps <= budget.steps
        assert used.usage.input <= budget.input_tokens
        assert used.usage.output <= budget.output_tokens
        assert used.usage.input + used.usage.output <= budget.tokens
        assert budget.prices.cost(used.usage) <= budget.money
        assert 0 <= share_left(used, budget) <= 1


FIELDS = ("input_tokens", "output_tokens", "tokens", "money", "prices")


def test_a_capped_model_spends_2000_tokens_and_no_more():
    """with tokens=2000 a model that would write for ever is cut at the last token"""
    model, used, budget = Script(["a" * 40_000]), Spent(), Budget(tokens=2000)
    size = model.count("Question")
    used.usage += model.complete("Question", max_tokens=room(used, budget, size)).usage
    assert used.usage.input + used.usage.output == 2000
    assert ours(used, budget, NextCall("model", 0, 1)) == OUT_OF_TOKENS
    assert count_tokens("a" * 40_000) == 10_000


@pytest.mark.parametrize("tokens", [3, 40, 41])
def test_a_real_model_spends_no_more_either(tokens):
    """the local model counts its prompt before, keeps to its cap, and ends exactly"""
    endless = LocalTextModel(grammar='root ::= "a" root')
    used, budget, prompt = Spent(), Budget(tokens=tokens), "Go"
    size = endless.count(prompt)
    while ours(used, budget, NextCall("model", size, 1)) is None:
        cap = room(used, budget, size)
        reply = endless.complete(prompt, max_tokens=min(9, cap))
        used.usage += reply.usage
        prompt += reply.text
        size = endless.count(prompt)
    total = used.usage.input + used.usage.output
    assert total <= tokens < total + size + 1


# what is left


@pytest.mark.parametrize(
    ("used", "share"),
    [
        (Spent(), 1.0),
        (spent(100, 60), 0.2),  # tokens: 160 of 200
        (spent(0, 0, wall_s=9.0), 0.1),
        (spent(0, 10), 0.9),  # money: 0.00003 of 0.0003; output: 10 of 100
        (spent(900, 900), 0.0),
    ],
)
def test_the_share_left_is_that_of_the_scarcest(used, share):
    """of tokens, money and time, the one that ends first counts"""
    limits = Budget(
        tokens=200, output_tokens=100, wall_s=10, money=0.0003, prices=PRICES
    )
    assert share_left(used, limits) == pytest.approx(share)


def test_without_limits_all_is_left():
    """no limit leaves the whole share, whatever was spent"""
    assert share_left(spent(10**9, 10**9), Budget(wall_s=math.inf)) == 1.0


# prices and nonsense


def test_cached_tokens_have_a_price_of_their_own():
    """what the server did not read again is part of the input, and costs less"""
    assert PRICES.cost(Usage(1_000_000, 0, 0)) == 0.1
    assert PRICES.cost(Usage(1_000_000, 0, 500_000)) == 0.06
    assert PRICES.cost(Usage(0, 1_000_000)) == 3.0


@pytest.mark.parametrize("price", [-1, math.nan, math.inf])
def test_a_price_is_a_number_from_0(price):
    """a negative price, or none that is a number, is refused"""
    with pytest.raises(ValueError, match="from 0"):
        Prices("EUR", "d", price, 1, 1)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"tokens": 0}, "tokens is 0"),
        ({"money": -1, "prices": PRICES}, "money is -1"),
        ({"model_s": math.nan}, "model_s is nan"),
        ({"money": 1}, "give Prices"),
        ({"steps": 0}, "at least 1 step"),
    ],
)
def test_a_budget_that_makes_no_sense_is_refused(wrong, words):
    """nothing to spend, or money without prices, is a mistake and is said to be one"""
    with pytest.raises(ValueError, match=words):
        Budget(**wrong)


def test_a_budget_is_limits_with_more():
    """a machine takes it as its limits, and a trace writes null for no limit"""
    budget = Budget(steps=2, tokens=9, prices=PRICES)
    assert isinstance(budget, Limits)
    assert budget.before_model_call(Spent(steps=2)) == Event.OUT_OF_STEPS
    data = budget.as_data()
    assert (data["tokens"], data["money"]) == (9, None)
    assert data["prices"]["currency"] == "EUR"
