"""K runs of one question, and what n of them say about fewer.

`ask_k` runs them, on any executor. The closed forms say how often k runs would hold a
right answer, all be right, or vote for it: k of the n are drawn, none of them twice.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import (
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import nullcontext
from copy import copy
from dataclasses import dataclass, fields
from math import comb
from typing import Any
from uuid import uuid4

from workbook.fsm.limits import Spent
from workbook.fsm.machine import RunResult
from workbook.loop import paper_agent
from workbook.models.base import ignore
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter

Make = Callable[[int], Any]  # a machine, or a `Plain`, of a seed


@dataclass(frozen=True, slots=True)
class Sample(RunResult):
    """One of several runs: how it ended, with its seed and its trace."""

    seed: int = 0
    trace: Trace | None = None


def ask_k(
    make: Make, question: str, k: int, *, executor: Executor | None = None
) -> list[Sample | BaseException]:
    """Run a question k times; return the runs in the order of their seeds, 1 to k.

    A run that raises is that exception in the list. Each trace says its seed in
    `run_started`, with all that `about` holds. For one budget over all runs, give one
    `SharedBudget` to all machines; with a path it holds in other processes too. At
    Ctrl-C no other begins (but the next one that a process pool has fetched), and what
    runs in this process is cancelled. ValueError: k is below 1.

    Args:
        make: makes the machine of a seed, or a `Plain`; pickled, for processes.
        executor: runs them at once: threads, processes, a cluster. None: one by one.
    """
    if k < 1:
        raise ValueError(f"k is {k}: ask at least once")
    own = ThreadPoolExecutor(1) if executor is None else None  # Ctrl-C comes here
    pool: Any = executor or own
    futures, batch = list[Future[Sample]](), uuid4().hex
    with own or nullcontext():
        try:
            for seed in range(1, k + 1):
                futures.append(pool.submit(_sample, make, question, seed, batch))
            wait(futures)
        except KeyboardInterrupt:
            _STOPPED.add(batch)  # one may have been submitted, and not be in the list
            for each in futures:
                each.cancel()
            while not all(each.done() for each in futures):
                for machine in list(_RUNNING):
                    machine.cancel()
                wait(futures, timeout=0.05)
            raise
    return [each.exception() or each.result() for each in futures]


_RUNNING: list[Any] = []  # the machines at work in this process
_STOPPED: set[str] = set()  # the batches of which no run begins any more


def _sample(make: Make, question: str, seed: int, batch: str) -> Sample:
    if batch in _STOPPED:
        raise CancelledError
    machine = copy(make(seed))  # it may be the caller's, and be given out again
    if machine.hook is ignore:
        machine.hook = TraceWriter()
    machine.about = {**machine.about, "seed": seed}
    _RUNNING.append(machine)
    try:
        end = machine.run(question)
    finally:
        _RUNNING.remove(machine)
    trace = machine.hook.trace() if hasattr(machine.hook, "trace") else None
    known = {field.name: getattr(end, field.name) for field in fields(RunResult)}
    return Sample(**known, seed=seed, trace=trace)


class Plain:
    """A model without a machine, asked in one of the paper's ways, as `ask_k` asks.

    `asked` is what else `paper_agent.run` takes: exemplars, a world, options.
    """

    def __init__(self, method: str, model: Any, about: Any, **asked: Any) -> None:
        self.method, self.model, self.asked = method, model, asked
        self.about, self.stopped = dict(about), False
        self.hook: Any = ignore

    def cancel(self) -> None:
        """End the run with its next event."""
        self.stopped = True

    def run(self, question: str) -> RunResult:
        """Ask once; raises what the model or the world raises."""
        end: dict[str, Any] = {}

        def tell(kind: str, /, **told: Any) -> None:
            if self.stopped:
                raise KeyboardInterrupt
            self.hook(kind, **(self.about if kind == "run_started" else {}) | told)
            end.update(told)

        asked = {"question": question, "emit": tell, **self.asked}
        done = paper_agent.run(self.method, self.model, **asked)
        spent = Spent(done.calls, len(done.steps), usage=done.usage)
        known = end["state"], end["reason"], end["answer"]
        return RunResult(*known, spent, getattr(self.hook, "trace_id", ""))


def pass_at_k(n: int, c: int, k: int) -> float:
    """Return how often at least one of k runs is right, where c of n runs were.

    1 - C(n - c, k) / C(n, k), without bias (Chen et al., 2021, arXiv:2107.03374).
    ValueError: c is not from 0 to n, or k not from 1 to n.

    >>> pass_at_k(n=5, c=2, k=3)
    0.9
    """
    _check(n, c, k)
    return 1 - comb(n - c, k) / comb(n, k)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return how often all of k runs are right: C(c, k) / C(n, k); ValueError as above.

    >>> pass_hat_k(n=5, c=4, k=2)  # tau-bench's pass^k (arXiv:2406.12045)
    0.6
    """
    _check(n, c, k)
    return comb(c, k) / comb(n, k)


def majority_at_k(counts: Mapping[Any, int], k: int, right: Any) -> float:
    """Return how often k runs vote for the right answer, of n runs that gave `counts`.

    It wins where each other answer has fewer votes; a tie is no win. What is counted
    under None has no vote. ValueError as above, and for a count below 0.

    >>> majority_at_k({"88": 2, "90": 1, None: 1}, k=3, right="88")
    0.5
    """
    n, c = sum(counts.values()), counts.get(right, 0)
    _check(n, min([c, *counts.values()]), k)
    silent = [comb(counts.get(None, 0), i) for i in range(k + 1)]
    wins = 0
    for votes in range(1, min(c, k) + 1):  # of the right answer
        ways = silent  # to draw 0, 1, 2 … others, none of which has as many votes
        for answer, m in counts.items():
            if answer not in (right, None):
                fewer = [comb(m, i) for i in range(votes)] + [0] * k
                both = range(k - votes + 1)
                ways = [sum(ways[i - j] * fewer[j] for j in range(i + 1)) for i in both]
        wins += comb(c, votes) * ways[k - votes]
    return wins / comb(n, k)


def _check(n: int, c: int, k: int) -> None:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"c = {c} right and k = {k} drawn, of n = {n} runs")
