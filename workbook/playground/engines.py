"""The engines that play a scenario, each writing the same trace events.

Each gets the same question, tools and model; what it does with them, a trace shows.
"""

import itertools
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbook.choice import get_text_model, model_name
from workbook.exercises.your_agent import Parts
from workbook.grounding.grounded import VERIFY, grounding
from workbook.loop.functions import BoundTools, trusting_function
from workbook.loop.naive import (
    CallLimit,
    CallLimitReached,
    naive_loop,
    reading_loop,
    traced,
)
from workbook.playground.gallery_page import Ending, Gallery
from workbook.playground.machines import (
    Given,
    Person,
    RunSpec,
    play_machine,
    suspicious,
    with_guards,
)
from workbook.playground.scenarios import (
    Scenario,
    ScenarioError,
    load,
    outcome,
    scenario_tools,
    slugs,
)
from workbook.runtime.calls import clip
from workbook.runtime.guards import all_guards
from workbook.runtime.journal import Journal
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model
from workbook.runtime.table import CORE, Table
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Event, Kind, Trace
from workbook.security.tainted import taint
from workbook.wait import waiting

Listener = Callable[[Event], None]
LOCAL_TOKENS = 120  # the longest turn of the local model, which may never end


@dataclass(frozen=True)
class Engine:
    """What plays a run into its journal, and its states if it has any.

    It uses the parts that it has a place for; a machine also the person.
    """

    play: Callable[[RunSpec], None]
    table: Table | None = None
    asks_for_calls: bool = False  # the model is to call functions, and not to write


def play(
    slug: str,
    engine: str | Engine = "naive",
    model: Any = None,
    *,
    parts: Given | None = None,
    path: Path | str | None = None,
    listener: Listener = lambda event: None,
    person: Person | None = None,
) -> Trace:
    """Play a scenario (see `slugs()`) on one of `ENGINES`, or yours; return its trace.

    Args:
        model: asked in place of the scenario's script: a model, or a name as in
            `WORKBOOK_MODEL`. The tools stay the scenario's.
        parts: functions in place of the package's: `your_parts("parse_turn")`.
        path: where the trace is written as well, as JSONL.
        listener: told each event; a KeyboardInterrupt that it raises stops the run.
        person: sits before the run, where a machine plays it.
    """
    scenario, chosen = load(slug), find_engine(engine)
    asked, tools = _asked_model(scenario, model), scenario_tools(scenario)
    with Journal(path, listener=with_user(scenario, listener)) as journal:
        chosen.play(RunSpec(scenario, asked, tools, journal, parts or {}, person))
        _say_whose(parts)
        return journal.trace()


def gallery(
    engines: Iterable[str] = (),
    parts: Given | None = None,
    only: Iterable[str] = (),
) -> Gallery:
    """Play scenarios on every engine and return how each run ended.

    What ends otherwise on the last engine than on the first is on top. `only` names the
    scenarios to play, where it is not all that `slugs()` names.
    """
    names = [engines] if isinstance(engines, str) else list(engines) or GALLERY
    scenarios = {slug: load(slug) for slug in list(only) or slugs()}

    endings: dict[str, dict[str, Ending]] = {engine: {} for engine in names}
    with waiting("playing the scenarios", len(names) * len(scenarios)) as tick:
        for engine, slug in itertools.product(names, scenarios):
            trace = play(slug, engine, parts=dict(parts or {}))
            end = outcome(trace)
            right = scenarios[slug].is_right(end)
            endings[engine][slug] = Ending(end, in_words(trace), right)
            tick()
    _say_whose(parts)
    shown = Gallery(scenarios, endings, {engine: (engine, parts) for engine in names})
    return shown.since(names[0])


def _say_whose(parts: Given | None) -> None:
    if isinstance(parts, Parts) and (line := parts.line()):
        print(line)


def find_engine(name: str | Engine) -> Engine:
    """Return an engine by its name; raises ScenarioError, with those that there are."""
    if isinstance(name, Engine):
        return name
    if name not in list(ENGINES):
        known = ", ".join(ENGINES)
        raise ScenarioError(f"there is no engine {name!r}; there is {known}")
    return ENGINES[name]


def in_words(trace: Trace) -> str:
    """Say in a few words how a run ended."""
    end = outcome(trace)
    turns = f"{end['model_turns']} turn{'s' if end['model_turns'] != 1 else ''}"
    if end["state"] == "DONE":
        return f"DONE after {turns}: {clip(' '.join(str(end['answer']).split()), 60)}"
    return f"{end['state']} ({end['reason']}) after {turns}"


def play_naive(spec: RunSpec) -> None:
    """Play on the loop of lesson 01."""
    loop = spec.parts.get("naive_loop", naive_loop)
    _to_its_end(traced(loop, spec.emit), spec, _trusting(spec.tools))


