"""What a guard is worth: adversaries against an agent with some guards switched off."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from workbook.evaluation.agents import Agent
from workbook.evaluation.diagnosis import effects_had
from workbook.evaluation.runner import evaluate
from workbook.evaluation.tasks import Task
from workbook.traces.trace import Trace
from workbook.wait import waiting

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

DAMAGE = {
    "repeats": "calls wasted",
    "wanders": "calls wasted",
    "pays twice": "payments",
    "makes up": "wrong answers",
}
"""What each adversary does where nothing stops it."""


def without(agent: Agent, *off: str) -> Agent:
    """Return the agent without these guards; "grounding" is one of them."""
    left = tuple(guard for guard in agent.guards if guard not in off)
    grounding = agent.grounding and "grounding" not in off
    return replace(agent, guards=left, grounding=grounding)


def damage(kind: str, off: Iterable[str], tasks: Iterable[Task]) -> int:
    """Return what an adversary does with these guards off, counted as `DAMAGE` says."""
    agent = without(Agent(kind, f"adversary:{kind}"), *off)
    with tempfile.TemporaryDirectory() as out:
        found = evaluate(tasks, agent, out=out)
        traces = [Trace.read(path) for path in Path(out).glob("*/run_*.jsonl")]
    if DAMAGE[kind] == "payments":
        return sum(effects_had(trace).total() for trace in traces)
    if DAMAGE[kind] == "calls wasted":
        return sum(each.wasted for each in found)
    return sum(each.state == "DONE" and not each.right for each in found)


def guard_table(rows: Mapping[str, Iterable[str]], tasks: Iterable[Task]) -> Styler:
    """Return the damage of each adversary; a row has some guards off.

    What differs from the first row is marked.
    """
    import pandas as pd

    tasks, mark = list(tasks), "background: #ffe082; color: #3e2723"
    with waiting("adversaries", total=len(rows) * len(DAMAGE)) as tick:
        columns: dict[str, list[int]] = {}
        for kind, what in DAMAGE.items():
            column = columns.setdefault(f"{kind}: {what}", [])
            for off in rows.values():
                column.append(damage(kind, off, tasks))
                tick()
    shown = pd.DataFrame(columns, index=list(rows)).style
    return shown.apply(lambda seen: [mark if n != seen.iloc[0] else "" for n in seen])
