"""Limits and budgets: what a run may spend, asked before each call and never after.

A model call is asked for with all that is sent, and the most that may be written. So no
budget is exceeded, as long as the model keeps to its cap and counts as it bills.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Literal, NamedTuple

from .guard import Guard
from .model import Usage
from .table import Event, Transition

MILLION = 1_000_000
LAST_PART = 0.2  # of a budget: from there on the model is to answer
WITHDRAWN = (
    "No tool can be called any more. Write your Final Answer now, with what you know."
)


@dataclass(slots=True)
class Spent:
    """What a run has used up; calls that raised or were refused cost too."""

    steps: int = 0  # model calls
    tool_calls: int = 0
    wall_s: float = 0.0  # seconds since the start, without those of a person
    usage: Usage = field(default_factory=Usage)  # tokens, as the model counts them


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may spend; `math.inf` is no limit. May be a ValueError."""

    steps: float = 15
    tool_calls: float = 30
    wall_s: float = 120.0

    def __post_init__(self) -> None:
        if not (self.steps >= 1 and self.tool_calls >= 0 and self.wall_s > 0):
            least = "at least 1 step, 0 tool calls or more, and some time"
            raise ValueError(f"{self}: a run needs {least}")

    def to_dict(self) -> dict[str, Any]:
        """Return the limits as JSON has them: null for no limit."""
        return {name: None if n == math.inf else n for name, n in asdict(self).items()}

    def before_model_call(self, spent: Spent) -> str | None:
        """Return what has run out, or None while another model call is allowed."""
        if spent.steps + 1 > self.steps:
            return Event.OUT_OF_STEPS
        return Event.OUT_OF_TIME if spent.wall_s >= self.wall_s else None

    def before_tool_call(self, spent: Spent) -> str | None:
        """Return what has run out, or None while another tool call is allowed."""
        if spent.tool_calls + 1 > self.tool_calls:
            return Event.OUT_OF_TOOL_CALLS
        return Event.OUT_OF_TIME if spent.wall_s >= self.wall_s else None


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
        total = (usage.input - usage.cached) * self.input
        total += usage.cached * self.cached + usage.output * self.output
        return round(total / MILLION, 12)  # 3 times 0.1 is 0.3, and not above it


@dataclass(frozen=True, slots=True)
class Budget(Limits):
    """The most that a run may spend: `Limits`, with tokens and money. ValueError."""

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


def limits_of(settings: Mapping[str, Any]) -> Limits:
    """Return the limits that `to_dict` has written; those of tokens make a Budget."""
    most: dict[str, Any] = {
        n: math.inf if v is None else v for n, v in settings.items() if n != "converge"
    }
    if "tokens" not in most:
        return Limits(**most)
    given = settings["prices"]
    return Budget(**most | {"prices": given and Prices(**given)})


def check_budget(limits: Limits, model: Any, guards: Sequence[Guard]) -> None:
    """Raise ValueError where nothing keeps a run within tokens or money."""
    if not (isinstance(limits, Budget) and limits.counts_tokens):
        return
    if not any(guard.name == "limits" for guard in guards):
        raise ValueError(f"nothing keeps {limits}: give it to the guard, budget(…)")
    if not getattr(model, "streams", False):
        raise ValueError(
            f"{getattr(model, 'name', model)} takes no max_tokens, so that nothing"
            " keeps it within tokens or money: give it that argument, and say"
            " `streams = True`, or give a budget without"
        )


class NextCall(NamedTuple):
    """What is asked for: one call, and the most tokens that it may cost."""

    kind: Literal["model", "tool"]
    input_tokens: int = 0  # of its prompt
    output_tokens: int = 0  # the cap; 1 to ask whether it may begin


