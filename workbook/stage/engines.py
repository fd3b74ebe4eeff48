"""The engines that play a scenario, each writing the same kinds of trace events.

Each gets the same question, tools and model. Three are machines that differ in their
guards; with `_calls` behind its name an engine asks the model for function calls.
"""

import itertools
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from workbook.checks.parts import Parts
from workbook.loop.functions import BoundTools, trusting_function
from workbook.loop.naive import (
    CallLimit,
    CallLimitReached,
    naive_loop,
    reading_loop,
    traced,
)
from workbook.runtime.calls import clip
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Event, Kind, Trace
from workbook.stage.machines import MACHINES, Given, machine_for, model_for
from workbook.stage.scenarios import Scenario, ScenarioError, load, outcome

LOOPS = "naive", "reading", "registry", "langchain", "create_agent"
ENGINES = (*LOOPS, *MACHINES, *(f"{name}_calls" for name in MACHINES))
"""In the order in which the lessons meet them."""


@dataclass
class Run:
    """What an engine is given of a run; see `play`."""

    scenario: Scenario
    model: Any
    tools: list[Tool]
    journal: Journal
    parts: Given = field(default_factory=dict)

    def emit(self, kind: str, /, **fields: Any) -> int:
        """Write an event of a loop; Ctrl-C and `cancel` take effect here."""
        seq = self.journal.emit(kind, **fields)
        if self.journal.signals:
            self.journal.signals.clear()
            raise KeyboardInterrupt("stopped by the user")
        return seq


def play(
    slug: str,
    engine: str = "naive",
    model: Any = None,
    *,
    parts: Given | None = None,
    path: Path | str | None = None,
    listener: Callable[[Event], None] | None = None,
    make: Callable[[Scenario, Path], Machine] | None = None,
) -> Trace:
    """Play a scenario on one of `ENGINES` and return its trace.

    Args:
        model: asked in place of the scenario's script: a model, or a name as in
            `WORKBOOK_MODEL`. The tools stay the scenario's.
        parts: functions in place of the package's: `your_parts("parse_turn")`.
        path: where the trace is written as well, as JSONL.
        listener: called with each event; a KeyboardInterrupt of its ends the run.
        make: makes another machine than the engine's, of a folder for its files.
    """
    scenario = load(slug)
    find_engine(engine)
    with tempfile.TemporaryDirectory() as passing, Journal(path) as journal:
        journal.listener = _with_user(scenario, listener)
        if engine in LOOPS and not make:
            asked = model_for(scenario, model)
            run = Run(scenario, asked, scenario.tools(), journal, parts or {})
            PLAY[engine](run)
        else:
            home = Path(path).parent if path else Path(passing)
            made = make or partial(
                machine_for, engine=engine, model=model, parts=parts or {}
            )
            _run_machine(scenario, made, home, journal)
        if isinstance(parts, Parts) and (line := parts.line()):
            print(line)
        return journal.trace()


def find_engine(name: str) -> str:
    """Return a name of an engine; ScenarioError: there is none, with those that are."""
    if name not in ENGINES:
        known = ", ".join(ENGINES)
        raise ScenarioError(f"there is no engine {name!r}; there is {known}")
    return name


def in_words(trace: Trace) -> str:
    """Say in a few words how a run ended."""
    end = outcome(trace)
    turns = f"{end['model_turns']} turn{'s' if end['model_turns'] != 1 else ''}"
    if end["state"] == "DONE":
        return f"DONE after {turns}: {clip(' '.join(str(end['answer']).split()), 60)}"
    return f"{end['state']} ({end['reason']}) after {turns}"


def _with_user(
    scenario: Scenario, listener: Callable[[Event], None] | None
) -> Callable[[Event], None]:
    """Let the scenario's user stop the run as a call begins, where it has one."""
    calls = itertools.count(1)

    def listen(event: Event) -> None:
        if listener:
            listener(event)
        is_call = event["kind"] == Kind.TOOL_CALL
        if is_call and next(calls) == scenario.cancel_after_tool_calls:
            raise KeyboardInterrupt("stopped by the user")

    return listen


