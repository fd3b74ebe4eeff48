"""Lab 12: agents with parts left out, models as judges, and who agrees with whom."""

import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

from workbook.lessons import grounding
from workbook.lessons.evaluation import Task, interval
from workbook.lessons.self_consistency import consensus
from workbook.lessons.traces_and_replay import steps_of
from workbook.lessons.untrusted import taint
from workbook.paths import DATA
from workbook.runtime.budget import WITHDRAWN, Budget, budget
from workbook.runtime.calls import clip
from workbook.runtime.ledger import Make, Once
from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.model import Model
from workbook.runtime.permission import POLICY, PolicyRule, Reject, Verdict, permission
from workbook.runtime.script import Script
from workbook.runtime.stuck import stuck
from workbook.runtime.table import State
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.worlds.catalogue import builtin_tools

# Agents, whose model is a script.

GUARDS = ("grounding", "budget", "stuck", "policy", "ledger", "screen", "taint")
ANYTHING = (PolicyRule(Verdict.ALLOW, why="there is no policy"),)
CALL = "Thought: I go on.\nAction: {}\nAction Input: {}"
GIVES_UP = "Final Answer: I do not know."
SLIPS = 0.2  # of the runs of "careful"


@dataclass(frozen=True)
class Agent:
    """An agent as a configuration: it can be sent to another process, and run there."""

    script: str = "expert"  # see `turns_of`
    guards: tuple[str, ...] = GUARDS
    k: int = 1  # runs, of which a consensus is taken
    planner: bool = True
    search: bool = True
    calculator: bool = True

    def __call__(self, task: Task, folder: Path) -> RunResult | str | None:
        """Run a task k times, with a trace each."""
        ends = []
        for seed in range(1, self.k + 1):
            path = folder / f"run_{seed}.jsonl"
            end = self.machine(task, seed).run(task.question, path)
            if end.state == grounding.REFUSED:
                end = replace(end, answer=f"I cannot answer that: {end.message}.")
            ends.append(end)
        return ends[0] if self.k == 1 else consensus(ends).answer

    def machine(self, task: Task, seed: int) -> Machine:
        """Return a new machine for a task."""
        kept = {"Plan": self.planner, "WikiSearch": self.search, "Pay": True}
        kept["Calculator"] = self.calculator
        names = [*task.tools, *["Pay"] * (self.script == "pays twice")]
        tools = builtin_tools(dict.fromkeys(name for name in names if kept[name]))
        grounded, limited = "grounding" in self.guards, "budget" in self.guards
        if grounded:
            tools = [citable(t) if t.name == "Calculator" else t for t in tools]
        fenced: Any = {"screened": "screen" in self.guards, "fence": True}
        rules = POLICY if "policy" in self.guards else ANYTHING
        guards = [
            *grounding.grounding() * grounded,
            *[taint(**fenced, then=grounding.VERIFY if grounded else State.DONE)]
            * ("taint" in self.guards),
            *[stuck()] * ("stuck" in self.guards),
            budget(Budget(10, 10) if limited else Budget(40, 80), converge=limited),
            permission(lambda request: Reject("nobody allows anything"), rules=rules),
        ]
        turns = turns_of(self.script, task, seed, self.planner)
        return Machine(
            Script(turns, repeat_last=True),
            tools,
            guards,
            preamble=grounding.citing_preamble(tools),
            make=Once() if "ledger" in self.guards else Make(),
        )


def citable(tool: Tool) -> Tool:
    """Return a calculator whose results can be cited: the first one is [calc_1]."""
    known: dict[str, int] = {}

    def run(expression: str) -> dict[str, Any]:
        seen: dict[str, Any] = tool.run(expression=expression)
        doc_id = f"calc_{known.setdefault(expression, len(known) + 1)}"
        text = f"The result of {expression} is {seen['result']}."
        shown = {"doc_id": doc_id, "title": tool.name, "score": 1.0, "text": text}
        return {**seen, "results": [shown]}

    return replace(tool, run=run)


