"""The engines that play a scenario, each writing the same trace events.

An engine gets the same question, the same tools and the same model. What differs is
what it does with them; that is what a trace shows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.loop.naive import Fuse, FuseBlown, naive_loop
from workbook.record.events import TraceEvent
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.stage.scenarios import (
    Scenario,
    ScenarioError,
    load,
    outcome,
    slugs,
)
from workbook.stage.scripted_tools import scenario_tools, stop_during
from workbook.tools.adapters import trusting_function
from workbook.tools.tool import Tool

if TYPE_CHECKING:
    import pandas as pd

    from workbook.fsm.machine import Machine
    from workbook.models.base import TextModel

Player = Callable[["Scenario", "TextModel", list[Tool], TraceWriter], None]


def play(
    slug: str,
    engine: str = "naive",
    model: Any = None,
    *,
    path: Path | str | None = None,
    listener: Callable[[TraceEvent], None] | None = None,
) -> Trace:
    """Play a scenario on an engine and return what happened.

    Args:
        slug: the scenario's name, see `slugs()`.
        engine: one of `ENGINES`.
        model: asked in place of the scenario's script: a model, or a name as in
            `WORKBOOK_MODEL`. The tools stay the scenario's.
        path: where the trace is written as well, as JSONL.
        listener: is told each event as it happens.

    Raises:
        ScenarioError: there is no such scenario or engine.
        UnknownModel, MissingKey, WeightsError, …: the model cannot be had.
    """
    scenario = load(slug)
    check_engine(engine)
    asked, tools = asked_model(scenario, model), scenario_tools(scenario)
    with TraceWriter(path, listener=listener) as emit:  # its clock starts here
        ENGINES[engine](scenario, asked, tools, emit)
        return emit.trace()


def compare(slug: str, engines: Iterable[str] = ()) -> dict[str, str]:
    """Return the museum's row of a scenario: engine to how it ended, in words."""
    row = {"scenario": load(slug).title}
    for engine in _chosen(engines):
        row[engine] = in_words(play(slug, engine))
    return row


def museum(engines: Iterable[str] = ()) -> pd.DataFrame:
    """Play every scenario on every engine and return the endings as a table."""
    import pandas as pd

    chosen = _chosen(engines)
    rows = {slug: compare(slug, chosen) for slug in slugs()}
    return pd.DataFrame.from_dict(rows, orient="index")


def _chosen(engines: Iterable[str]) -> list[str]:
    """Return the engines that are meant: one by its name, several, or all."""
    chosen = [engines] if isinstance(engines, str) else list(engines)
    for engine in chosen:
        check_engine(engine)
    return chosen or list(ENGINES)


def check_engine(engine: str) -> None:
    """Refuse an engine that there is not.

    Raises:
        ScenarioError: with those that there are.
    """
    if engine not in list(ENGINES):
        known = ", ".join(ENGINES)
        raise ScenarioError(f"there is no engine {engine!r}; there is {known}")


def in_words(trace: Trace) -> str:
    """Say in a few words how a run ended."""
    end = outcome(trace)
    turns = f"{end['model_turns']} turn{'s' if end['model_turns'] != 1 else ''}"
    if end["state"] == "DONE":
        answer = " ".join(str(end["answer"]).split())
        shown = answer if len(answer) <= 24 else f"{answer[:24]}…"
        return f"DONE after {turns}: {shown}"
    return f"{end['state']} ({end['reason']}) after {turns}"


def play_naive(
    scenario: Scenario, model: TextModel, tools: list[Tool], emit: TraceWriter
) -> None:
    """Play on the naive loop, behind a fuse; whatever it throws ends the run."""
    stopping = stop_during(tools, scenario)
    functions = {tool.name: trusting_function(tool) for tool in stopping}
    try:
        fused = Fuse(model, scenario.steps)
        naive_loop(fused, functions, scenario.question, emit=emit)
    except FuseBlown as blown:
        emit(
            "run_finished",
            state="EXHAUSTED",
            reason="fuse",
            answer=None,
            message=str(blown),
        )
    except (Exception, KeyboardInterrupt) as error:
        emit(
            "run_finished",
            state="ERROR",
            reason=type(error).__name__,
            answer=None,
            message=str(error),
        )


def play_langchain(
    scenario: Scenario, model: TextModel, tools: list[Tool], emit: TraceWriter
) -> None:
    """Play on LangChain's classic agent, as tutorials build it."""
    from workbook.langchain_trace.agents import run_classic

    run_classic(
        model,
        stop_during(tools, scenario),
        scenario.question,
        emit=emit,
        max_iterations=scenario.steps,
    )


def play_fsm(
    scenario: Scenario, model: TextModel, tools: list[Tool], emit: TraceWriter
) -> None:
    """Play on the state machine of lesson 05, by text turns."""
    machine_for(scenario, model, tools, emit).run(scenario.question)


def machine_for(
    scenario: Scenario, model: TextModel, tools: list[Tool], emit: TraceWriter
) -> Machine:
    """Return the machine that plays a scenario; its user's stop is a `cancel`."""
    from workbook.fsm.limits import Limits
    from workbook.fsm.machine import Machine
    from workbook.tools.registry import ToolRegistry

    machine: Machine
    stopping = stop_during(tools, scenario, lambda: machine.cancel())
    limits = Limits(steps=scenario.steps, tool_calls=2 * scenario.steps)
    machine = Machine(model, ToolRegistry(stopping), limits=limits, hook=emit)
    return machine


ENGINES: dict[str, Player] = {
    "naive": play_naive,
    "langchain": play_langchain,
    "fsm": play_fsm,
}
"""The engines by name, in the order in which the lessons meet them."""


def asked_model(scenario: Scenario, model: Any = None, **options: Any) -> TextModel:
    """Return the model that a run asks.

    Args:
        scenario: its script is played for None and "scripted".
        model: a name as in `WORKBOOK_MODEL`, or a model.
        options: of a model that is chosen by its name.
    """
    from workbook.models.choice import as_text_model, get_text_model, model_name

    if model is None:
        return scenario.script()
    if not isinstance(model, str):
        return as_text_model(model)
    if model_name(model) == "scripted":
        return scenario.script()
    return get_text_model(model, **options)
