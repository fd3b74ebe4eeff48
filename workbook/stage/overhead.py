"""What a guard costs per step: model and tool cost next to nothing.

The machine plays the same short script with one guard after the other, in one process,
and writes its trace to disk.
"""

from __future__ import annotations

import itertools
import tempfile
import time
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from workbook.fsm import Limits, Machine, State
from workbook.fsm.handlers import HANDLERS, Handler
from workbook.guardrails.budget import Budget, Prices
from workbook.guardrails.machine import guarded
from workbook.guardrails.table import GuardEvent, GuardState
from workbook.models.script import Script
from workbook.tools import Tool, ToolRegistry
from workbook.traces.writer import TraceWriter

if TYPE_CHECKING:
    import pandas as pd

QUESTION = "Is it done?"
ACTION = "Thought: I note it.\nAction: Note\nAction Input: {n}"
ANSWER = "Thought: I now know the final answer.\nFinal Answer: done"

Runner = Callable[[int, Path], Callable[[], object]]
"""Gets a run of so many steps, traced to the path, ready; returns what is timed."""


def guard_costs(steps: int = 20, repeats: int = 5) -> pd.DataFrame:
    """Measure each guard alone and all of them; a row each, of its fastest run."""
    import pandas as pd

    if steps < 2 or repeats < 1:
        raise ValueError(f"need 2 steps and 1 repeat or more, not {steps}, {repeats}")
    with tempfile.TemporaryDirectory() as folder:
        seconds = measure(GUARDS, steps, repeats, Path(folder))
    best = pd.Series({name: min(took) for name, took in seconds.items()})
    per_step = best / steps * 1e6
    return pd.DataFrame({"µs_per_step": per_step, "times_none": best / best["none"]})


def measure(
    runners: Mapping[str, Runner], steps: int, repeats: int, folder: Path
) -> dict[str, list[float]]:
    """Return the seconds of each timed run, by name.

    They take turns, each after a run to warm up; getting ready is never timed.
    """
    seconds: dict[str, list[float]] = {name: [] for name in runners}
    paths = (folder / f"{number}.jsonl" for number in itertools.count())
    for _ in range(repeats):
        for name, ready in runners.items():
            ready(steps, next(paths))()
            seconds[name].append(seconds_of(ready(steps, next(paths))))
    return seconds


def seconds_of(run: Callable[[], object]) -> float:
    """Return a run's processor time, in all threads: waiting for others is no cost."""
    started = time.process_time()
    run()
    return time.process_time() - started


def note_tool() -> Tool:
    """Return a tool that does next to nothing, in the calling thread."""
    schema = {"properties": {"input": {"type": "string"}}, "required": ["input"]}
    noted = {"result": "noted"}
    return Tool("Note", "Note one thing.", schema, lambda input: noted, timeout_s=None)


def text_turns(steps: int) -> list[str]:
    """Return the script as text: `steps - 1` calls, each another one, and an answer."""
    return [*(ACTION.format(n=n) for n in range(1, steps)), ANSWER]


def machine_run(steps: int, path: Path) -> Callable[[], object]:
    """Get the machine ready; its trace goes to `path`, line by line."""
    script, tools = Script(text_turns(steps)), ToolRegistry([note_tool()])
    limits, emit = Limits(steps=steps, tool_calls=steps, wall_s=600), TraceWriter(path)
    return _traced(Machine(script, tools, limits=limits, hook=emit), emit)


def _traced(machine: Machine, emit: TraceWriter) -> Callable[[], object]:
    def run() -> object:
        with emit:
            return machine.run(QUESTION)

    return run


UNGUARDED: dict[str, Handler] = {
    **HANDLERS,
    GuardState.POLICY: lambda run: GuardEvent.ALLOWED,
}


def guarded_run(
    steps: int,
    path: Path,
    states: Collection[str] = tuple(UNGUARDED),
    budget: Mapping[str, Any] = MappingProxyType({}),
    **options: Any,
) -> Callable[[], object]:
    """Get the guarded machine ready, with its guards in some of its states only."""
    script, emit = Script(text_turns(steps)), TraceWriter(path)
    most = Budget(steps=steps, tool_calls=steps, wall_s=600, **budget)
    machine = guarded(script, [note_tool()], budget=most, hook=emit, **options)
    for state, handler in UNGUARDED.items():
        if state not in states:
            machine.handlers[state] = handler

    return _traced(machine, emit)


def one_guard(*states: str, **options: Any) -> Runner:
    """Return a runner with the guards in these states, and without convergence."""
    return partial(guarded_run, states=states, **{"converge": False, **options})


PRICED = {"money": 1e6, "prices": Prices("EUR", "made up", 1.0, 4.0, 0.1)}

GUARDS: dict[str, Runner] = {
    "none": machine_run,
    "the rows of its table alone": one_guard(),
    "policy": one_guard(GuardState.POLICY, State.EXECUTE_TOOL),
    "stuck": one_guard(State.OBSERVE),
    "budget: steps, calls, time": one_guard(State.THINK),
    "budget: tokens": one_guard(State.THINK, budget={"tokens": 1e6}),
    "budget: money": one_guard(State.THINK, budget=PRICED),
    "convergence": one_guard(State.THINK, converge=True),
    "context": one_guard(context_tokens=100_000),
    "all": partial(
        guarded_run,
        budget={"tokens": 1e6, "model_s": 60, **PRICED},
        context_tokens=100_000,
    ),
}
"""Guards that have nothing to do: what they cost where they let everything pass."""