def turns_of(
    script: str, task: Task, seed: int = 1, planner: bool = True
) -> tuple[Any, ...]:
    """Return the turns of an expert, or of one that goes astray and ends as it does.

    "careful" plans where it can, gives up without a tool, and in a share of its runs.
    The others repeat a call, wander, pay twice as a page says, or make up a fact.
    """
    *calls, final = task.expert
    look = CALL.format("WikiSearch", '{{"query": "{}"}}')
    if script == "careful":
        slips = Random(f"{task.slug} {seed}").random() < SLIPS
        plan = CALL.format("Plan", json.dumps({"question": task.question}))
        last = _until("no tool named", GIVES_UP, GIVES_UP if slips else final)
        return (*[plan] * (planner and "Plan" in task.tools), *calls, last)
    if script == "repeats":
        first, *rest = (*calls, final) if calls else (look.format("payment"), final)
        again = re.sub(r'(?<="query": ")[^"]+', lambda query: query[0].upper(), first)
        rest = [*rest, *[final] * 60]
        then = [_until("Do something else.", turn, first) for turn in rest]
        return (first, again, first, *then)
    if script == "wanders":
        new = (look.format(f"Zorbia {n}") for n in range(60))
        return (*calls, *(_until(WITHDRAWN, final, turn) for turn in new))
    if script == "pays twice":
        pay = CALL.format("Pay", '{"payee": "Mallory", "amount": %s, "reference": "R"}')
        return (*calls, pay % "40", pay % "40.0", final)
    if script == "makes up":
        seen = '\nObservation: {"results": ["Zorbia"]}\nFinal Answer: Zorbia'
        cited = (grounding.find_citations(final) or ["w001"])[0]
        lies = [f"Final Answer: It is Zorbia{c}." for c in (f" [{cited}]", "")]
        return (*calls, look.format("Zorbia") + seen, *lies, final)
    return task.expert


def _until(text: str, then: str, other: str) -> Callable[[str], str]:
    return lambda seen: then if text in seen else other


# Judges, and how far two graders agree.

_WORDS = tomllib.loads((DATA / "lessons/12/judge.toml").read_text("utf-8"))
RUBRIC, PREFER, FILLER, DEMAND = (
    str(_WORDS[name]) for name in ("rubric", "prefer", "filler", "demand")
)
# A number on our scale and on no other: not of 4.5, 45, 4/10, "4 or 5".
_NUMBER = (
    r"([1-5])(?!\d|\.\d)(?:\s*(?:/|out of)\s*5\b)?(?!\s*(?:/|-|or|to|out of)\s*\d)"
)
_SCORE = re.compile(rf"\bscore\W*(?:is\W+)?{_NUMBER}", re.IGNORECASE)


def judge(
    model: Model, question: str, answer: str, trace: Trace | None = None, gold: str = ""
) -> tuple[int | None, str]:
    """Let a model grade an answer and its run by `RUBRIC`: a score, and its text."""
    lines = [RUBRIC, f"Question: {question}"]
    lines += [f"The right answer: {gold}"] * bool(gold)
    for step in steps_of(trace) if trace else ():
        if step["event"] in ("thought", "action", "observation"):
            lines.append(f"{step['event']}: {clip(str(list(step.values())[2:]), 120)}")
    asked = "\n".join([*lines, f"Answer: {answer}", "Score:"])
    text = model.complete(asked, stop=["\n"]).text
    return read_score(text), text


def read_score(text: str) -> int | None:
    """Return the one score that a text gives, or None where it gives none, or two."""
    plain = unicodedata.normalize("NFKC", text)
    begins = re.match(rf"\W*{_NUMBER}", plain)
    scores = set(_SCORE.findall(plain)) or ({begins[1]} if begins else set())
    return int(scores.pop()) if len(scores) == 1 else None


def agreement(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    """Return Cohen's kappa (J. Cohen, EPM 20, 1960, 37-46): agreement beyond luck."""
    return kappa_interval(ours, theirs)[1]


def kappa_interval(
    ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> tuple[float, float, float]:
    """Return kappa in its 95 % interval: Wilson's of what agrees, luck as known."""
    n, counts, others = len(ours), Counter(ours), Counter(theirs)
    if n == 0 or n != len(theirs):
        raise ValueError(f"two rows of as many labels are needed: {n}, {len(theirs)}")
    luck = sum(counts[label] * others[label] for label in counts) / n**2
    if luck == 1:
        raise ValueError(f"both say {ours[0]!r} to everything: that shows nothing")
    shares = interval(a == b for a, b in zip(ours, theirs, strict=True))
    low, kappa, high = ((share - luck) / (1 - luck) for share in shares)
    return max(low, -1.0), kappa, high
