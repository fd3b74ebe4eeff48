"""Tokens, money and time: what a run may spend, asked before each call.

A call is asked for with the most that it may cost, and settled afterwards with what it
did cost. So no budget is ever exceeded, as long as the model keeps to its cap.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Literal

from workbook.fsm.limits import Limits, Spent
from workbook.guardrails.table import GuardEvent
from workbook.models.base import Usage, streams

MILLION = 1_000_000
LAST_PART = 0.2  # of a budget: from there on the model is to answer


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model's tokens cost on a date, per million of them; yours to look up."""

    currency: str
    date: str
    input: float
    output: float
    cached: float  # for input tokens that the server did not read again

    def __post_init__(self) -> None:
        if not all(0 <= n < math.inf for n in (self.input, self.output, self.cached)):
            raise ValueError(f"{self}: a price is a number from 0")

    def cost(self, usage: Usage) -> float:
        """Return what these tokens cost; cached ones are part of the input."""
        return float(self._cost(usage))

    def buys(self, money: float, before: Usage) -> float:
        """Return how many more tokens the model may write for what is left of money."""
        if not self.output or money == math.inf:
            return math.inf
        left = _exact(money) - self._cost(before)
        return math.floor(left * MILLION / _exact(self.output))

    def _cost(self, usage: Usage) -> Decimal:
        # In Decimal, since 3 * 0.1 is not 0.3 in floats, and reached is not exceeded.
        total = (usage.input - usage.cached) * _exact(self.input)
        total += usage.cached * _exact(self.cached)
        total += usage.output * _exact(self.output)
        return total / MILLION


def _exact(number: float) -> Decimal:
    """Return a number as it is written: 0.1 is a tenth."""
    return Decimal(str(number))


@dataclass(frozen=True, slots=True)
class Budget(Limits):
    """The most that a run may spend: `Limits`, with tokens and money.

    Raises:
        ValueError: nothing at all to spend, or money without prices.
    """

    input_tokens: float = math.inf  # of all prompts together
    output_tokens: float = math.inf
    tokens: float = math.inf  # input and output
    money: float = math.inf  # in the currency of the prices
    model_s: float = math.inf  # seconds for one model call
    prices: Prices | None = None

    def __post_init__(self) -> None:
        Limits.__post_init__(self)
        for name in ("input_tokens", "output_tokens", "tokens", "money", "model_s"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)}: give more than 0")
        if self.money < math.inf and self.prices is None:
            raise ValueError(f"money is {self.money}, and prices is None: give Prices")

    @property
    def counts_tokens(self) -> bool:
        """Whether tokens or money are limited, so that they have to be counted."""
        most = (self.input_tokens, self.output_tokens, self.tokens, self.money)
        return min(most) < math.inf

    def check_model(self, model: Any) -> None:
        """Raise ValueError for a model that nothing keeps within tokens or money."""
        if self.counts_tokens and not streams(model):
            raise ValueError(
                f"{getattr(model, 'name', model)} takes no max_tokens, so that nothing"
                " keeps it within tokens or money: give it that argument, and say"
                " `streams = True`, or give a budget without"
            )


@dataclass(frozen=True, slots=True)
class NextCall:
    """What is asked for: one call, and the most tokens that it may cost."""

    kind: Literal["model", "tool"]
    input_tokens: int = 0  # of its prompt
    output_tokens: int = 0  # the cap; 1 to ask whether it may begin


def within_budget(spent: Spent, budget: Budget, next_call: NextCall) -> str | None:
    """Return what would run out with the next call, or None where it is allowed.

    Reached exactly is not exceeded; but a call takes time, so there must be some left.
    A tool costs no tokens: it is refused for its number and for time alone.

    >>> within_budget(Spent(steps=2), Budget(steps=2), NextCall("model"))
    'out_of_steps'
    """
    if next_call.kind == "tool":
        return budget.before_tool_call(spent)
    if ran_out := budget.before_model_call(spent):
        return ran_out
    usage = spent.usage + Usage(next_call.input_tokens, next_call.output_tokens)
    if (
        usage.input > budget.input_tokens
        or usage.output > budget.output_tokens
        or usage.input + usage.output > budget.tokens
    ):
        return GuardEvent.OUT_OF_TOKENS
    if budget.prices and budget.prices.cost(usage) > budget.money:
        return GuardEvent.OUT_OF_MONEY
    return None


def room(spent: Spent, budget: Budget, input_tokens: int) -> int | None:
    """Return how many tokens the model may write, or None where nothing limits it.

    That is the cap of a call whose prompt has so many tokens, once `within_budget` has
    allowed it with one token to write.
    """
    usage = spent.usage + Usage(input_tokens)
    left = [budget.output_tokens - usage.output]
    left.append(budget.tokens - usage.input - usage.output)
    if budget.prices:
        left.append(budget.prices.buys(budget.money, usage))
    most = min(left)
    return None if most == math.inf else max(0, math.floor(most))


def last_turn(spent: Spent, budget: Budget, input_tokens: int = 0) -> dict[str, str]:
    """Return the decision that this turn is the last to be paid; {} where it is not.

    A prompt of `input_tokens`, which is about to be sent, counts as spent. `short_of`
    is what there is too little of: where that is seconds, a replay knows that a clock
    has decided.
    """
    decision = {"who": "budget", "what": "tools withdrawn"}
    if spent.steps + 1 >= budget.steps:
        return {**decision, "why": "it is the last step", "short_of": "steps"}
    if spent.tool_calls + 1 > budget.tool_calls:
        return {**decision, "why": "no tool call is left", "short_of": "tool calls"}
    usage, prices = spent.usage + Usage(input_tokens), budget.prices
    used = {
        "input tokens": usage.input / budget.input_tokens,
        "output tokens": usage.output / budget.output_tokens,
        "tokens": (usage.input + usage.output) / budget.tokens,
        "seconds": spent.wall_s / budget.wall_s,
        "money": prices.cost(usage) / budget.money if prices else 0.0,
    }
    what = max(used, key=lambda name: used[name])
    if 1 - used[what] > LAST_PART:
        return {}
    why = f"this prompt leaves at most {LAST_PART:.0%} of the {what}"
    return {**decision, "why": why, "short_of": what}