def play_reading(spec: RunSpec, engine: str = "reading") -> None:
    """Play on the loop with a parser, or on that behind a registry of its tools."""
    places = {"parse_turn": "parse", "build_history": "history"}
    read: Any = {
        a: spec.parts[name] for name, a in places.items() if name in spec.parts
    }
    tools = _trusting(spec.tools) if engine == "reading" else BoundTools(spec.tools)
    _to_its_end(traced(partial(reading_loop, **read), spec.emit, engine), spec, tools)


def run_loop(
    loop: Callable[..., str],
    model: Model,
    scenario: Scenario,
    *,
    instructions: str = "",
    calls: int = 12,
) -> Trace:
    """Run a loop of lesson 01 on a scenario's question and tools; return its trace.

    Args:
        instructions: text before the question.
        calls: the model refuses to be asked more often.
    """
    with Journal() as journal:
        spec = RunSpec(scenario, model, [], journal)
        run = partial(traced(loop, spec.emit), instructions=instructions)
        _to_its_end(run, spec, loop_tools(scenario), calls)
        return journal.trace()


def loop_tools(scenario: Scenario) -> dict[str, Callable[[str], str]]:
    """Return a scenario's tools by name, each a function from text to text."""
    return _trusting(scenario_tools(scenario))


def _trusting(tools: list[Tool]) -> dict[str, Callable[[str], str]]:
    return {tool.name: trusting_function(tool) for tool in tools}


def _to_its_end(
    run: Any, spec: RunSpec, tools: Mapping[str, Any], calls: int | None = None
) -> None:
    """Run a traced loop; whatever it raises ends the run, and is noted as its end."""
    model = CallLimit(spec.model, calls or spec.scenario.steps)
    try:
        run(model, tools, spec.scenario.question)
    except (Exception, KeyboardInterrupt) as error:
        limited = isinstance(error, CallLimitReached)
        reason = "call_limit" if limited else type(error).__name__
        end = {"state": "EXHAUSTED" if limited else "ERROR", "reason": reason}
        spec.emit(Kind.RUN_FINISHED, **end, answer=None, message=str(error))


def play_langchain(spec: RunSpec) -> None:
    """Play on LangChain's classic agent as tutorials build it: llm-math calculates."""
    from workbook.langchain_trace.agents import run_classic, with_llm_math

    asked, limit = spec.scenario.question, {"max_iterations": spec.scenario.steps}
    math = spec.parts.get("evaluate_math_block")
    tools = with_llm_math(spec.tools, spec.model, math)
    run_classic(spec.model, tools, asked, emit=spec.emit, **limit)


def play_create_agent(spec: RunSpec) -> None:
    """Play on LangChain's agent of today, the model's turns as they are."""
    from workbook.langchain_trace.agents import run_graph

    asked, nodes = spec.scenario.question, 2 * spec.scenario.steps + 1
    run_graph(spec.model, spec.tools, asked, emit=spec.emit, recursion_limit=nodes)


GUARDED = Machine(None, [], all_guards()).table
SUSPICIOUS = Machine(
    None, [], [*grounding(), taint(None, then=VERIFY), *all_guards()]
).table
GUARDS = partial(play_machine, make=with_guards)
TRUST = partial(play_machine, make=suspicious)
ENGINES = {
    "naive": Engine(play_naive),
    "reading": Engine(play_reading),
    "registry": Engine(partial(play_reading, engine="registry")),
    "langchain": Engine(play_langchain),
    "fsm": Engine(play_machine, CORE),
    "guarded": Engine(GUARDS, GUARDED),
    "create_agent": Engine(play_create_agent, None, True),
    "fsm_calls": Engine(partial(play_machine, chat=True), CORE, True),
    "guarded_calls": Engine(partial(GUARDS, chat=True), GUARDED, True),
    "grounded": Engine(TRUST, SUSPICIOUS),
    "grounded_calls": Engine(partial(TRUST, chat=True), SUSPICIOUS, True),
}
"""The engines by name, in the order in which the lessons meet them."""

GALLERY = ["naive", "langchain", "fsm"]  # the others ask for function calls


def _asked_model(scenario: Scenario, model: Model | str | None) -> Model:
    """Return the model that a run asks; None and "scripted" are the scenario's."""
    if model is not None and not isinstance(model, str):
        return model
    name = "scripted" if model is None else model_name(model)
    if name == "scripted":
        return scenario.script()
    options: Any = {"max_tokens": LOCAL_TOKENS} if name == "local" else {}
    return get_text_model(model, **options)


def with_user(scenario: Scenario, listener: Listener) -> Listener:
    """Let the scenario's user stop the run as a call begins, where it has one."""
    calls = itertools.count(1)

    def listen(event: Event) -> None:
        listener(event)
        is_call = event["kind"] == Kind.TOOL_CALL
        if is_call and next(calls) == scenario.cancel_after_tool_calls:
            raise KeyboardInterrupt("stopped by the user")

    return listen
