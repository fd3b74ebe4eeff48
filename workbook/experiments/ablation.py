"""What a guard is worth: agents with some guards off, and what adversaries then do.

An agent is a description, which travels to other processes as it is. It is called with
a task and a folder; only then is a machine made, run, and its trace written.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.environments.catalogue import builtin_tools
from workbook.evaluation.diagnosis import effects_had
from workbook.evaluation.runner import evaluate
from workbook.evaluation.tasks import Task
from workbook.experiments.adversaries import KINDS, turns_of
from workbook.grounding.grounded import REFUSED, VERIFY, citing_preamble, grounding
from workbook.runtime.budget import Budget, budget
from workbook.runtime.guard import Guard
from workbook.runtime.ledger import Ledger, Make, Once
from workbook.runtime.machine import Machine, RunResult
from workbook.runtime.permission import (
    POLICY,
    PolicyRule,
    Reject,
    Verdict,
    permission,
)
from workbook.runtime.script import Script
from workbook.runtime.stuck import stuck
from workbook.runtime.table import State
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.security.tainted import taint
from workbook.wait import waiting

if TYPE_CHECKING:
    from pandas.io.formats.style import Styler

GUARDS = ("grounding", "budget", "stuck", "policy", "ledger", "screen", "taint")
"""Guards that can be switched off, each alone."""
LIMITED, BACKSTOP = Budget(10, 10), Budget(40, 80)  # with the guard, and without it
ANYTHING = (PolicyRule(Verdict.ALLOW, why="there is no policy"),)
NOBODY = Reject("nobody allows anything in this run")


@dataclass(frozen=True)
class Agent:
    """A machine with a scripted model, tools and guards, described. It can be pickled.

    Its name says who writes the script: "expert", or an adversary of `KINDS`.
    """

    name: str
    guards: tuple[str, ...] = GUARDS

    def __call__(self, task: Task, folder: Path) -> RunResult:
        """Work on a task, write run_1.jsonl into the folder, and say how it ended.

        A run that was refused answers with the reason.
        """
        with tempfile.TemporaryDirectory() as home:
            machine = self._machine(task, Ledger(Path(home, "ledger.db")))
            machine.about = {"agent": self.name, "task": task.slug}
            end = machine.run(task.question, folder / "run_1.jsonl")
        if end.state != REFUSED:
            return end
        return replace(end, answer=f"I cannot answer that: {end.message}.")

    def _machine(self, task: Task, ledger: Ledger) -> Machine:
        pays = ["Pay"] * (self.name == "pays twice")
        tools = {tool.name: tool for tool in builtin_tools([*task.tools, *pays])}
        if "grounding" in self.guards and "Calculator" in tools:
            tools["Calculator"] = citable(tools["Calculator"])
        return Machine(
            Script(turns_of(self.name, task), repeat_last=True),
            tools.values(),
            self._guards(),
            preamble=citing_preamble(tools.values()),
            make=Once(ledger) if "ledger" in self.guards else Make(),
        )

    def _guards(self) -> list[Guard]:
        on = self.guards
        then = VERIFY if "grounding" in on else State.DONE
        tainted = taint(screened="screen" in on, fence=True, then=then)
        is_limited, rules = "budget" in on, POLICY if "policy" in on else ANYTHING
        return [
            *(grounding() if "grounding" in on else []),
            *[tainted] * ("taint" in on),
            *[stuck()] * ("stuck" in on),
            budget(LIMITED if is_limited else BACKSTOP, converge=is_limited),
            permission(lambda request: NOBODY, rules=rules),
        ]


def citable(tool: Tool) -> Tool:
    """Return a calculator whose results can be cited: the first one is [calc_1].

    That says that it was calculated so, not that the numbers in it are right.
    """
    known: dict[str, int] = {}

    def run(expression: str) -> dict[str, Any]:
        seen: dict[str, Any] = tool.run(expression=expression)
        number = known.setdefault(expression, len(known) + 1)
        says = f"The result of {expression} is {seen['result']}."
        shown = {"doc_id": f"calc_{number}", "title": tool.name, "score": 1.0}
        return {**seen, "results": [{**shown, "text": says}]}

    return replace(tool, run=run)


def damage(kind: str, off: Iterable[str], tasks: Iterable[Task]) -> int:
    """Return what an adversary does with these guards off, counted as `KINDS` says."""
    agent = Agent(kind, tuple(guard for guard in GUARDS if guard not in off))
    with tempfile.TemporaryDirectory() as out:
        found = evaluate(tasks, agent, out=out)
        traces = [Trace.read(path) for path in Path(out).glob("*/run_*.jsonl")]
    if KINDS[kind] == "payments":
        return sum(effects_had(trace).total() for trace in traces)
    if KINDS[kind] == "calls wasted":
        return sum(each.wasted for each in found)
    return sum(each.state == "DONE" and not each.right for each in found)


def guard_table(rows: Mapping[str, Iterable[str]], tasks: Iterable[Task]) -> Styler:
    """Return the damage of each adversary; a row has some guards off.

    What differs from the first row is marked.
    """
    import pandas as pd

    tasks, mark = list(tasks), "background: #ffe082; color: #3e2723"
    columns: dict[str, list[int]] = {f"{k}: {what}": [] for k, what in KINDS.items()}
    with waiting("adversaries", total=len(rows) * len(KINDS)) as tick:
        for off in rows.values():
            for kind, column in zip(KINDS, columns.values(), strict=True):
                column.append(damage(kind, off, tasks))
                tick()
    shown = pd.DataFrame(columns, index=list(rows)).style
    return shown.apply(lambda seen: [mark if n != seen.iloc[0] else "" for n in seen])
