"""K runs of one question, and what n of them say about fewer.

`ask_k` runs them, one by one or on any executor; `pass_at_k` is about fewer.
"""

from collections.abc import Callable
from concurrent.futures import Executor
from copy import copy
from dataclasses import dataclass, fields
from functools import partial
from math import comb
from typing import Any

from workbook.fsm.machine import RunResult
from workbook.fsm.table import State
from workbook.models.base import ignore
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

Make = Callable[[int], Any]  # a machine of a seed


@dataclass(frozen=True, slots=True)
class Sample(RunResult):
    """One of several runs: how it ended, with its seed and its trace."""

    seed: int = 0
    trace: Trace | None = None


def ask_k(
    make: Make, question: str, k: int, *, executor: Executor | None = None
) -> list[Sample | Exception]:
    """Run a question k times; return the runs in the order of their seeds, 1 to k.

    A run that raises is that exception in the list. Each trace says its seed in
    `run_started`. Ctrl-C is raised, and no other run begins. One by one it cancels the
    run at work; on an executor those at work come to their end.

    ValueError: k is below 1.

    Args:
        make: makes the machine of a seed; pickled, for processes.
        executor: runs them at once: threads, processes, a cluster. None: one by one.
    """
    if k < 1:
        raise ValueError(f"k is {k}: ask at least once")
    at_once = executor.map if executor else map  # interrupted, both begin no other
    return list(at_once(partial(_run, make, question), range(1, k + 1)))


def _run(make: Make, question: str, seed: int) -> Sample | Exception:
    try:
        machine = copy(make(seed))  # it may be the caller's, and be given out again
        if machine.hook is ignore:
            machine.hook = TraceWriter()
        machine.about = {**machine.about, "seed": seed}
        end = machine.run(question)
    except Exception as error:
        return error
    if end.state == State.CANCELLED:  # the machine took Ctrl-C for itself
        raise KeyboardInterrupt
    trace = machine.hook.trace() if hasattr(machine.hook, "trace") else None
    known = {field.name: getattr(end, field.name) for field in fields(RunResult)}
    return Sample(**known, seed=seed, trace=trace)


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return how often at least one of k runs is right, where c of n runs were.

    1 - C(n - c, k) / C(n, k), without bias (Chen et al., 2021, arXiv:2107.03374).
    ValueError: c is not from 0 to n, or k not from 1 to n.

    >>> pass_at_k(n=5, c=2, k=3)
    0.9
    """
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"c = {c} right and k = {k} drawn, of n = {n} runs")
    return 1 - comb(n - c, k) / comb(n, k)
