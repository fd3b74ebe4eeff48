"""The machines among the engines: the core's, and the one with all guards on."""

import math
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
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

    def __init__(self, answers: Iterable[str], mode: str | None = None) -> None:
        self.mode, self._answers = mode, iter(answers)

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


def play_machine(
    scenario: Scenario,
    model: Any,
    tools: list[Tool],
    emit: TraceWriter,
    parts: Given,
    person: Person | None = None,
    adapter: Callable[..., Conversation] = TextTurns,
    make: Callable[..., GuardedMachine] | None = None,
    **more: Any,
) -> None:
    """Play on the state machine of lesson 05, or on one with guards that `make` makes.

    It reads text turns or function calls. Without a person, the scenario's answers.
    `more` goes to `make`.
    """
    given, steps = scenario.guards, scenario.steps
    person = person or ByScript(given.answers)
    tools = with_theirs(tools, parts)
    options: Any = {"adapter": adapter, "hook": emit}
    with tempfile.TemporaryDirectory() as passing:
        folder = getattr(person, "home", passing)  # where a run that waits can go on
        try:
            if make is not None:
                most_s = given.model_s or math.inf
                budget = Budget(steps, 2 * steps, tokens=given.tokens, model_s=most_s)
                options |= {
                    "budget": budget,
                    "ledger": Ledger(Path(folder, "ledger.db")),
                }
                options |= {"mode": person.mode or given.mode, "ask": person.ask}
                options |= {"context_tokens": given.context_tokens, "parts": parts}
                options |= {"pinned": given.pinned}
                if given.allow_all:
                    options["rules"] = (PolicyRule(Verdict.ALLOW, why="all of it"),)
                if make is not guarded:
                    options |= {"scenario": scenario, "home": Path(folder)}
                machine: Machine = make(model, tools, **options, **more)
            else:
                limits = Limits(steps=steps, tool_calls=2 * steps)
                machine = assemble(parts, model, tools, limits=limits, **options)
        except Exception as error:  # a part of the reader's; a run raises nothing
            end = {"state": "ERROR", "reason": type(error).__name__, "answer": None}
            emit(Kind.RUN_FINISHED, **end, message=str(error))
            return
        if adapter is TextTurns:
            before = warned(scenario, machine.tools, parts)
            machine.preamble = before or machine.preamble
        person.meets(machine)
        machine.run(scenario.question)


def suspicious(
    model: Any,
    tools: list[Tool],
    *,
    scenario: Scenario,
    home: Path,
    screened: bool = True,
    fence: bool = True,
    digests: bool = True,
    **options: Any,
) -> GuardedMachine:
    """Return the machine of lessons 09 and 10: guarded, grounded, and under taint.

    Each of its other defences can be left out: the screen, the fence, and that a tool
    which is not as agreed to asks a person.
    """
    given, memory = scenario.guards, None
    if given.memory:
        way = options["parts"].get("recall", recall)
        memory = Memory(home / "memory.db", recall=way)
        for note in given.memory:
            memory.add(**note)
    agreed = {
        tool.name: digest(replace(tool, description=entry.agreed))
        for entry in scenario.scripted_tools
        for tool in tools
        if tool.name == entry.name and entry.agreed is not None
    }
    theirs = [tool for tool in tools if tool.name in agreed]
    if digests:
        options["rules"] = agreed_rules(theirs, agreed, options.get("rules", POLICY))
    return with_taint(
        grounded(model, tools, memory=memory, **options),
        labels=[Label.OUTSIDE] if agreed else [],
        private=given.private,
        secret=given.secret,
        screened=screened,
        fence=fence,
    )


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
