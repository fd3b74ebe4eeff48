"""The machines among the engines: lists of guards, by function calls or in text."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbook.exercises.your_agent import PartBroken
from workbook.grounding.grounded import VERIFY, citing_preamble, grounding
from workbook.grounding.memory import Memory
from workbook.grounding.recall import recall
from workbook.playground.person import You
from workbook.playground.scenarios import Scenario
from workbook.runtime.budget import Budget, Limits
from workbook.runtime.calculator import calculator
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Journal
from workbook.runtime.ledger import Ledger, Make, Once
from workbook.runtime.machine import Machine
from workbook.runtime.messages import TEXT_PREAMBLE
from workbook.runtime.permission import (
    POLICY,
    Answer,
    PolicyRule,
    Reject,
    Request,
    Verdict,
    yes,
)
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.trace import Kind
from workbook.security.strangers import digest
from workbook.security.taint import Label, agreed_rules
from workbook.security.tainted import taint

Given = Mapping[str, Callable[..., Any]]
"""Functions by the exercise's name, to be used in place of the package's."""
ALLOW_ALL = (PolicyRule(Verdict.ALLOW, why="all of it"),)


class ByScript:
    """A person who answers as a scenario has it: approve, later, or reject: why.

    After a run its `machine` is the one that was met.
    """

    machine: Machine
    mode = None  # the scenario's own

    def __init__(self, answers: Iterable[str]) -> None:
        self._answers = iter(answers)

    def ask(self, request: Request) -> Answer | None:
        """Return the next answer, None for later; who has none left approves."""
        word, _, why = next(self._answers, "approve").partition(":")
        if word == "later":
            return None
        return Reject(why.strip()) if word == "reject" else yes(request)

    def meets(self, machine: Machine) -> None:
        """Keep the machine, to replay the run on it."""
        self.machine = machine


Person = ByScript | You
"""Whoever sits before a run: the scenario's own person, or somebody at a keyboard."""


@dataclass
class RunSpec:
    """What an engine is given of a run; see `play`."""

    scenario: Scenario
    model: Any
    tools: list[Tool]
    journal: Journal
    parts: Given = field(default_factory=dict)
    person: Person | None = None  # the scenario's own by default

    def emit(self, kind: str, /, **fields: Any) -> int:
        """Write an event of a loop, which the user can stop where an event is."""
        seq = self.journal.emit(kind, **fields)
        if self.journal.signals:
            self.journal.signals.clear()
            raise KeyboardInterrupt("stopped by the user")
        return seq


def play_machine(
    spec: RunSpec,
    make: Callable[[RunSpec, Person, Path], list[Guard]] | None = None,
    chat: bool = False,
) -> None:
    """Play on a machine; `make` returns its guards, with `chat` it reads calls."""
    spec = replace(spec, tools=with_theirs(spec.tools, spec.parts))
    person = spec.person or ByScript(spec.scenario.guards.answers)
    with tempfile.TemporaryDirectory() as passing:
        home = Path(getattr(person, "home", passing))  # where a run can go on later
        try:
            guards = make(spec, person, home) if make else []
            machine = _machine(spec, guards, home, chat)
        except Exception as error:  # a part of the reader's; a run raises nothing
            end = {"state": "ERROR", "reason": type(error).__name__, "answer": None}
            spec.emit(Kind.RUN_FINISHED, **end, message=str(error))
            return
        person.meets(machine)
        machine.run(spec.scenario.question, journal=spec.journal)


def _machine(spec: RunSpec, guards: list[Guard], home: Path, chat: bool) -> Machine:
    steps = spec.scenario.steps
    options: Any = {"limits": Limits(steps, 2 * steps), "parts": spec.parts}
    options["make"] = Once(Ledger(home / "ledger.db")) if guards else Make()
    machine = Machine(spec.model, spec.tools, guards, chat=chat, **options)
    if "grounding" in machine.settings:
        machine.preamble = citing_preamble(machine.tools, chat)
    if not chat and (before := warned(spec.scenario, machine.tools, spec.parts)):
        machine.preamble = before
    return machine


def _rules_of(scenario: Scenario) -> Sequence[PolicyRule]:
    return ALLOW_ALL if scenario.guards.allow_all else POLICY


def with_guards(
    spec: RunSpec, person: Person, home: Path, rules: Sequence[PolicyRule] = ()
) -> list[Guard]:
    """Return the guards of lessons 06 and 07; `rules`: the scenario's by default."""
    given, steps = spec.scenario.guards, spec.scenario.steps
    rules = rules or _rules_of(spec.scenario)
    budget, mode = Budget(steps, 2 * steps, tokens=given.tokens), person.mode
    context: Any = {"context_tokens": given.context_tokens}
    return all_guards(budget, person.ask, mode or given.mode, rules, **context)


def suspicious(
    spec: RunSpec,
    person: Person,
    home: Path,
    *,
    tainted: bool = True,
    screened: bool = True,
    fence: bool = True,
    digests: bool = True,
) -> list[Guard]:
    """Return the guards of lessons 09 and 10: those, grounding, and taint.

    Each of its other defences can be left out: taint with its screen and its fence, one
    of these two, and that a tool which is not as agreed to asks a person.
    """
    given, memory = spec.scenario.guards, None
    if given.memory:
        memory = Memory(home / "memory.db", recall=spec.parts.get("recall", recall))
        for note in given.memory:
            memory.add(**note)
    scripted = spec.scenario.scripted_tools
    known = {entry.name: entry.agreed for entry in scripted if entry.agreed is not None}
    theirs = [tool for tool in spec.tools if tool.name in known]
    agreed = {t.name: digest(replace(t, description=known[t.name])) for t in theirs}
    rules = _rules_of(spec.scenario)
    rules = agreed_rules(theirs, agreed, rules) if digests else rules
    *context, stuck, budget, permission = with_guards(spec, person, home, rules)
    more = grounding(memory)
    if tainted:
        under: Any = {"private": given.private, "screened": screened, "fence": fence}
        under["labels"] = [Label.OUTSIDE] if agreed else []
        more.append(taint(person.ask, then=VERIFY, **under))
    return [*context, *more, stuck, budget, permission]


def with_theirs(tools: list[Tool], parts: Given) -> list[Tool]:
    """Return the tools, with the reader's own calculator where there is one."""
    if evaluate := parts.get("safe_eval"):
        theirs = calculator(evaluate=evaluate)
        return [theirs if tool.name == theirs.name else tool for tool in tools]
    return tools


def warned(scenario: Scenario, tools: ToolRegistry, parts: Given) -> str | None:
    """Return what stands before the question if the reader's preflight warns of it."""
    warn, question = parts.get("preflight"), scenario.question
    try:
        said = [f"{t.name}: {w}. " for t in tools if warn for w in warn(question, t)]
    except PartBroken:  # which `Parts.line` tells
        return None
    before = TEXT_PREAMBLE.format(tools=tools.describe())
    return f"{before}Warning: {''.join(said)}\n" if said else None
