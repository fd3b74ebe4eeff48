"""Run every task with one agent, and keep the result of each task in a file.

`out/<task>/` holds the traces of a task and its `result.json`. A task whose result is
there is not run again: stop a run, or let it die, and call it again with the same
`out`. Any executor can do the work. Where workers may die, give one that tries again
by itself, such as Dask's.
"""

import json
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, as_completed
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from workbook.evaluation.diagnosis import effects_doubled, steps_wasted
from workbook.evaluation.grader import grade
from workbook.evaluation.tasks import Task
from workbook.runtime.machine import RunResult
from workbook.runtime.table import State
from workbook.runtime.trace import Kind
from workbook.views.metrics import traces_in
from workbook.wait import waiting

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
    error: str  # what was raised


def evaluate(
    tasks: Iterable[Task],
    agent: AnyAgent,
    *,
    out: Path | str,
    executor: Executor | None = None,
    progress: Callable[[Result, int, int], object] | None = None,
) -> list[Result]:
    """Run each task once and return the results in the order of the tasks.

    Args:
        tasks: each has a slug of its own, which names its folder.
        agent: called with a task and a fresh folder for its traces; returns a
            RunResult, an answer, or None. What it raises is the result of that task.
        out: a folder for this agent alone. With a worker on another machine it is on
            a disk that both see.
        executor: of `concurrent.futures`, or a Dask client's `get_executor()`; None
            runs the tasks here, one after the other.
        progress: told of each new result, with how many there are, of how many.

    Raises:
        ValueError: `out` holds the results of another agent.
        Exception: whatever the executor raises, for example because a worker died.
            What is finished is kept.
        KeyboardInterrupt: as you wish, or a run is CANCELLED. What is finished is kept.
    """
    tasks, out = list(tasks), Path(out)
    found = {task.slug: read_result(out / task.slug) for task in tasks}
    for kept in filter(None, found.values()):
        if kept.agent != name_of(agent):
            words = f"the results of {kept.agent!r}, this is {name_of(agent)!r}"
            raise ValueError(f"{out} holds {words}: give another out")
    new = [task for task in tasks if found[task.slug] is None]

    def note(result: Result) -> None:
        found[result.task] = result
        tick()
        if progress:
            progress(result, sum(map(bool, found.values())), len(tasks))

    with waiting(f"tasks of {name_of(agent)}", total=len(new)) as tick:
        if executor is None:
            for task in new:
                note(run_task(task, agent, out / task.slug))
        else:
            jobs = [executor.submit(run_task, t, agent, out / t.slug) for t in new]
            try:
                for job in as_completed(jobs):
                    note(job.result())
            finally:
                for job in jobs:
                    job.cancel()
    return [result for task in tasks if (result := found[task.slug])]


def run_task(task: Task, agent: AnyAgent, folder: Path) -> Result:
    """Run one task, wherever this is called, and keep its result in the folder.

    A result that is there is returned: an executor may hand out a task again because
    a worker died after the task was done.
    """
    if result := read_result(folder):
        return result
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob("*.jsonl"):  # traces of a run that was cut off
        unfinished.unlink()
    began = time.perf_counter()
    state, answer, error = _end(agent, task, folder)
    seconds = time.perf_counter() - began
    traces = [trace for trace in traces_in(folder) if trace.events]
    events = list(chain.from_iterable(traces))
    kinds = [event["kind"] for event in events]
    usages = [e["usage"] or {} for e in events if e["kind"] == Kind.MODEL_TURN]
    result = Result(
        task.slug,
        task.kind,
        name_of(agent),
        state,
        answer,
        grade(answer, task.gold),
        seconds=round(
            sum(t.events[-1]["at_s"] for t in traces) if traces else seconds, 6
        ),
        tokens=sum(u.get(part) or 0 for u in usages for part in ("input", "output")),
        model_calls=kinds.count(Kind.MODEL_REQUEST),
        tool_calls=kinds.count(Kind.TOOL_CALL),
        wasted=sum(steps_wasted(trace, task.shortest) for trace in traces),
        doubled=effects_doubled(events),
        error=error,
    )
    (folder / RESULT).write_text(json.dumps(asdict(result)), encoding="utf-8")
    return result


def read_result(folder: Path) -> Result | None:
    """Return the result in a folder; None where there is none, or half of one."""
    try:
        return Result(**json.loads((folder / RESULT).read_bytes()))
    except (OSError, ValueError, TypeError):
        return None


def name_of(agent: AnyAgent) -> str:
    """Return the name of an agent: its `name`, or that of the function."""
    usual = getattr(agent, "__name__", type(agent).__name__)
    return str(getattr(agent, "name", usual))


def _end(agent: Any, task: Task, folder: Path) -> tuple[str, str | None, str]:
    """Return how the agent ended: state, answer, and the error."""
    try:
        end = agent(task, folder)
    except KeyboardInterrupt:
        raise
    except BaseException as raised:
        return State.ERROR, None, f"{type(raised).__name__}: {raised}"[:2000]
    if isinstance(end, RunResult):
        if end.state == State.CANCELLED:  # the machine took the Ctrl-C that was for us
            raise KeyboardInterrupt
        error = end.message if end.state == State.ERROR else ""
        return str(end.state), end.answer, error
    if end is None or isinstance(end, str):
        return ("DONE" if end else "NO_ANSWER"), end, ""
    return State.ERROR, None, f"no RunResult, text or None but {end!r:.80}"
