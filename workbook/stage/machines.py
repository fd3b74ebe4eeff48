"""The machines of the stage: lists of guards, by function calls or in text."""

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbook.checks.parts import PartBroken
from workbook.choice import get_text_model, model_name
from workbook.lessons.grounding import VERIFY, citing_preamble, grounding
from workbook.lessons.memory import Memory, recall
from workbook.lessons.strangers import digest
from workbook.lessons.untrusted import OUTSIDE, taint
from workbook.runtime.budget import Budget, Limits
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards
from workbook.runtime.ledger import Ledger, Make, Once
from workbook.runtime.machine import Machine
from workbook.runtime.messages import TEXT_PREAMBLE
from workbook.runtime.model import Model
from workbook.runtime.permission import (
    POLICY,
    Answer,
    PolicyRule,
    Reject,
    Request,
    Verdict,
    yes,
)
from workbook.runtime.table import Table
from workbook.runtime.tools import Tool
from workbook.stage.scenarios import Scenario
from workbook.worlds.calculator import calculator

Given = Mapping[str, Callable[..., Any]]
"""Functions by the exercise's name, in place of the package's."""
Ask = Callable[[Request], Answer | None]
MACHINES = "fsm", "guarded", "grounded"
ALLOW_ALL = (PolicyRule(Verdict.ALLOW, why="all of it"),)
LOCAL_TOKENS = 120  # the longest turn of the local model, which may never end


def model_for(scenario: Scenario, model: Model | str | None) -> Any:
    """Return the model that a run asks; None and "scripted" are the scenario's."""
    if model is not None and not isinstance(model, str):
        return model
    name = "scripted" if model is None else model_name(model)
    if name == "scripted":
        return scenario.script()
    options: Any = {"max_tokens": LOCAL_TOKENS} if name == "local" else {}
    return get_text_model(model, **options)


def machine_for(
    scenario: Scenario,
    home: Path,
    engine: str = "fsm",
    model: Any = None,
    parts: Given = {},  # noqa: B006 - read only
    ask: Ask | None = None,
    limits: Mapping[str, float] = {},
    **guards: Any,
) -> Machine:
    """Return the machine of an engine, for a scenario.

    Args:
        home: a folder for its ledger and its memory.
        ask: a person; by default the scenario's own.
        limits: of the budget, in place of the scenario's: steps, tool_calls, tokens.
        guards: of the engine `grounded`, see `guards_of_10`; and `mode`.
    """
    name, chat = engine.removesuffix("_calls"), engine.endswith("_calls")
    tools = with_theirs(scenario.tools(), parts)
    steps = int(limits.get("steps", scenario.steps))
    calls = int(limits.get("tool_calls", 2 * steps))
    tokens = limits.get("tokens", scenario.guards.tokens)
    budget = Budget(steps, calls, tokens=tokens)
    asked = ask or by_script(scenario.guards.answers)
    chosen: list[Guard] = []
    if name == "guarded":
        chosen = guards_of_07(scenario, asked, budget, **guards)
    if name == "grounded":
        chosen = guards_of_10(scenario, asked, budget, home, tools, parts, **guards)
    options: Any = {"limits": Limits(steps, calls), "parts": parts, "chat": chat}
    options["make"] = Once(Ledger(home / "ledger.db")) if chosen else Make()
    machine = Machine(model_for(scenario, model), tools, chosen, **options)
    if "grounding" in machine.settings:
        machine.preamble = citing_preamble(machine.tools, chat)
    if not chat and (before := warned(scenario, machine, parts)):
        machine.preamble = before
    return machine


def table_of(engine: str) -> Table | None:
    """Return the table of an engine; None: it has no states."""
    if engine.removesuffix("_calls") not in MACHINES:
        return None
    about: Any = dict.fromkeys(("slug", "title", "question", "teaches"), "")
    empty = Scenario(**about, turn=[])
    with tempfile.TemporaryDirectory() as passing:
        return machine_for(empty, Path(passing), engine).table


def by_script(answers: Iterable[str]) -> Ask:
    """Return a person who answers: approve, later, or reject: why; then approves."""
    left = iter(answers)

    def ask(request: Request) -> Answer | None:
        word, _, why = next(left, "approve").partition(":")
        if word == "later":
            return None
        return Reject(why.strip()) if word == "reject" else yes(request)

    return ask


def guards_of_07(
    scenario: Scenario,
    ask: Ask,
    budget: Budget,
    rules: Iterable[PolicyRule] = (),
    mode: str = "",
) -> list[Guard]:
    """Return the guards of lessons 06 and 07; `rules`: the scenario's by default."""
    given = scenario.guards
    rules = [*rules] or (ALLOW_ALL if given.allow_all else POLICY)
    context: Any = {"context_tokens": given.context_tokens}
    return all_guards(budget, ask, mode or given.mode, rules, **context)


def guards_of_10(
    scenario: Scenario,
    ask: Ask,
    budget: Budget,
    home: Path,
    tools: list[Tool],
    parts: Given,
    *,
    tainted: bool = True,
    screened: bool = True,
    fence: bool = True,
    digests: bool = True,
    mode: str = "",
) -> list[Guard]:
    """Return the guards of lessons 09 and 10: those, grounding, and taint.

    Taint can be left out, or one of its own: its screen, its fence, and that a tool
    which is not as agreed to asks a person.
    """
    given, memory = scenario.guards, None
    if given.memory:
        memory = Memory(home / "memory.db", recall=parts.get("recall", recall))
        for note in given.memory:
            memory.add(**note)
    known = {e.name: e.agreed for e in scenario.scripted_tools if e.agreed is not None}
    theirs = [tool for tool in tools if tool.name in known]
    agreed = {t.name: digest(replace(t, description=known[t.name])) for t in theirs}
    base = guards_of_07(scenario, ask, budget, mode=mode)
    *context, stuck, spent, permission = base
    more = grounding(memory)
    if tainted:
        under: Any = {"private": given.private, "screened": screened, "fence": fence}
        under["labels"] = [OUTSIDE] if agreed else []
        under["agreed"] = agreed if digests else {}
        more.append(taint(ask, then=VERIFY, **under))
    return [*context, *more, stuck, spent, permission]


def with_theirs(tools: list[Tool], parts: Given) -> list[Tool]:
    """Return the tools, with the reader's own calculator where there is one."""
    if evaluate := parts.get("safe_eval"):
        theirs = calculator(evaluate=evaluate)
        return [theirs if tool.name == theirs.name else tool for tool in tools]
    return tools


def warned(scenario: Scenario, machine: Machine, parts: Given) -> str | None:
    """Return what stands before the question if the reader's preflight warns of it."""
    warn, asked, tools = parts.get("preflight"), scenario.question, machine.tools
    try:
        found = [f"{t.name}: {w}. " for t in tools if warn for w in warn(asked, t)]
    except PartBroken:  # which `Parts.line` reports
        return None
    before = TEXT_PREAMBLE.format(tools=tools.describe())
    return f"{before}Warning: {''.join(found)}\n" if found else None