def within_budget(spent: Spent, budget: Budget, next_call: NextCall) -> str | None:
    """Return what would run out with the next call, or None where it is allowed."""
    if next_call.kind == "tool":
        return budget.before_tool_call(spent)
    if ran_out := budget.before_model_call(spent):
        return ran_out
    usage = spent.usage + Usage(next_call.input_tokens, next_call.output_tokens)
    is_long = usage.input > budget.input_tokens or usage.output > budget.output_tokens
    if is_long or usage.input + usage.output > budget.tokens:
        return "out_of_tokens"
    if budget.prices and budget.prices.cost(usage) > budget.money:
        return "out_of_money"
    return None


def room(spent: Spent, budget: Budget, input_tokens: int) -> int | None:
    """Return how many tokens the model may write after a prompt; None: no limit."""
    usage = spent.usage + Usage(input_tokens)
    left = [budget.output_tokens - usage.output]
    left.append(budget.tokens - usage.input - usage.output)
    if budget.prices and budget.prices.output and budget.money < math.inf:
        money = budget.money - budget.prices.cost(usage)
        left.append(round(money * MILLION / budget.prices.output, 9))
    most = min(left)
    return None if most == math.inf else max(0, math.floor(most))


def last_turn(spent: Spent, budget: Budget, input_tokens: int = 0) -> str | None:
    """Return why this turn, with its prompt, is the last that can be paid, or None."""
    if spent.steps + 1 >= budget.steps:
        return "it is the last step"
    if spent.tool_calls + 1 > budget.tool_calls:
        return "no tool call is left"
    usage, prices = spent.usage + Usage(input_tokens), budget.prices
    shares = {
        "input tokens": usage.input / budget.input_tokens,
        "output tokens": usage.output / budget.output_tokens,
        "tokens": (usage.input + usage.output) / budget.tokens,
        "seconds": spent.wall_s / budget.wall_s,
        "money": prices.cost(usage) / budget.money if prices else 0.0,
    }
    what = max(shares, key=lambda name: shares[name])
    if 1 - shares[what] > LAST_PART:
        return None
    return f"this prompt leaves at most {LAST_PART:.0%} of the {what}"


def budget(limits: Budget = Budget(), converge: bool = True) -> Guard:
    """Return the guard of a budget; `converge`: the last turn is to be the answer."""
    T = Transition  # noqa: N806
    rows = [
        T("THINK", "out_of_tokens", "EXHAUSTED", "no tokens are left for a turn"),
        T("THINK", "out_of_money", "EXHAUSTED", "no money is left for a turn"),
        T("EXECUTE_TOOL", "denied", "OBSERVE", "the model reads why not"),
        T("OBSERVE", "not_converged", "EXHAUSTED", "it was to answer, and did not"),
    ]
    asks = {"THINK": _before_model, "EXECUTE_TOOL": _before_tool}
    end = "not_converged"
    asks["OBSERVE"] = lambda run: end if run.forced and not run.waiting else None
    settings = limits.to_dict() | {"converge": converge}
    return Guard("limits", asks, rows, settings=settings)


def _before_model(run: Any) -> str | None:
    limits, spent = run.limits, run.elapsed()
    size = run.size() if limits.counts_tokens else 0
    converge = run.settings["limits"]["converge"] and not run.forced
    if converge and (why := last_turn(spent, limits, size)):
        run.journal.emit("decision", who="budget", what="tools withdrawn", why=why)
        run.withdraw_tools(WITHDRAWN)
        again: str | None = run.machine.ask_guards("THINK", run)  # the prompt has grown
        return again
    call = NextCall("model", size, output_tokens=1)
    ran_out: str | None = run.part(within_budget)(spent, limits, call)
    if ran_out is None:
        run.max_tokens = room(spent, limits, size)
    return ran_out


def _before_tool(run: Any) -> str | None:
    if run.forced:
        name = run.waiting[0].call.name
        message = f"{name} was not called: the tools have been withdrawn."
        run.refuse("withdrawn", message, hint="The run ends here.")
        return "denied"
    may_it, call = run.part(within_budget), NextCall("tool")
    ran_out: str | None = may_it(run.elapsed(), run.limits, call)
    return ran_out
