"""Agents that are measured: descriptions, which travel to other processes as they are.

An agent is called with a task and a folder; only then is a machine made, run, and its
trace written. Any other callable of that kind is an agent as well.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbook.environments.catalogue import builtin_tools
from workbook.evaluation.adversaries import KINDS, adversary
from workbook.evaluation.tasks import Task
from workbook.fsm.adapters import TEXT_PREAMBLE
from workbook.fsm.limits import Spent
from workbook.fsm.machine import RunResult
from workbook.fsm.table import Event, State
from workbook.grounding.grounded import HOW_TO_CITE, Ground, grounded
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import GuardedMachine
from workbook.guardrails.permission import POLICY, PolicyRule, Reject, Verdict, yes
from workbook.loop.naive import TracedModel
from workbook.loop.turns import Final, parse_turn
from workbook.models.base import TextModel
from workbook.models.choice import get_text_model
from workbook.models.script import Script
from workbook.paths import DATA
from workbook.security.tainted import with_taint
from workbook.tools.calculator import calculator
from workbook.tools.calls import Effect
from workbook.tools.tool import Tool
from workbook.traces.writer import TraceWriter
from workbook.voting.consensus import consensus

GUARDS = ("budget", "stuck", "policy", "ledger", "screen", "taint")
"""Guards that can be switched off, each alone; `grounding` is another one."""
SWITCHES = {"planner": "Plan", "search": "WikiSearch", "calculator": "Calculator"}
BACKSTOP = Budget(steps=40, tool_calls=80)  # of an agent without a budget
ANYTHING = (PolicyRule(Verdict.ALLOW, why="there is no policy"),)
NOBODY = Reject("nobody allows anything in this run")
PAYS = "adversary:pays twice"


@dataclass(frozen=True)
class Agent:
    """A machine with its model, tools and guards, described. It can be pickled.

    Raises:
        ValueError: no such guard, no such adversary, or no run at all.
    """

    name: str
    model: str = ""  # "expert", "adversary:KIND", "local", a hosted one's; "": the name
    planner: bool = True
    search: bool = True
    calculator: bool = True
    guards: tuple[str, ...] = GUARDS
    grounding: bool = True
    k: int = 1  # runs, each with a seed of its own
    react: bool = True  # False: the model is asked directly, once, without tools
    approves: bool = False  # what a person says to each call that they are asked about
    seed: int = 0
    temperature: float = 0.7  # of several runs; one alone takes the likeliest word
    steps: int = 10  # the most of a run: model calls, and tool calls
    max_tokens: int = 80  # of a turn
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "model", self.model or self.name)
        kind = self.model.partition("adversary:")[2]
        for name in {*self.guards} - {*GUARDS} | {kind} - {"", *KINDS}:
            known = ", ".join([*GUARDS, *KINDS])
            raise ValueError(f"no guard or adversary is named {name!r}: use {known}")
        if self.k < 1:
            raise ValueError(f"k is {self.k}: an agent needs 1 run or more")

    def __call__(self, task: Task, folder: Path) -> RunResult:
        """Work on a task; write run_1.jsonl … into the folder; say how it ended.

        Of several runs the answer is what they say together, see `consensus`; what was
        spent is that of the run whose answer it is, or of the first one where they
        agree on nothing: NO_ANSWER. A run that was refused answers with the reason.
        """
        Path(folder).mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as home:
            ledger = Path(home, "ledger.db")  # one for all of them
            runs = [self._run(task, Path(folder), n, ledger) for n in range(self.k)]
        if self.k == 1:
            return runs[0]
        said = consensus(runs)
        if said.answer is None:
            state = "NO_ANSWER"  # each run may have had one
            return replace(runs[0], state=state, answer=None, message=said.why)
        return next(run for run in runs if run.answer == said.answer)

    def _run(self, task: Task, folder: Path, n: int, ledger: Path) -> RunResult:
        heat = self.temperature if self.k > 1 else 0.0
        sampling = {"seed": self.seed + n, "temperature": heat}
        about = {"agent": self.name, "task": task.slug, "model": self.model, **sampling}
        with TraceWriter(folder / f"run_{n + 1}.jsonl") as told:
            model = self._model(task, sampling)
            if not self.react:
                return _asked_directly(model, task.question, told, about)
            machine = self._machine(model, task, ledger)
            machine.hook, machine.about = told, about
            end = machine.run(task.question)
        is_refused = end.state == Ground.REFUSED
        said = f"I cannot answer that: {end.message}." if is_refused else end.answer
        return replace(end, answer=said)

    def _model(self, task: Task, sampling: dict[str, Any]) -> TextModel:
        kind = self.model.partition("adversary:")[2]
        if kind or self.model == "expert":
            turns = adversary(task, kind) if kind else task.expert
            return Script(turns if self.react else turns[-1:], repeat_last=True)
        return get_text_model(self.model, max_tokens=self.max_tokens, **sampling)

    def _machine(self, model: TextModel, task: Task, ledger: Path) -> GuardedMachine:
        on, parts, tools = self.guards, dict(self.parts), self._tools(task)
        writes = any(tool.effect is Effect.WRITE for tool in tools)
        if "stuck" not in on:
            parts["find_cycle"] = lambda *calls, **how: None
        if not self.grounding:
            parts["audit_answer"] = lambda *answer, **how: ()
        machine = grounded(
            model,
            tools,
            budget=Budget(self.steps, self.steps) if "budget" in on else BACKSTOP,
            converge="budget" in on,
            rules=POLICY if "policy" in on else ANYTHING,
            ask=yes if self.approves else lambda request: NOBODY,
            ledger=Ledger(ledger) if writes and "ledger" in on else None,
            parts=parts,
        )
        before = TEXT_PREAMBLE.format(tools=machine.tools.describe()).rstrip()
        asked = f"\n{HOW_TO_CITE}" if self.grounding else ""
        is_real = not isinstance(model, Script)
        shown = (DATA / "search_example.txt").read_text("utf-8") if is_real else ""
        machine.preamble = f"{before}{asked}\n\n{shown}"
        if "taint" not in on:
            return machine
        return with_taint(machine, screened="screen" in on, fence=True)

    def _tools(self, task: Task) -> list[Tool]:
        off = [tool for switch, tool in SWITCHES.items() if not getattr(self, switch)]
        names = [*task.tools, *["Pay"] * (self.model == PAYS)]
        tools = {t.name: t for t in builtin_tools(names) if t.name not in off}
        if (name := SWITCHES["calculator"]) in tools:
            if "safe_eval" in self.parts:
                tools[name] = calculator(evaluate=self.parts["safe_eval"])
            if self.grounding:
                tools[name] = citable(tools[name])
        return [*tools.values()]


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


def _asked_directly(
    model: TextModel, question: str, told: TraceWriter, about: dict[str, Any]
) -> RunResult:
    """Ask the model once, with nothing but the question; its text is the answer."""
    told("run_started", engine="plain", question=question, tools=[], **about)
    prompt = f"Question: {question}\nAnswer:"
    reply = TracedModel(model, told).complete(prompt, stop=["\nQuestion:"])
    turn = parse_turn(reply.text)
    answer = turn.answer if isinstance(turn, Final) else reply.text.strip()
    end = State.DONE, Event.FINAL_ANSWER, answer
    told("run_finished", **dict(zip(("state", "reason", "answer"), end, strict=True)))
    return RunResult(*end, Spent(1, usage=reply.usage), told.trace_id)
