"""Figures of any number of runs, each with how many it is of.

Runs are read one after the other: one run, and the numbers of all, fit into memory.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.runtime.trace import Event as TraceEvent
from workbook.runtime.trace import Kind, Trace, TraceError
from workbook.views.logs import totals

if TYPE_CHECKING:
    import pandas as pd


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


def success_rate(events: Iterable[TraceEvent]) -> Rate:
    """Return how many of the agent's own calls went well, and how many were retries.

    A call counts once it is observed. A retry is asked for when the same tool has last
    failed with the same arguments, in the same run.
    """
    calls = [*observed_calls(events)]
    ok, retries = sum(c.ok for c in calls), sum(c.is_retry for c in calls)
    return Rate(ok, len(calls), retries)


def traces_in(folder: Path | str) -> Iterator[Trace]:
    """Yield the trace in each *.jsonl file of a folder that begins as traces do."""
    for path in sorted(Path(folder).rglob("*.jsonl")):
        if path.is_file() and path.read_bytes().startswith(b'{"trace_id"'):
            try:
                yield Trace.read(path)
            except TraceError as error:
                yield Trace((), lost=str(error))


def figures(runs: Iterable[Trace]) -> dict[str, pd.DataFrame]:
    """Return tables of how runs ended, of their states, and of their tools, by title.

    Times are in seconds. Of a damaged trace counts what stands before the damage.
    """
    import pandas as pd

    ends, stays, calls = list[dict[str, Any]](), list[tuple[str, float]](), list[Call]()
    for run in runs:
        ends.append(totals(run))
        stays += [(s, each) for s, times in state_times(run).items() for each in times]
        calls += observed_calls(run)
    if not ends:
        return {}
    spent: Any = {name: (name, "sum") for name in ("steps", "tokens", "seconds")}
    times: Any = {
        "median": ("seconds", "median"),
        "p95": ("seconds", lambda each: each.quantile(0.95)),
    }
    by_end = pd.DataFrame(ends).groupby(["state", "reason"])
    by_state = pd.DataFrame(stays, columns=["state", "seconds"]).groupby(
        "state", sort=False
    )
    by_tool = pd.DataFrame(calls, columns=Call._fields).groupby("tool")
    return {
        "How runs ended": by_end.agg(runs=("state", "size"), **spent),
        "Seconds in a state": by_state.agg(
            stays=("seconds", "size"), **times, total=("seconds", "sum")
        ),
        "Tools, and seconds of a call": by_tool.agg(
            calls=("ok", "size"),
            ok=("ok", "sum"),
            share=("ok", "mean"),
            retries=("is_retry", "sum"),
            **times,
        ).sort_values("calls", ascending=False),
    }
