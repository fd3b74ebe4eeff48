"""The capstone: a tool, a guard and a scenario of one's own, put into the machine.

What is held against one stands in its tests, tests/playground/test_my_agent.py.
"""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from copy import copy, deepcopy
from dataclasses import dataclass, field
from typing import Any

from workbook.fsm.machine import Machine
from workbook.fsm.run import Run
from workbook.fsm.table import Event, State
from workbook.paths import DATA
from workbook.playground.machines import ByScript, RunSpec, play_machine, with_guards
from workbook.playground.scenarios import ScenarioError, as_scenario, scenario_tools
from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError
from workbook.tools.tool import Tool
from workbook.traces import Trace, TraceWriter

OwnGuard = Callable[[ToolCall, Sequence[Observation]], str | None]
"""Says why a call may not be made, after what was observed; None lets it pass."""


@dataclass(frozen=True, slots=True)
class Capstone:
    """What a learner adds to the agent."""

    tool: Tool
    guard: OwnGuard
    scenario: Mapping[str, Any]  # as its file would say it, with a `right_if`
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict)


def with_guard(machine: Machine, guard: OwnGuard) -> Machine:
    """Return a copy of a machine that asks a guard of yours before each call is made.

    What it refuses is told to the model with its reason, and to the trace. It looks at
    what was observed before: so no calls are made at once.
    """
    again, make = copy(machine), machine.handlers[State.EXECUTE_TOOL]
    again.parallel = None

    def ask_first(run: Run) -> str:
        asked, why = run.waiting[0], None
        if asked.refusal is None:
            why = guard(*deepcopy((asked.call, tuple(run.observed))))  # it only looks
        if why is None:
            return make(run)
        if not isinstance(why, str) or not why.strip():
            raise TypeError(f"your guard returned {why!r}: it owes a reason, or None")
        about = {"tool": asked.call.name, "call_id": asked.call.call_id}
        run.emit("decision", who="guard", what="deny", why=why, **about)
        message = f"{asked.call.name} was not called: {why}."
        run.refuse(ToolError(ErrorKind.DENIED, message))
        return Event.TOOL_RETURNED

    again.handlers = {**machine.handlers, State.EXECUTE_TOOL: ask_first}
    return again


def play_capstone(
    made: Capstone, guard: bool = True, mode: str | None = None
) -> tuple[Trace, Machine]:
    """Play its scenario, with its guard or without; return the trace and the machine.

    ScenarioError: the scenario does not hold together, or not with the tool.
    """
    scenario = as_scenario(made.scenario, "your scenario")
    person = ByScript(scenario.guards.answers, mode)

    def make(*given: Any, **options: Any) -> Any:
        machine = with_guards(*given, **options)
        return with_guard(machine, made.guard) if guard else machine

    tools = [*scenario_tools(scenario), made.tool]
    with TraceWriter() as told:
        given = scenario, scenario.script(), tools, told, made.parts, person
        play_machine(RunSpec(*given), make=make)
    if not hasattr(person, "machine"):
        end: Any = told.trace().end
        raise ScenarioError(f"your agent cannot be put together: {end['message']}")
    return told.trace(), person.machine


def my_agent() -> Capstone:
    """Return a tool, a guard and a scenario: no amount changes at a made-up rate."""

    def convert(amount: float, rate: float) -> dict[str, float]:
        return {"result": round(amount * rate, 2)}

    def look(call: ToolCall, observed: Sequence[Observation]) -> str | None:
        told = " ".join(seen.text() for seen in observed if seen.ok)
        rate = call.arguments.get("rate", 1)
        if call.name != "Convert" or rate in map(float, re.findall(r"\d+\.\d+", told)):
            return None
        return f"no tool has told you the rate {rate}, look it up"

    number = {"type": "number", "exclusiveMinimum": 0}
    names = "amount", "rate"
    schema = {"properties": dict.fromkeys(names, number), "required": [*names]}
    tool = Tool("Convert", "Changes money at a rate you give.", schema, convert)
    scenario = (DATA / "capstone.toml").read_text(encoding="utf-8")
    return Capstone(tool, look, tomllib.loads(scenario))
