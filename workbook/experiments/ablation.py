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
from workbook.fsm.machine import RunResult
from workbook.grounding.grounded import Ground, grounded
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import GuardedMachine
from workbook.guardrails.permission import POLICY, PolicyRule, Reject, Verdict
from workbook.models.script import Script
from workbook.security.tainted import with_taint
from workbook.tools.tool import Tool
from workbook.traces.trace import Trace
from workbook.traces.writer import TraceWriter
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
        with (
            tempfile.TemporaryDirectory() as home,
            TraceWriter(folder / "run_1.jsonl") as told,
        ):
            machine = self._machine(task, Ledger(Path(home, "ledger.db")))
            machine.hook = told
            machine.about = {"agent": self.name, "task": task.slug}
            end = machine.run(task.question)
        if end.state != Ground.REFUSED:
            return end
        return replace(end, answer=f"I cannot answer that: {end.message}.")

    def _machine(self, task: Task, ledger: Ledger) -> GuardedMachine:
        on, parts = self.guards, dict[str, Any]()
        pays = ["Pay"] * (self.name == "pays twice")
        tools = {tool.name: tool for tool in builtin_tools([*task.tools, *pays])}
        if "grounding" not in on:
            parts["audit_answer"] = lambda *answer, **how: ()
        elif "Calculator" in tools:
            tools["Calculator"] = citable(tools["Calculator"])
        if "stuck" not in on:
            parts["find_cycle"] = lambda *calls, **how: None
        machine = grounded(
            Script(turns_of(self.name, task), repeat_last=True),
            list(tools.values()),
            budget=LIMITED if "budget" in on else BACKSTOP,
            converge="budget" in on,
            rules=POLICY if "policy" in on else ANYTHING,
            ask=lambda request: NOBODY,
            ledger=ledger if "ledger" in on else None,
            parts=parts,
        )
        if "taint" not in on:
            return machine
        return with_taint(machine, screened="screen" in on, fence=True)


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
