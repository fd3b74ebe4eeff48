"""The machines among the engines: the core's, and the one with all guards on."""

import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from workbook.exercises.your_agent import PartBroken
from workbook.fsm import Limits, Machine, assemble
from workbook.fsm.adapters import TEXT_PREAMBLE, TextTurns
from workbook.fsm.reading import Conversation
from workbook.grounding.grounded import grounded
from workbook.grounding.memory import Memory
from workbook.grounding.recall import recall
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import GuardedMachine, guarded
from workbook.guardrails.permission import (
    LATER,
    POLICY,
    Answer,
    PolicyRule,
    Reject,
    Request,
    Verdict,
    yes,
)
from workbook.playground.person import You
from workbook.playground.scenarios import Scenario
from workbook.security.strangers import digest
from workbook.security.taint import Label, agreed_rules
from workbook.security.tainted import with_taint
from workbook.tools import Tool, ToolRegistry
from workbook.tools.calculator import calculator
from workbook.traces import Kind, TraceWriter

Given = Mapping[str, Callable[..., Any]]
"""Functions by the exercise's name, to be used in place of the package's."""


class ByScript:
    """A person who answers as a scenario has it: approve, later, or reject: why.

    After a run its `machine` is the one that was met.
    """

    machine: Machine
    mode = None  # the scenario's own

    def __init__(self, answers: Iterable[str]) -> None:
        self._answers = iter(answers)

    def ask(self, request: Request) -> Answer | None:
        """Give the next answer; who has none left approves."""
        word, _, why = next(self._answers, "approve").partition(":")
        if word == "later":
            return LATER
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
    emit: TraceWriter
    parts: Given = field(default_factory=dict)
    person: Person | None = None  # the scenario's own by default


def plain(spec: RunSpec, person: Person, home: Path, **options: Any) -> Machine:
    """Return the machine of lesson 05."""
    steps = spec.scenario.steps
    options["limits"] = Limits(steps=steps, tool_calls=2 * steps)
    machine: Machine = assemble(spec.parts, spec.model, spec.tools, **options)
    return machine


def play_machine(
    spec: RunSpec,
    adapter: Callable[..., Conversation] = TextTurns,
    make: Callable[..., Machine] = plain,
) -> None:
    """Play on the machine that `make` makes; it reads text turns or function calls."""
    spec = replace(spec, tools=with_theirs(spec.tools, spec.parts))
    person = spec.person or ByScript(spec.scenario.guards.answers)
    with tempfile.TemporaryDirectory() as passing:
        home = getattr(person, "home", passing)  # where a run that waits can go on
        try:
            options: Any = {"adapter": adapter, "hook": spec.emit}
            machine = make(spec, person, Path(home), **options)
        except Exception as error:  # a part of the reader's; a run raises nothing
            end = {"state": "ERROR", "reason": type(error).__name__, "answer": None}
            spec.emit(Kind.RUN_FINISHED, **end, message=str(error))
            return
        if adapter is TextTurns:
            before = warned(spec.scenario, machine.tools, spec.parts)
            machine.preamble = before or machine.preamble
        person.meets(machine)
        machine.run(spec.scenario.question)


def with_guards(
    spec: RunSpec,
    person: Person,
    home: Path,
    make: Callable[..., GuardedMachine] = guarded,
    **options: Any,
) -> GuardedMachine:
    """Return the guarded machine, or one that `make` makes of the same options."""
    given, steps = spec.scenario.guards, spec.scenario.steps
    if given.allow_all:
        options["rules"] = (PolicyRule(Verdict.ALLOW, why="all of it"),)
    options["budget"] = Budget(steps, 2 * steps, tokens=given.tokens)
    options["ledger"] = Ledger(home / "ledger.db")
    options |= {"context_tokens": given.context_tokens, "parts": spec.parts}
    options |= {"mode": person.mode or given.mode, "ask": person.ask}
    return make(spec.model, spec.tools, **options)


def suspicious(
    spec: RunSpec,
    person: Person,
    home: Path,
    *,
    screened: bool = True,
    fence: bool = True,
    digests: bool = True,
    **options: Any,
) -> GuardedMachine:
    """Return the machine of lessons 09 and 10: guarded, grounded, and under taint.

    Each of its other defences can be left out: the screen, the fence, and that a tool
    which is not as agreed to asks a person.
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

    def make(*of: Any, rules: Sequence[PolicyRule] = POLICY, **more: Any) -> Any:
        rules = agreed_rules(theirs, agreed, rules) if digests else rules
        return grounded(*of, rules=rules, memory=memory, **more)

    machine = with_guards(spec, person, home, make, **options)
    under: Any = {"private": given.private, "screened": screened, "fence": fence}
    return with_taint(machine, labels=[Label.OUTSIDE] if agreed else [], **under)


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
