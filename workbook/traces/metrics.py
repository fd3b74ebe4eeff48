"""Figures of any number of runs, each with how many it is of.

Runs are read one after the other and their events one by one: only the numbers of a
folder have to fit into memory.
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
from workbook.traces.show import cell
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


_LISTS: Any = partial(defaultdict, list)
TOKENS = ("input", "output", "cached")


@dataclass(repr=False)
class Figures:
    """What was counted of some runs. Times are in seconds."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)  # what could not be read
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)  # state and reason
    states: dict[str, list[float]] = field(default_factory=_LISTS)
    tools: dict[str, list[float]] = field(default_factory=_LISTS)  # to the observation
    rates: dict[str, Rate] = field(default_factory=partial(defaultdict, Rate))
    usage: Usage = field(default_factory=Usage)

    @property
    def rate(self) -> Rate:
        """The rate of all tools together."""
        return sum(self.rates.values(), Rate())

    def add(self, run: Run) -> None:
        """Count the events of one run."""
        event = TraceEvent()
        for event, call in _paired(whole_events(run, self.lost)):
            self.counts["events"] += 1
            is_own = "parent" not in event
            match event["kind"]:
                case Kind.TRANSITION:
                    self.states[event["source"]].append(event["elapsed_s"])
                case Kind.MODEL_TURN:
                    self.counts["turns"] += 1
                    if tokens := event["usage"] or {}:
                        self.counts["turns with tokens"] += "input" in tokens
                        self.usage += Usage(*(tokens.get(n, 0) for n in TOKENS))
                case Kind.TOOL_CALL:
                    self.counts["calls not observed"] += is_own
                case Kind.OBSERVATION if call:
                    self.counts["calls not observed"] -= 1
                    self.rates[call.tool] += Rate(event["ok"], 1, call.is_retry)
                    self.tools[call.tool].append(event["at_s"] - call.at_s)
                case Kind.RUN_FINISHED:
                    self.ends[event["state"], event["reason"]] += 1
        if event:
            self.counts["runs"] += 1
            if event["kind"] != Kind.RUN_FINISHED:
                self.ends["no end", f"after {event.get('event', event['kind'])}"] += 1

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables by title; NaN is no figure."""
        import pandas as pd

        by_calls = sorted(self.rates.items(), key=lambda rate: -rate[1].calls)
        tables: dict[str, tuple[str, list[tuple[Any, ...]]]] = {
            "In all": ("what number", list(self.totals().items())),
            "How runs ended": (
                "state reason runs",
                [(*end, number) for end, number in self.ends.most_common()],
            ),
            "Seconds in a state": (
                "state stays median p95 total",
                [(n, *spread(stays), sum(stays)) for n, stays in self.states.items()],
            ),
            "Tools, and seconds of a call": (
                "tool calls median p95 ok share retries",
                [
                    (n, *spread(self.tools[n]), rate.ok, rate.share, rate.retries)
                    for n, rate in by_calls
                ],
            ),
        }
        return {
            title: pd.DataFrame(rows, columns=columns.split())
            for title, (columns, rows) in tables.items()
            if rows
        }

    def __str__(self) -> str:
        import pandas as pd

        with pd.option_context("display.unicode.east_asian_width", True):
            return "\n\n".join(
                f"{title}\n{frame.map(cell).to_string(index=False, line_width=80)}"
                for title, frame in self.frames().items()
            )

    __repr__ = __str__

    def totals(self) -> dict[str, float | None]:
        """Return what is one number for all runs; None is no figure."""
        rate, usage = self.rate, self.usage
        names = ("runs", "events", "turns", "turns with tokens", "calls not observed")
        return {
            **{name: self.counts[name] for name in names},
            **{"not read to the end": len(self.lost), "tool calls": rate.calls},
            **{"ok": rate.ok, "share ok": rate.share, "retries": rate.retries},
            **{"tokens read": usage.input, "of them cached": usage.cached},
            **{"tokens written": usage.output},
        }


def spread(numbers: list[float]) -> tuple[int, float, float]:
    """Return how many they are, their median, and their 95th percentile.

    A percentile is one of the numbers, the smallest that so many do not exceed.
    """
    ordered, n = sorted(numbers), len(numbers)
    return n, ordered[-(-n * 50 // 100) - 1], ordered[-(-n * 95 // 100) - 1]


def figures(runs: Runs) -> Figures:
    """Count runs: a folder, a file, a trace, or several files, traces or event streams.

    FileNotFoundError: there is no such file or folder.
    """
    found = Figures()
    for run in each_run(runs):
        found.add(run)
    return found