# The loops.


def _naive(run: Run) -> None:
    loop = run.parts.get("naive_loop", naive_loop)
    _to_its_end(traced(loop, run.emit), run, trusting(run.tools))


def _reading(run: Run, engine: str = "reading") -> None:
    places = {"parse_turn": "parse", "build_history": "history"}
    given: Any = {places[n]: run.parts[n] for n in places if n in run.parts}
    read: Any = partial(reading_loop, **given)
    tools = trusting(run.tools) if engine == "reading" else BoundTools(run.tools)
    _to_its_end(traced(read, run.emit, engine), run, tools)


def run_loop(
    loop: Callable[..., str],
    model: Model,
    scenario: Scenario,
    *,
    instructions: str = "",
    calls: int = 12,
) -> Trace:
    """Run a loop of lesson 01 on a scenario's question and tools; return its trace.

    `instructions` stand before the question; after `calls` the model refuses.
    """
    with Journal() as journal:
        run = Run(scenario, model, [], journal)
        begun = partial(traced(loop, run.emit), instructions=instructions)
        _to_its_end(begun, run, loop_tools(scenario), calls)
        return journal.trace()


def loop_tools(scenario: Scenario) -> dict[str, Callable[[str], str]]:
    """Return a scenario's tools by name, each a function from text to text."""
    return trusting(scenario.tools())


def trusting(tools: Iterable[Tool]) -> dict[str, Callable[[str], str]]:
    """Return tools by name as functions that believe what they are given."""
    return {tool.name: trusting_function(tool) for tool in tools}


def _to_its_end(loop: Any, run: Run, tools: Any, calls: int | None = None) -> None:
    """Run a traced loop; whatever it raises ends the run, and is noted as its end."""
    model = CallLimit(run.model, calls or run.scenario.steps)
    try:
        loop(model, tools, run.scenario.question)
    except (Exception, KeyboardInterrupt) as error:
        limited = isinstance(error, CallLimitReached)
        reason = "call_limit" if limited else type(error).__name__
        end = {"state": "EXHAUSTED" if limited else "ERROR", "reason": reason}
        run.emit(Kind.RUN_FINISHED, **end, answer=None, message=str(error))


def _langchain(run: Run) -> None:
    """Play on LangChain's classic agent as tutorials build it: llm-math calculates."""
    from workbook.langchain_trace.agents import run_classic, with_llm_math

    asked, limit = run.scenario.question, {"max_iterations": run.scenario.steps}
    math = run.parts.get("evaluate_math_block")
    tools = with_llm_math(run.tools, run.model, math)
    run_classic(run.model, tools, asked, emit=run.emit, **limit)


def _create_agent(run: Run) -> None:
    """Play on LangChain's agent of today, the model's turns as they are."""
    from workbook.langchain_trace.agents import run_graph

    asked, nodes = run.scenario.question, 2 * run.scenario.steps + 1
    run_graph(run.model, run.tools, asked, emit=run.emit, recursion_limit=nodes)


PLAY: dict[str, Callable[[Run], None]] = {
    "naive": _naive,
    "reading": _reading,
    "registry": partial(_reading, engine="registry"),
    "langchain": _langchain,
    "create_agent": _create_agent,
}


def _run_machine(
    scenario: Scenario,
    make: Callable[[Scenario, Path], Machine],
    home: Path,
    journal: Journal,
) -> None:
    try:
        machine = make(scenario, home)
    except Exception as error:  # a part of the reader's; a run raises nothing
        end = {"state": "ERROR", "reason": type(error).__name__, "answer": None}
        journal.emit(Kind.RUN_FINISHED, **end, message=str(error))
        return
    machine.run(scenario.question, journal=journal)
