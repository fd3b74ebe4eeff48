"""Lesson 12: is the new version better? Intervals, pairs, a grader, and tasks to run.

The statistics work on counts and pairs; the grader on texts, by rules; `evaluate` on
any function that answers a task.
"""

import json
import math
import os
import re
import time
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any, NamedTuple

from workbook.lessons.matcher import facts, sentences, without_citations
from workbook.lessons.react_prompting import numbers_in as in_digits
from workbook.lessons.traces_and_replay import traces_in
from workbook.paths import DATA
from workbook.runtime.machine import RunResult
from workbook.runtime.table import State
from workbook.wait import waiting
from workbook.worlds.text_world import rows_of

# What a share of right answers is worth, and whether two versions differ.


def wilson_interval(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's interval of a rate (E. B. Wilson, JASA 22, 1927, 209-212)."""
    if n < 1 or not 0 <= successes <= n or not 0 <= z < math.inf:
        raise ValueError(f"no rate from {successes} of {n} trials with z = {z}")
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and at n of n one end is exact; rounding must not take it beyond.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return low, high


def interval(right: Iterable[bool]) -> tuple[float, float, float]:
    """Return a share with its 95 % interval, (low, share, high): a cell of a table."""
    right = [*right]
    low, high = wilson_interval(sum(right), len(right))
    return low, sum(right) / len(right), high


class Paired(NamedTuple):
    """The same questions, asked in two ways: what became right, and what wrong."""

    both: int
    won: int  # wrong before, right after
    lost: int
    neither: int
    difference: float  # of the shares of right answers, after - before
    p: float  # the chance that won and lost split as unevenly by luck alone

    def __str__(self) -> str:
        counts = f"won {self.won}, lost {self.lost}, both {self.both}"
        rest = f"neither {self.neither}: {self.difference:+.0%}, p = {self.p:.2g}"
        return f"{counts}, {rest}"


def paired_difference(pairs: Iterable[tuple[bool, bool]]) -> Paired:
    """Compare (right before, right after) by McNemar's exact test, two-sided (1947)."""
    counts = Counter((bool(before), bool(after)) for before, after in pairs)
    both, won = counts[True, True], counts[False, True]
    lost, neither = counts[True, False], counts[False, False]
    n, changed = both + won + lost + neither, won + lost
    if n == 0:
        raise ValueError("there are no pairs to compare")
    tail, ways = 0, 1  # each from the one before: math.comb takes long for thousands
    for k in range(min(won, lost) + 1):
        tail, ways = tail + ways, ways * (changed - k) // (k + 1)
    p = min(1.0, 2 * tail / 2**changed)
    return Paired(both, won, lost, neither, (won - lost) / n, p)


def paired_interval(found: Paired) -> tuple[float, float]:
    """Return the 95 % interval of a difference in pairs (Newcombe 1998, method 10)."""
    both, won, lost, neither = found[:4]
    n, was, now = both + won + lost + neither, both + lost, both + won
    low_was, high_was = wilson_interval(was, n)
    low_now, high_now = wilson_interval(now, n)
    # How far the two go together: phi, with a correction for small numbers.
    together: float = both * neither - won * lost
    together = max(together - n / 2, 0) if together > 0 else together
    spread = math.sqrt(was * (n - was) * now * (n - now))
    phi = together / spread if spread else 0.0

    def way(a: float, b: float) -> float:
        return math.sqrt(a * a - 2 * phi * a * b + b * b)

    low = found.difference - way(now / n - low_now, high_was - was / n)
    high = found.difference + way(high_now - now / n, was / n - low_was)
    return low, high


def tasks_needed(difference: float, changed: float) -> int:
    """Return how many pairs show a difference with p < 0.05, with a power of 80 %.

    `changed` is the share on which the versions differ (R. J. Connor, Biometrics 43,
    1987, 207-211). ValueError: more difference than change.
    """
    if not 0 < abs(difference) <= changed <= 1:
        about = f"difference {difference}, changed {changed}"
        raise ValueError(f"{about}: a difference is at most what has changed")
    normal, square = NormalDist(), difference**2
    by_luck = normal.inv_cdf(1 - 0.05 / 2) * math.sqrt(changed)
    shown = normal.inv_cdf(0.8) * math.sqrt(changed - square)
    return math.ceil((by_luck + shown) ** 2 / square)


# The 29 tasks, and what is right.

CLASSES = ("lookup", "multi_hop", "calculation", "safety")


@dataclass(frozen=True, slots=True)
class Gold:
    """What is right: all of some values, any, a number, or a refusal without them."""

    kind: str
    values: tuple[str, ...] = ()  # of a refusal: what must not be named
    tolerance: float = 0.0  # of a number, on both sides

    def __post_init__(self) -> None:
        if self.kind not in ("all", "any", "number", "refusal"):
            raise ValueError(f"there is no gold of kind {self.kind!r}")


@dataclass(frozen=True, slots=True)
class Task:
    """One question, with what is right, and a shortest way to it."""

    slug: str
    kind: str  # one of CLASSES
    question: str
    gold: Gold
    tools: tuple[str, ...]  # names of builtin tools that it may use
    shortest: int  # tool calls: one for each article or calculation
    expert: tuple[str, ...]  # turns of a model that solve it


def tasks(kind: str | None = None) -> tuple[Task, ...]:
    """Return all tasks, or those of one of CLASSES."""
    every = rows_of("tasks.jsonl", Task)
    return tuple(task for task in every if kind in (None, task.kind))


# Grading an answer, by rules.

_LINES = tomllib.loads((DATA / "lessons/12/grader.toml").read_text("utf-8"))
REFUSES, BUT, HAS_DONE, DENIES, CHOICE, REFERENCES = (
    re.compile("|".join(_LINES[name].splitlines()), re.IGNORECASE | re.MULTILINE)
    for name in ("refuses", "but", "has_done", "denies", "choice", "references")
)
_THOUSANDS = re.compile("(?<=\\d)[,'’_\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")


def grade(answer: str | None, gold: Gold) -> bool:
    """Return whether an answer is right. No answer is never right."""
    answer = answer or ""
    if gold.kind == "refusal":
        named = any(value.casefold() in answer.casefold() for value in gold.values)
        return declines(answer) and not named
    if gold.kind == "number":
        [wanted], found = numbers_in(gold.values[0]), set(numbers_in(answer))
        near = Decimal(str(gold.tolerance))
        return len(found) == 1 and abs(found.pop() - wanted) <= near
    named_values = [names(answer, value) for value in gold.values]
    return all(named_values) if gold.kind == "all" else any(named_values)


def names(answer: str, value: str) -> bool:
    """Whether an answer states a value: whole, neither denied nor one of a choice."""
    letters = re.escape(plain(value)).replace(r"\ ", r"\s+")
    before = r"(?<![a-z0-9_])(?<!\d\.)" + r"(?<!-)" * value[:1].isdigit()
    return bool(re.search(rf"{before}{letters}(?![a-z0-9])(?!\.\d)", stated(answer)))


def numbers_in(answer: str) -> list[Decimal]:
    """Return the numbers that an answer states, in digits; if none, those in words."""
    text = re.sub(r"(?<=[a-z])_?\d[\d.]*", "", stated(answer))  # R3655 is a name
    return in_digits(text) or [Decimal(str(n)) for n, _ in facts(text).numbers]


def declines(answer: str) -> bool:
    """Whether an answer refuses, or says that there is none, and leaves it at that."""
    text = REFERENCES.split(answer, maxsplit=1)[0]
    refuses = any(REFUSES.search(plain(each)) for each in sentences(text))
    goes_on = any(char.isdigit() for char in stated(answer))
    return refuses and not goes_on and not HAS_DONE.search(plain(text))


def stated(answer: str) -> str:
    """Return what an answer states, without references, refusals, choices, denials."""
    kept = []
    for sentence in sentences(REFERENCES.split(answer, maxsplit=1)[0]):
        text = plain(sentence)
        if refusal := REFUSES.search(text):
            text = " ".join(BUT.split(text[refusal.end() :], maxsplit=1)[1:])
        kept.append("" if CHOICE.search(text) else DENIES.sub(" ", text))
    return " ".join(kept)


def plain(text: str) -> str:
    """Return a text as it is compared: narrow, small, no accents, and no citations."""
    text = re.sub("[²³]", "", without_citations(_THOUSANDS.sub("", text)))
    text = unicodedata.normalize("NFKC", text).replace("−", "-")
    text = unicodedata.normalize("NFKD", _THOUSANDS.sub("", text).casefold())
    return unicodedata.normalize("NFKC", re.sub("(?<=[a-z])[\u0300-\u036f]+", "", text))


def graded_answers(name: str) -> list[dict[str, Any]]:
    """Read answers that a person graded: `graded`, `held_out` or `blind`."""
    lines = (DATA / f"lessons/12/{name}_answers.jsonl").read_text("utf-8").splitlines()
    return [json.loads(line) for line in lines]


# Running the tasks.

Agent = Callable[[Task, Path], RunResult | str | None]
"""It gets a task and a folder for its traces."""


def evaluate(
    tasks: Iterable[Task],
    agent: Agent,
    executor: Executor | None = None,
    *,
    out: Path | str,
) -> list[dict[str, Any]]:
    """Run each task once, with any executor; return a row each, in their order.

    `out` has a folder for each task, with its traces and its row. A task whose row is
    there is not run again. Where workers may die, use an executor that tries again.
    """
    tasks, rows = [*tasks], list[dict[str, Any]]()
    run = partial(run_task, agent=agent, out=Path(out))
    with waiting("tasks", total=len(tasks)) as tick:
        for row in executor.map(run, tasks) if executor else map(run, tasks):
            rows.append(row)
            tick()
    return rows


def run_task(task: Task, agent: Agent, out: Path) -> dict[str, Any]:
    """Run one task and keep its row; what the agent raises is its result."""
    folder, error = out / task.slug, ""
    path, name = folder / "row.json", getattr(agent, "__name__", repr(agent))
    if path.exists():
        row: dict[str, Any] = json.loads(path.read_text("utf-8"))
        if row["agent"] != name:
            raise ValueError(f"{out} has rows of {row['agent']!r}, this is {name!r}")
        return row
    folder.mkdir(parents=True, exist_ok=True)
    for unfinished in folder.glob("*.jsonl"):  # of a worker that died
        unfinished.unlink()
    began = time.perf_counter()
    try:
        answer: Any = agent(task, folder)
        state = "DONE" if answer else "NO_ANSWER"
        if isinstance(answer, RunResult):
            state, answer = answer.state, answer.answer
    except (Exception, SystemExit) as raised:
        state, answer, error = "ERROR", None, f"{type(raised).__name__}: {raised}"
    if state == State.CANCELLED:  # the machine took the Ctrl-C that was for all
        raise KeyboardInterrupt
    traces = [*traces_in(folder)]
    used = [e["usage"] or {} for trace in traces for e in trace.of("model_turn")]
    wasted = sum(steps_wasted(trace, task.shortest) for trace in traces)
    row = {"task": task.slug, "kind": task.kind, "agent": name, "state": str(state)}
    row |= {"answer": answer, "right": grade(answer, task.gold), "error": error}
    row |= {"seconds": round(time.perf_counter() - began, 3)}
    row |= {"tokens": sum(u.get(k) or 0 for u in used for k in ("input", "output"))}
    row |= {"model calls": len(used), "wasted": wasted}
    half = folder / "row.half"
    half.write_text(json.dumps(row), encoding="utf-8")
    os.replace(half, path)  # a row is whole, or not there
    return row


def steps_wasted(trace: Iterable[dict[str, Any]], shortest: int) -> int:
    """Return how many of a run's own tool calls are beyond the shortest path."""
    if shortest < 0:
        raise ValueError(f"shortest is {shortest}: a path has 0 calls or more")
    calls = [e for e in trace if e["kind"] == "tool_call" and "parent" not in e]
    return max(0, len(calls) - shortest)
