"""What a run is asked, and what its trace keeps of it."""

import argparse
import itertools
import math
from pathlib import Path
from typing import Any

from config import UsageError

from workbook.runtime.budget import limits_of
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import RunResult
from workbook.runtime.permission import PolicyRule
from workbook.runtime.trace import Trace, TraceError

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
    began = read_trace(path).events[0]
    then = began | {"mode": began["settings"]["permission"]["mode"]}
    for name in ("question", "model", "folder", "mode"):
        was, now = then.get(name) or "", getattr(given, name) or ""
        if now and str(now) != was:
            raise UsageError(f"{path}: its {name} was {was or 'none'!r}, not '{now}'.")
        setattr(given, name, was)


def guards_then(settings: dict[str, Any]) -> list[Guard]:
    """Return the guards that a run began with."""
    limits, permission = settings["limits"], settings["permission"]
    budget: Any = limits_of(limits)  # a Budget: config.toml limits the tokens
    return all_guards(
        budget,
        None,
        permission["mode"],
        [PolicyRule(*rule) for rule in permission["rules"]],
        converge=limits["converge"],
        context_tokens=settings["context"]["tokens"] or math.inf,
    )


def message_of(ended: RunResult) -> str:
    """Return the reason of an end in words; of a limit, which one it was."""
    if ended.reason != "not_converged":
        return ended.message
    why = [e["why"] for e in ended.trace.of("decision") if e["who"] == "budget"]
    return f"{why[-1]}, and the model has not answered"


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
