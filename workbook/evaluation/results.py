"""How an agent did on a task: measured from its traces, kept in the task's folder.

A result is written whole, under another name first: one that is there can be trusted.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from workbook.evaluation.tasks import Task
from workbook.evaluation.waste import (
    ENDS,
    SILENT,
    WRONG,
    effects_doubled,
    failure_mode,
    steps_wasted,
)
from workbook.fsm.machine import RunResult
from workbook.fsm.table import State
from workbook.traces.events import Kind
from workbook.traces.metrics import each_run, whole_events

RESULT = "result.json"
AnyAgent = Callable[[Task, Path], RunResult | str | None]


@dataclass(frozen=True, slots=True)
class Result:
    """How an agent did on a task. Its figures are sums over the traces of the task."""

    task: str
    kind: str
    agent: str
    state: str  # of the run; without one, DONE for a text, NO_ANSWER for None
    answer: str | None
    right: bool
    seconds: float  # the runs' own; measured around the agent where it left no trace
    tokens: int  # read and written
    model_calls: int
    tool_calls: int
    wasted: int  # see `steps_wasted`
    doubled: int  # see `effects_doubled`, of all runs in a row
    failure: str  # see `failure_mode`, of the last run; SILENT or WRONG of none
    error: str  # what was raised


class Job(NamedTuple):
    """A task, and who does it where; `key` is a digest of task and agent."""

    task: Task
    agent: AnyAgent | bytes  # pickled with its digest, for a process
    name: str
    key: str
    folder: Path

    def keep(self, result: Result) -> None:
        """Write the result into the folder, whole or not at all."""
        replace_file(self.folder / RESULT, {"key": self.key, **asdict(result)})

    def kept(self) -> Result | None:
        """Return the result that is there of this task and agent."""
        return read_result(self.folder, self.key)


def measured(job: Job, seconds: float, state: str, *end: Any) -> Result:
    """Return the result of a task that ended so, with the figures of its traces."""
    answer, right, error = end
    runs = each_run(job.folder if job.folder.exists() else [])
    traces = [list(whole_events(run, [])) for run in runs]
    traces = [trace for trace in traces if trace]
    events = list(chain.from_iterable(traces))
    kinds = [event["kind"] for event in events]
    usages = [e["usage"] or {} for e in events if e["kind"] == Kind.MODEL_TURN]
    failure = WRONG if answer else SILENT
    if right or traces:
        failure = failure_mode(traces[-1] if traces else [], right)
    return Result(
        job.task.slug,
        job.task.kind,
        job.name,
        state,
        answer,
        right,
        seconds=round(sum(t[-1]["at_s"] for t in traces) if traces else seconds, 6),
        tokens=sum(u.get(part) or 0 for u in usages for part in ("input", "output")),
        model_calls=kinds.count(Kind.MODEL_REQUEST),
        tool_calls=kinds.count(Kind.TOOL_CALL),
        wasted=sum(steps_wasted(trace, job.task.shortest) for trace in traces),
        doubled=effects_doubled(events),
        failure=ENDS[State.ERROR] if state == State.ERROR else failure,
        error=error,
    )


def read_result(folder: Path, key: str | None = None) -> Result | None:
    """Return the result in a folder, if there is one, of that task and agent."""
    try:
        row = json.loads((folder / RESULT).read_bytes())
        return Result(**row) if row.pop("key") == key or key is None else None
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def replace_file(path: Path, data: dict[str, Any]) -> None:
    """Write JSON under another name, then give it its own."""
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f".{path.name}.new")
    new.write_text(json.dumps(data), encoding="utf-8")
    os.replace(new, path)
