"""What a run is asked, and what its trace keeps of it."""

import argparse
import itertools
from pathlib import Path
from typing import Any

from config import UsageError

from workbook.fsm.machine import RunResult
from workbook.guardrails.budget import Budget, Prices
from workbook.traces.events import TraceError
from workbook.traces.trace import Trace

HISTORY_CHARS = 8_000  # of earlier questions and answers, the latest ones


def free(path: Path) -> Path:
    """Return the path, or one beside it that no file has yet."""
    others = (path.with_stem(f"{path.stem}_{n}") for n in itertools.count(2))
    return next(each for each in itertools.chain([path], others) if not each.exists())


def read_trace(path: Path) -> Trace:
    """Return the trace in a file; TraceError where there is none."""
    trace = Trace.read(path)
    if not trace.events or "question" not in trace.events[0]:
        raise TraceError(f"{path} is no trace of this agent")
    return trace


def as_then(given: argparse.Namespace, path: Path) -> None:
    """Take from a trace what the run was asked for; UsageError for anything else."""
    trace = read_trace(path)
    began = trace.events[0]
    if given.resume and trace.end:
        state = trace.end["state"]
        raise UsageError(f"The run in {path} has ended, in {state}: there is no more.")
    for name in ("question", "model", "folder", "mode"):
        was, now = began.get(name) or "", getattr(given, name) or ""
        if now and str(now) != was:
            raise UsageError(f"{path}: its {name} was {was or 'none'!r}, not '{now}'.")
        setattr(given, name, was)


def as_budget(told: dict[str, Any]) -> Budget:
    """Return the limits that a trace tells."""
    limits = {name: value for name, value in told.items() if value is not None}
    if prices := limits.pop("prices", None):
        limits["prices"] = Prices(**prices)
    return Budget(**limits)


def message_of(ended: RunResult, path: Path) -> str:
    """Return the reason of an end in words; of a limit, which one it was."""
    if ended.reason != "not_converged":
        return ended.message
    told = [e["why"] for e in Trace.read(path).of("decision") if e["who"] == "budget"]
    return f"{told[-1]}, and the model has not answered"


def with_history(history: list[tuple[str, str]], question: str) -> str:
    """Return a question with the latest questions and answers before it."""
    told: list[str] = []
    size = 0
    for asked, answer in reversed(history):
        told.insert(0, f"User: {asked}\nYou: {answer}\n")
        size += len(told[0])
        if size > HISTORY_CHARS:
            break
    if not told:
        return question
    return f"Earlier in this conversation:\n{''.join(told)}\nNow: {question}"
