"""Figures of any number of runs, each with how many it is of.

Runs are read one after the other and their events one by one, so a folder may be larger
than memory. While a run is read, a few numbers are kept of each of its calls.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.models.base import Usage
from workbook.record.equivalence import observed
from workbook.record.events import Kind, TraceEvent
from workbook.record.show import Tables
from workbook.record.trace import Run, Runs, each_run, whole_events

if TYPE_CHECKING:
    import pandas as pd

ALWAYS = -math.inf, math.inf


def state_times(events: Iterable[TraceEvent]) -> dict[str, list[float]]:
    """Return the seconds of each stay in each state, the states in order.

    >>> state_times([{"kind": "transition", "source": "THINK", "elapsed_s": 0.5}])
    {'THINK': [0.5]}
    """
    stays: dict[str, list[float]] = {}
    for event in events:
        if event["kind"] == "transition":
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
    return stays


@dataclass(frozen=True)
class Rate:
    """How many calls went well, of how many; the `retries` are among those."""

    ok: int = 0
    calls: int = 0
    retries: int = 0

    @property
    def share(self) -> float | None:
        """The share that went well, 0 to 1; None where there were no calls."""
        return self.ok / self.calls if self.calls else None

    def __add__(self, other: Rate) -> Rate:
        calls = self.calls + other.calls
        return Rate(self.ok + other.ok, calls, self.retries + other.retries)


def success_rate(events: Iterable[TraceEvent]) -> Rate:
    """Return how many of the agent's own calls went well, and how many were retries.

    A call counts once it is observed. A retry is asked for when the same tool has last
    failed with the same arguments, in the same run.
    """
    rate, calls = Rate(), _Calls()
    for event in events:
        if done := calls.done(event):
            rate += Rate(event["ok"], 1, done.is_retry)
    return rate


class _Call(NamedTuple):
    """A call of the agent; `same` is one hash for what may be long texts."""

    same: int  # for the same tool with the same arguments in the same run
    tool: str
    at_s: float
    is_retry: bool


class _Calls:
    """Pairs the agent's own calls with their observations."""

    def __init__(self) -> None:
        self.asked: dict[Any, _Call] = {}  # and not observed so far
        self.failed: set[int] = set()

    def done(self, event: TraceEvent) -> _Call | None:
        """Return the call that this event is the observation of, if it is one."""
        if "parent" in event or event.get("call_id") is None:
            return None
        call, run, call_id = None, event["trace_id"], event["call_id"]
        if event["kind"] == "observation":
            call = self.asked.pop((run, call_id), None)
        if call:
            (self.failed.discard if event["ok"] else self.failed.add)(call.same)
        if event["kind"] == "tool_call":
            text = json.dumps(event["arguments"], sort_keys=True, default=str)
            same = hash((run, event["tool"], text))
            asked = _Call(same, event["tool"], event["at_s"], same in self.failed)
            self.asked[run, call_id] = asked
        return call


