"""K runs of one question, and what n of them say about fewer."""

from collections.abc import Callable
from dataclasses import dataclass, fields
from math import comb

from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.table import State


@dataclass(frozen=True, slots=True)
class Sample(RunResult):
    """One of several runs: how it ended, and its seed."""

    seed: int = 0


def ask_k(
    make: Callable[[int], Machine], question: str, k: int
) -> list[Sample | Exception]:
    """Run a question k times; return the runs in the order of their seeds, 1 to k.

    `make` makes a new machine for a seed; each trace says its seed in `run_started`. A
    run that raises is that exception in the list. Ctrl-C is raised, and no other run
    begins.
    """
    return [_run(make, question, seed) for seed in range(1, k + 1)]


def _run(
    make: Callable[[int], Machine], question: str, seed: int
) -> Sample | Exception:
    try:
        machine = make(seed)
        machine.about = {**machine.about, "seed": seed}
        end = machine.run(question)
    except Exception as error:
        return error
    if end.state == State.CANCELLED:  # the machine took Ctrl-C for itself
        raise KeyboardInterrupt
    known = {field.name: getattr(end, field.name) for field in fields(RunResult)}
    return Sample(**known, seed=seed)


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
