"""Figures of any number of runs, each with how many it is of.

Runs are read one after the other: one run, and the numbers of all, have to fit into
memory.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.traces.events import Kind, TraceError, TraceEvent
from workbook.traces.show import cell
from workbook.traces.trace import Trace, read_events

if TYPE_CHECKING:
    import pandas as pd

TOKENS = ("input", "output", "cached")

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


class Call(NamedTuple):
    """A call of the agent that was observed, `seconds` after it was made."""

    tool: str
    ok: bool
    is_retry: bool
    seconds: float


def observed_calls(events: Iterable[TraceEvent]) -> Iterator[Call]:
    """Yield the agent's own calls as they are observed, in one run or in several."""
    asked: dict[Any, tuple[Any, bool, float]] = {}  # and not observed so far
    failed: set[Any] = set()
    for event in events:
        if "parent" in event or event.get("call_id") is None:
            continue
        key = event["trace_id"], event["call_id"]
        if event["kind"] == Kind.TOOL_CALL:
            text = json.dumps(event["arguments"], sort_keys=True, default=str)
            same = event["trace_id"], event["tool"], text
            asked[key] = same, same in failed, event["at_s"]
        elif event["kind"] == Kind.OBSERVATION and key in asked:
            same, is_retry, at_s = asked.pop(key)
            (failed.discard if event["ok"] else failed.add)(same)
            yield Call(same[1], event["ok"], is_retry, event["at_s"] - at_s)


def rate_of(calls: Collection[Call]) -> Rate:
    """Return how many calls went well, and how many were retries."""
    ok, retries = (sum(map(itemgetter(i), calls)) for i in (1, 2))
    return Rate(ok, len(calls), retries)


def success_rate(events: Iterable[TraceEvent]) -> Rate:
    """Return how many of the agent's own calls went well, and how many were retries.

    A call counts once it is observed. A retry is asked for when the same tool has last
    failed with the same arguments, in the same run.
    """
    return rate_of([*observed_calls(events)])


@dataclass(repr=False)
class Figures:
    """What was counted of some runs. Times are in seconds."""

    counts: Counter[str] = field(default_factory=Counter)
    lost: list[str] = field(default_factory=list)  # what could not be read
    ends: Counter[tuple[str, str]] = field(default_factory=Counter)  # state and reason
    states: dict[str, list[float]] = field(default_factory=partial(defaultdict, list))
    calls: list[Call] = field(default_factory=list)

    def add(self, run: Run) -> None:
        """Count the events of one run."""
        events = [*whole_events(run, self.lost)]
        if not events:
            return
        for state, stays in state_times(events).items():
            self.states[state] += stays
        calls = [*observed_calls(events)]
        self.calls += calls
        self.counts.update({"runs": 1, "events": len(events)})
        for event in events:
            if event["kind"] == Kind.MODEL_TURN:
                used = event["usage"] or {}
                self.counts.update({"turns": 1, "turns with tokens": "input" in used})
                self.counts.update({f"tokens {n}": used.get(n) or 0 for n in TOKENS})
            self.counts["calls"] += event["kind"] == Kind.TOOL_CALL and (
                "parent" not in event
            )
        self.counts["calls not observed"] = self.counts["calls"] - len(self.calls)
        end = events[-1]
        if end["kind"] == Kind.RUN_FINISHED:
            self.ends[end["state"], end["reason"]] += 1
        else:
            self.ends["no end", f"after {end.get('event', end['kind'])}"] += 1

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the tables by title; NaN is no figure."""
        import pandas as pd

        by_tool: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            by_tool[call.tool].append(call)
        tools = []
        for name, calls in sorted(by_tool.items(), key=lambda item: -len(item[1])):
            rate, (n, *times) = rate_of(calls), spread([c.seconds for c in calls])
            tools.append((name, n, *times, rate.ok, rate.share, rate.retries))
        ends = [(*end, number) for end, number in self.ends.most_common()]
        stays = [(n, *spread(each), sum(each)) for n, each in self.states.items()]
        tables: dict[str, tuple[str, list[Any]]] = {
            "In all": ("what number", list(self.totals().items())),
            "How runs ended": ("state reason runs", ends),
            "Seconds in a state": ("state stays median p95 total", stays),
            "Tools, and seconds of a call": (
                "tool calls median p95 ok share retries",
                tools,
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
        rate = rate_of(self.calls)
        names = ["runs", "events", "turns", "turns with tokens", "calls not observed"]
        names += [f"tokens {name}" for name in TOKENS]
        return {
            **{name: self.counts[name] for name in names},
            **{"not read to the end": len(self.lost), "tool calls": rate.calls},
            **{"ok": rate.ok, "share ok": rate.share, "retries": rate.retries},
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
