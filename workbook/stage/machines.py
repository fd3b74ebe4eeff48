"""The machines of the stage: lists of guards, by function calls or in text."""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from workbook.checks.parts import PartBroken
from workbook.choice import get_text_model, model_name
from workbook.runtime import permission
from workbook.runtime.budget import Budget, Limits
from workbook.runtime.guard import Guard
from workbook.runtime.guards import all_guards
from workbook.runtime.ledger import Ledger, Make, Once
from workbook.runtime.machine import Machine
from workbook.runtime.messages import TEXT_PREAMBLE
from workbook.runtime.tools import Tool
from workbook.stage.scenarios import Scenario
from workbook.worlds.calculator import calculator

Given = Mapping[str, Callable[..., Any]]
"""Functions by the exercise's name, in place of the package's."""
MACHINES = "fsm", "guarded", "grounded"
ALLOW_ALL = (permission.PolicyRule(permission.Verdict.ALLOW, why="all of it"),)
TRUST = dict.fromkeys(("tainted", "screened", "fence", "digests"), True)
LOCAL_TOKENS = 120  # the longest turn of the local model, which may never end


def model_for(scenario: Scenario, model: Any) -> Any:
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
    ask: permission.Person | None = None,
    limits: Mapping[str, float] = {},
    **defences: bool,
) -> Machine:
    """Return the machine of an engine, for a scenario.

    Args:
        home: a folder for its ledger and its memory.
        ask: a person; by default the scenario's own.
        limits: of the budget, in place of the scenario's: steps, tool_calls, tokens.
        defences: of the engine `grounded`, those that are off; see `TRUST`.
    """
    if unknown := defences.keys() - TRUST.keys():
        raise TypeError(f"there is no defence {', '.join(unknown)}: see TRUST")
    name, chat = engine.removesuffix("_calls"), engine.endswith("_calls")
    tools, given = scenario.tools(), scenario.guards
    if evaluate := parts.get("safe_eval"):
        own = calculator(evaluate=evaluate)
        tools = [own if tool.name == own.name else tool for tool in tools]
    steps = int(limits.get("steps", scenario.steps))
    calls = int(limits.get("tool_calls", 2 * steps))
    options: Any = {"limits": Limits(steps, calls), "parts": parts, "chat": chat}
    options["make"] = Make() if name == "fsm" else Once(Ledger(home / "ledger.db"))
    guards: list[Guard] = []
    if name != "fsm":  # those of lessons 06 and 07
        budget = Budget(steps, calls, tokens=limits.get("tokens", given.tokens))
        ask = ask or by_script(given.answers)
        rules = ALLOW_ALL if given.allow_all else permission.POLICY
        context: Any = {"context_tokens": given.context_tokens}
        guards = all_guards(budget, ask, given.mode, rules, **context)
        if name == "grounded":
            about: Any = {"recall": parts.get("recall"), "on": TRUST | defences}
            guards[-3:-3] = _audit_and_taint(scenario, ask, home, tools, **about)
    machine = Machine(model_for(scenario, model), tools, guards, **options)
    if "grounding" in machine.settings:
        from workbook.lessons.grounding import citing_preamble

        machine.preamble = citing_preamble(machine.tools, chat)
    if (preflight := parts.get("preflight")) and not chat:
        with suppress(PartBroken):  # which `Parts.line` reports
            warning = "".join(
                f"{tool.name}: {each}. "
                for tool in machine.tools
                for each in preflight(scenario.question, tool)
            )
            if warning:
                before = TEXT_PREAMBLE.format(tools=machine.tools.describe())
                machine.preamble = f"{before}Warning: {warning}\n"
    return machine


def _audit_and_taint(
    scenario: Scenario,
    ask: permission.Person,
    home: Path,
    tools: list[Tool],
    recall: Callable[..., Any] | None,
    on: Mapping[str, bool],
) -> list[Guard]:
    """Return the guards of lessons 09 and 10.

    Taint can be left out, or one of its own: its screen, its fence, and that a tool
    which is not as agreed to asks a person.
    """
    from workbook.lessons import memory as notes
    from workbook.lessons.grounding import VERIFY, grounding
    from workbook.lessons.strangers import digest
    from workbook.lessons.untrusted import OUTSIDE, taint

    given, memory = scenario.guards, None
    if given.memory:
        memory = notes.Memory(home / "memory.db", recall=recall or notes.recall)
        for note in given.memory:
            memory.add(**note)
    guards = grounding(memory)
    if on["tainted"]:
        known = {each.name: each.agreed for each in scenario.scripted_tools}
        agreed = {
            tool.name: digest(replace(tool, description=description))
            for tool in tools
            if (description := known.get(tool.name)) is not None
        }
        under: Any = {name: on[name] for name in ("screened", "fence")}
        under |= {"private": given.private, "labels": [OUTSIDE] if agreed else []}
        under["agreed"] = agreed if on["digests"] else {}
        guards.append(taint(ask, then=VERIFY, **under))
    return guards


def by_script(answers: Iterable[str]) -> permission.Person:
    """Return a person who answers: approve, later, or reject: why; then approves."""
    left = iter(answers)

    def ask(request: permission.Request) -> permission.Answer | None:
        word, _, why = next(left, "approve").partition(":")
        if word == "later":
            return None
        is_no = word == "reject"
        return permission.Reject(why.strip()) if is_no else permission.yes(request)

    return ask
