"""Figures of any number of runs, each with how many it is of.

Runs are read one after the other and their events one by one, so a folder may be larger
than memory. While a run is read, a few numbers are kept of each of its calls.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.models.base import Usage
from workbook.traces.events import Kind, TraceError, TraceEvent
from workbook.traces.show import Tables
from workbook.traces.trace import Trace, read_events

if TYPE_CHECKING:
    import pandas as pd

Run = Trace | Path | str | Iterable[TraceEvent]
Runs = Run | Iterable[Run]
"""A folder, a file or a trace; or several files, traces or streams of events."""


def each_run(runs: Runs) -> Iterator[Run]:
    """Yield each run; of a folder, the *.jsonl files in it that begin as traces do."""
    if isinstance(runs, (str, Path)):
        path = Path(runs)
        found = sorted(each for each in path.rglob("*.jsonl") if each.is_file())
        runs = [each for each in found if _is_trace(each)] if path.is_dir() else [path]
    for run in [runs] if isinstance(runs, Trace) else runs:
        if isinstance(run, dict):
            raise TypeError("this is an event, not a run: give a list of runs")
        yield run


def _is_trace(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(11) == b'{"trace_id"'


def whole_events(run: Run, lost: list[str]) -> Iterator[TraceEvent]:
    """Yield a run's events up to where they are whole, and tell `lost` of the rest."""
    try:
        yield from read_events(run) if isinstance(run, (str, Path)) else run
    except TraceError as error:
        lost.append(str(error))
    if isinstance(run, Trace) and run.lost:
        lost.append(run.lost)


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
    rate = Rate()
    for event, call in _paired(events):
        if call:
            rate += Rate(event["ok"], 1, call.is_retry)
    return rate


class _Call(NamedTuple):
    """A call of the agent; `same` is one hash for what may be long texts."""

    tool: str
    at_s: float
    same: int  # for the same tool with the same arguments in the same run
    is_retry: bool


def _paired(
    events: Iterable[TraceEvent],
) -> Iterator[tuple[TraceEvent, _Call | None]]:
    """Yield each event; an observation with the agent's own call that it is of."""
    asked: dict[Any, _Call] = {}  # and not observed so far
    failed: set[int] = set()
    for event in events:
        call, key = None, (event["trace_id"], event.get("call_id"))
        if "parent" in event or key[1] is None:
            pass
        elif event["kind"] == "tool_call":
            text = json.dumps(event["arguments"], sort_keys=True, default=str)
            same = hash((key[0], event["tool"], text))
            asked[key] = _Call(event["tool"], event["at_s"], same, same in failed)
        elif event["kind"] == "observation" and (call := asked.pop(key, None)):
            (failed.discard if event["ok"] else failed.add)(call.same)
        yield event, call


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
    """What was counted of some runs. Times are in seconds."""

    counts: Counter[str] = field(default_factory=Counter)  # see `COUNTED`
    lost: list[str] = field(default_factory=list)  # what could not be read
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)  # state and reason
    states: dict[str, Spread] = field(default_factory=_SPREADS)
    tools: dict[str, Spread] = field(default_factory=_SPREADS)  # call to observation
    rates: dict[str, Rate] = field(default_factory=partial(defaultdict, Rate))
    usage: Usage = field(default_factory=Usage)
    context: dict[int, Spread] = field(default_factory=_SPREADS)  # input, by call

    @property
    def rate(self) -> Rate:
        """The rate of all tools together."""
        return sum(self.rates.values(), Rate())

    def add(self, run: Run) -> None:
        """Count the events of one run."""
        event, own_turns, unseen = TraceEvent(), 0, 0
        for event, call in _paired(whole_events(run, self.lost)):
            self.counts["events"] += 1
            is_own = "parent" not in event
            match event["kind"]:
                case Kind.TRANSITION:
                    self.states[event["source"]].add(event["elapsed_s"])
                case Kind.MODEL_TURN:
                    own_turns += is_own
                    self._turn(event["usage"] or {}, own_turns if is_own else None)
                case Kind.TOOL_CALL:
                    unseen += is_own
                case Kind.OBSERVATION if call:
                    unseen -= 1
                    self.rates[call.tool] += Rate(event["ok"], 1, call.is_retry)
                    self.tools[call.tool].add(event["at_s"] - call.at_s)
                case Kind.RUN_FINISHED:
                    self.ends[event["state"], event["reason"]] += 1
        if event:
            self.counts["runs"] += 1
            self.counts["calls not observed"] += unseen
            if event["kind"] != Kind.RUN_FINISHED:
                self.ends["no end", f"after {event.get('event', event['kind'])}"] += 1

    def _turn(self, usage: dict[str, Any], number: int | None) -> None:
        """Count a turn of the model; `number` counts the agent's own."""
        self.counts["turns"] += 1
        if "input" not in usage:
            return
        tokens = (usage.get(name, 0) for name in ("input", "output", "cached"))
        self.usage += Usage(*tokens)
        self.counts["turns with tokens"] += 1
        self.counts["turns estimated"] += bool(usage.get("estimated"))
        if number:
            self.context[int(float(f"{number:.2e}"))].add(usage["input"])

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables by title; NaN is no figure."""
        import pandas as pd

        ends = [(*end, number) for end, number in self.ends.most_common()]
        states = [(name, *stays.row()) for name, stays in self.states.items()]
        tools = [
            (name, rate.calls, rate.ok, rate.share, rate.retries, *median_and_p95)
            for name, rate in sorted(self.rates.items(), key=lambda t: -t[1].calls)
            for _, *median_and_p95, _ in [self.tools[name].row()]
        ]
        context = [(n, *tokens.row()[:3]) for n, tokens in sorted(self.context.items())]
        tables: dict[str, tuple[str, Iterable[tuple[Any, ...]]]] = {
            "In all": ("what number", self.totals().items()),
            "How runs ended": ("state reason runs", ends),
            "Seconds in a state": ("state stays median p95 total", states),
            "Tools, and seconds of a call": (
                "tool calls ok share retries median p95",
                tools,
            ),
            "Input tokens of the agent's calls": ("call turns median p95", context),
        }
        return {
            title: pd.DataFrame(rows, columns=columns.split())
            for title, (columns, rows) in tables.items()
            if rows
        }

    def totals(self) -> dict[str, float | None]:
        """Return what is one number for all runs; None is no figure."""
        rate, usage = self.rate, self.usage
        return {
            **{name: self.counts[name] for name in COUNTED},
            **{"not read to the end": len(self.lost), "tool calls": rate.calls},
            **{"ok": rate.ok, "share ok": rate.share, "retries": rate.retries},
            **{"tokens read": usage.input, "of them cached": usage.cached},
            **{"tokens written": usage.output},
        }


COUNTED = (
    "runs",
    "events",
    "calls not observed",  # which no rate counts
    "turns",  # of the model, also inside tools
    "turns with tokens",  # that say how many they took
    "turns estimated",  # of these: somebody has guessed
)


def figures(runs: Runs) -> Figures:
    """Count runs: a folder, a file, a trace, or several files, traces or event streams.

    FileNotFoundError: there is no such file or folder.
    """
    found = Figures()
    for run in each_run(runs):
        found.add(run)
    return found
