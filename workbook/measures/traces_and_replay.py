"""Lesson 08 over many runs: the gallery replayed, figures of ends, states, tools."""

from collections.abc import Callable, Iterable, Iterator
from math import ceil
from pathlib import Path
from statistics import mean, median
from tempfile import TemporaryDirectory
from typing import Any

from workbook.lessons.traces_and_replay import observed_calls, state_times
from workbook.paths import DATA
from workbook.runtime.trace import Kind, Trace
from workbook.stage.engines import play
from workbook.stage.machines import machine_for
from workbook.stage.scenarios import load, outcome, slugs
from workbook.wait import waiting

Row = dict[str, Any]
EXAMPLE = (DATA / "lessons/08/price_example.txt").read_text("utf-8")
SHARES = {"ok", "retry", "repeat", "repeats"}  # columns


def over_the_gallery(replay: Callable[..., Any]) -> Iterator[Row]:
    """Yield of each scenario on both machines its end, and that of a replay."""
    cases = [(slug, engine) for slug in slugs() for engine in ("fsm", "guarded")]
    doing = waiting("playing the scenarios again", len(cases))
    with TemporaryDirectory() as home, doing as tick:
        for slug, engine in cases:
            trace = play(slug, engine)
            end = {"scenario": slug, "engine": engine, "end": outcome(trace)["state"]}
            nobody = machine_for(load(slug), Path(home), engine, ask=lambda _: None)
            try:
                end["your replay"] = replay(trace, nobody).state
            except Exception as error:  # a learner's may raise anything
                end["your replay"] = type(error).__name__
            tick()
            yield end


def totals(trace: Trace) -> Row:
    """Return how a run ended and what it spent; `tokens`: None if no model counts."""
    end, calls = outcome(trace), [*observed_calls(trace)]
    used = [event["usage"] or {} for event in trace.of(Kind.MODEL_TURN)]
    tokens = sum(each.get(way) or 0 for each in used for way in ("input", "output"))
    return {
        "ended": f"{end['state']} {end['reason'] or '(no end)'}",
        "steps": end["model_turns"],
        "calls": len(calls),
        "repeats": mean(row["repeat"] for row in calls) if calls else None,
        "tokens": tokens or None,
        "seconds": trace.events[-1]["at_s"] if trace else 0.0,
    }


def figures(runs: Iterable[Trace], since: float = 0.0) -> dict[str, list[Row]]:
    """Return rows by title, of the runs that began `since` a Unix time."""
    ends, stays, calls = list[Row](), list[Row](), list[Row]()
    for run in runs:
        if run and run.events[0].get("started_unix_s", since) >= since:
            ends.append(totals(run))
            calls += observed_calls(run)
            for state, times in state_times(run).items():
                stays += [{"state": state, "ms": 1000 * each} for each in times]
    return {
        "How runs ended": [*_table(ends, "ended")],
        "Milliseconds in a state": [*_table(stays, "state")],
        "Calls of tools, and their milliseconds": [*_table(calls, "tool")],
    }


def _table(rows: Iterable[Row], name: str) -> Iterator[Row]:
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row[name], []).append(row)
    for value, group in sorted(groups.items(), key=lambda each: -len(each[1])):
        found: Row = {name: value, "number": len(group)}
        for column in list(group[0])[1:]:
            values = sorted(row[column] for row in group if row[column] is not None)
            if column == "ms":
                p95 = values[ceil(0.95 * len(values)) - 1]  # 95 of 100 are no longer
                found |= {"median": round(median(values), 1), "p95": round(p95, 1)}
                found["total"] = round(sum(values))
            else:
                figure = mean if column in SHARES else sum
                found[column] = round(figure(values), 3) if values else None
        yield found
