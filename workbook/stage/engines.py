"""The engines that play a scenario, each writing the same kinds of trace events.

Each gets the same question, tools and model. Three are machines that differ in their
guards; with `_calls` after its name an engine asks the model for function calls.
"""

import itertools
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from workbook.checks.parts import Parts
from workbook.lessons.naive_loop import naive_loop, run_loop, stoppable, text_tools
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.trace import Event, Kind, Trace
from workbook.stage.machines import MACHINES, Given, machine_for, model_for
from workbook.stage.scenarios import Scenario, ScenarioError, load

LOOPS = "naive", "langchain"
ENGINES = (*LOOPS, *MACHINES, *(f"{name}_calls" for name in MACHINES))
"""In the order in which the lessons meet them."""


def play(
    slug: str,
    engine: str = "naive",
    model: Any = None,
    *,
    parts: Given | None = None,
    path: Path | str | None = None,
    make: Callable[[Scenario, Path], Machine] | None = None,
) -> Trace:
    """Play a scenario on one of `ENGINES` and return its trace.

    Args:
        model: asked in place of the scenario's script: a model, or a name as in
            `WORKBOOK_MODEL`. The tools stay the scenario's.
        parts: functions in place of the package's: `your_parts("parse_turn")`.
        path: where the trace is written as well, as JSONL.
        make: makes another machine than the engine's, of a folder for its files.
    """
    scenario, given, calls = load(slug), parts or {}, itertools.count(1)
    find_engine(engine)

    def user(event: Event) -> None:  # may stop the run as a call begins
        is_call = event["kind"] == Kind.TOOL_CALL
        if is_call and next(calls) == scenario.cancel_after_tool_calls:
            raise KeyboardInterrupt("stopped by the user")

    with tempfile.TemporaryDirectory() as passing, Journal(path) as journal:
        journal.listener = user
        if engine in LOOPS and not make:
            _loop(engine, scenario, model_for(scenario, model), given, journal)
        else:
            home = Path(path).parent if path else Path(passing)
            make = make or partial(machine_for, engine=engine, model=model, parts=given)
            try:
                machine = make(scenario, home)
            except Exception as error:  # a part of the reader's; a run raises nothing
                end = {"state": "ERROR", "reason": type(error).__name__, "answer": None}
                journal.emit(Kind.RUN_FINISHED, **end, message=str(error))
            else:
                machine.run(scenario.question, journal=journal)
        if isinstance(parts, Parts) and (line := parts.line()):
            print(line)
        return journal.trace()


def _loop(
    engine: str, scenario: Scenario, model: Any, parts: Given, journal: Journal
) -> None:
    question, steps = scenario.question, scenario.steps
    if engine == "naive":
        loop, tools = parts.get("naive_loop", naive_loop), text_tools(scenario.tools())
        run_loop(loop, model, tools, question, calls=steps, journal=journal)
        return
    # LangChain's classic agent as tutorials build it: llm-math calculates.
    from workbook.lessons.old_and_new_agents import run_classic, with_llm_math

    own = with_llm_math(scenario.tools(), model, parts.get("evaluate_math_block"))
    run_classic(model, own, question, max_iterations=steps, emit=stoppable(journal))


def find_engine(name: str) -> str:
    """Return a name of an engine; ScenarioError: there is none of that name."""
    if name not in ENGINES:
        known = ", ".join(ENGINES)
        raise ScenarioError(f"there is no engine {name!r}; there is {known}")
    return name
