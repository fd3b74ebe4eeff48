"""What a run has spent, and what its limits leave; read from its events alone."""

import itertools
from typing import NamedTuple

from workbook.fsm.table import Table
from workbook.guardrails.budget import Prices
from workbook.guardrails.table import GuardState
from workbook.models.base import Usage
from workbook.traces import Kind, TraceEvent


class Budget(NamedTuple):
    """What was spent of one thing, and is left; without a limit both are None."""

    name: str
    spent: float
    limit: float | None
    left: float | None
    reserved: float = 0  # of what is left, by the call that is being made


def budgets(seen: list[TraceEvent], table: Table | None) -> list[Budget]:
    """Return what was spent, not counting calls closed unmade, and what is left."""
    if not seen:
        return []
    ends: frozenset[str | None] = frozenset(table.ends if table else ())
    live = itertools.takewhile(lambda event: event.get("target") not in ends, seen)
    kinds = [event["kind"] for event in live if "parent" not in event]
    limits = seen[0].get("limits") or {}
    own = [event for event in seen if "parent" not in event]
    turns = [e["usage"] or {} for e in own if e["kind"] == Kind.MODEL_TURN]
    names = ("input", "output", "cached")
    usage = Usage(*(sum(u.get(name, 0) for u in turns) for name in names))
    spent = {
        "steps": kinds.count(Kind.MODEL_REQUEST),
        "tool_calls": kinds.count(Kind.TOOL_CALL),
        "wall_s": seen[-1]["at_s"] - seen[0]["at_s"] - _waited_s(seen),
    }
    tokens = {"input_tokens": usage.input, "output_tokens": usage.output}
    tokens["tokens"] = usage.input + usage.output
    spent |= {name: n for name, n in tokens.items() if limits.get(name) is not None}
    asks = seen[-1]["kind"] == Kind.MODEL_REQUEST
    cap = seen[-1].get("max_tokens", 0) if asks else 0
    reserved = {"output_tokens": cap, "tokens": cap}
    if limits.get("money") is not None:
        prices = Prices(**limits["prices"])
        spent["money"] = prices.cost(usage)
        reserved["money"] = prices.cost(Usage(0, cap))
    found = []
    for name, used in spent.items():
        limit = limits.get(name)
        left = None if limit is None else max(0, limit - used)
        found.append(Budget(name, used, limit, left, reserved.get(name, 0)))
    return found


def _waited_s(events: list[TraceEvent]) -> float:
    """Return how long a person was waited for, which is not the run's time."""
    return sum(
        float(after["at_s"] - before["at_s"])
        for before, after in itertools.pairwise(events)
        if before.get("target") == GuardState.PENDING_APPROVAL
    )