class Spread(Counter[float]):
    """How often each number was there, with three significant digits.

    So all it tells is within 0.5 %, and a million numbers need little memory.
    """

    def add(self, number: float) -> None:
        """Count one more."""
        self[float(f"{number:.2e}")] += 1

    def quantile(self, percent: int) -> float | None:
        """Return the smallest number that `percent` of them do not exceed.

        It is one of them, never a mean of two; None where there are none.
        """
        left = -(-self.total() * percent // 100)
        for number in sorted(self):
            left -= self[number]
            if left <= 0:
                return number
        return None

    def row(self) -> tuple[Any, ...]:
        """Return the count, the median, the 95th percentile and the sum."""
        total = sum(number * times for number, times in self.items())
        return self.total(), self.quantile(50), self.quantile(95), total


_SPREADS: Any = partial(defaultdict, Spread)


@dataclass(repr=False)
class Figures(Tables):
    """What was counted of some runs; see `figures`. Times are in seconds."""

    since: float = ALWAYS[0]
    until: float = ALWAYS[1]
    prices: Any = None
    runs: int = 0
    runs_without_a_day: int = 0  # which a window leaves out
    events: int = 0
    lost: list[str] = field(default_factory=list)  # what could not be read
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)  # state and reason
    states: dict[str, Spread] = field(default_factory=_SPREADS)
    tools: dict[str, Spread] = field(default_factory=_SPREADS)  # call to observation
    rates: dict[str, Rate] = field(default_factory=partial(defaultdict, Rate))
    calls_repeated: int = 0  # tool, arguments and observation as of one before
    calls_not_observed: int = 0  # which no rate counts
    turns: int = 0  # of the model, also inside tools
    turns_with_tokens: int = 0  # that say how many they took
    turns_estimated: int = 0  # of these: somebody has guessed
    usage: Usage = field(default_factory=Usage)
    context: dict[int, Spread] = field(default_factory=_SPREADS)  # input, by call

    @property
    def rate(self) -> Rate:
        """The rate of all tools together."""
        return sum(self.rates.values(), Rate())

    def add(self, run: Run) -> None:
        """Count the events of one run."""
        calls, seen, before, number = _Calls(), set[int](), self.events, 0
        event, day = TraceEvent(), None
        for event in whole_events(run, self.lost):
            day = event.get("started_unix_s", day)
            if day is None and (self.since, self.until) != ALWAYS:
                self.runs_without_a_day += 1
                return
            is_repeat = False
            if call := calls.done(event):
                outcome = hash((call.same, event["ok"], str(observed(event))))
                is_repeat = outcome in seen
                seen.add(outcome)
            own_turn = event["kind"] == Kind.MODEL_TURN and "parent" not in event
            number += own_turn
            if not self.since <= (day or 0) + event["at_s"] < self.until:
                continue
            self.events += 1
            match event["kind"]:
                case Kind.TRANSITION:
                    self.states[event["source"]].add(event["elapsed_s"])
                case Kind.MODEL_TURN:
                    self._turn(event["usage"] or {}, own_turn * number)
                case Kind.OBSERVATION if call:
                    self.rates[call.tool] += Rate(event["ok"], 1, call.is_retry)
                    self.tools[call.tool].add(event["at_s"] - call.at_s)
                    self.calls_repeated += is_repeat
                case Kind.RUN_FINISHED:
                    self.ends[event["state"], event["reason"]] += 1
        if self.events > before:
            self.runs += 1
            self.calls_not_observed += len(calls.asked)
            if event["kind"] != Kind.RUN_FINISHED:
                self.ends["no end", f"after {event.get('event', event['kind'])}"] += 1

    def _turn(self, usage: dict[str, Any], number: int) -> None:
        """Count a turn of the model; `number` is 0 inside a tool."""
        self.turns += 1
        if "input" not in usage:
            return
        tokens = (usage.get(name, 0) for name in ("input", "output", "cached"))
        self.usage += Usage(*tokens)
        self.turns_with_tokens += 1
        self.turns_estimated += bool(usage.get("estimated"))
        if number:
            self.context[int(float(f"{number:.2e}"))].add(usage["input"])

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables by title; NaN is no figure."""
        import pandas as pd

        def table(columns: str, rows: Iterable[tuple[Any, ...]]) -> pd.DataFrame:
            return pd.DataFrame(rows, columns=columns.split())

        states, times, tokens = (
            {name: spread.row() for name, spread in spreads.items()}
            for spreads in (self.states, self.tools, self.context)
        )
        rates = sorted(self.rates.items(), key=lambda tool: -tool[1].calls)
        found = {
            "In all": table("what number", self.totals().items()),
            "How runs ended": table(
                "state reason runs", [(*end, n) for end, n in self.ends.most_common()]
            ),
            "Seconds in a state": table(
                "state stays median p95 total", [(s, *row) for s, row in states.items()]
            ),
            "Tools, and seconds of a call": table(
                "tool calls ok share retries median p95",
                [
                    (t, r.calls, r.ok, r.share, r.retries, *times[t][1:3])
                    for t, r in rates
                ],
            ),
            "Input tokens of the agent's calls": table(
                "call turns median p95", [(n, *tokens[n][:3]) for n in sorted(tokens)]
            ),
        }
        return {title: frame for title, frame in found.items() if len(frame)}

    def totals(self) -> dict[str, float | None]:
        """Return what is one number for all runs; None is no figure."""
        rate, usage, fields = self.rate, self.usage, vars(self).items()
        counted = {name: number for name, number in fields if isinstance(number, int)}
        totals: dict[str, float | None] = {
            **{name.replace("_", " "): number for name, number in counted.items()},
            **{"not read to the end": len(self.lost), "tool calls": rate.calls},
            **{"ok": rate.ok, "share ok": rate.share, "retries": rate.retries},
            **{"tokens read": usage.input, "of them cached": usage.cached},
            **{"tokens written": usage.output},
        }
        if self.prices:
            cost = self.prices.cost(usage) if self.turns_with_tokens else None
            totals[f"{self.prices.currency}, {self.prices.date}"] = cost
        return totals


def figures(runs: Runs, **options: Any) -> Figures:
    """Count runs: a folder, a file, a trace, or several files, traces or event streams.

    Args:
        since, until: seconds since 1970. Only events from `since` on and before `until`
            are counted; those of a run that was resumed have the day of its beginning.
        prices: what tokens cost: the `Prices` of the guardrails.

    Raises:
        FileNotFoundError: there is no such file or folder.
    """
    found = Figures(**options)
    for run in each_run(runs):
        found.add(run)
    return found
