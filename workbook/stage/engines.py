"""The engines that play a scenario, each writing the same trace events.

Each gets the same question, tools and model; what it does with them, a trace shows.
"""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from workbook.exercises.your_agent import PartBroken, Parts
from workbook.fsm.conversations import (
    TEXT_PREAMBLE,
    Conversation,
    FunctionCalls,
    TextTurns,
)
from workbook.fsm.limits import Limits
from workbook.fsm.machine import assemble
from workbook.fsm.table import CORE, Table
from workbook.guardrails.approval import LATER, Answer, Reject, Request, yes
from workbook.guardrails.budget import Budget
from workbook.guardrails.ledger import Ledger
from workbook.guardrails.machine import guarded
from workbook.guardrails.table import GUARDED
from workbook.loop.naive import Fuse, FuseBlown, naive_loop, reading_loop, traced
from workbook.models.base import TextModel
from workbook.models.choice import as_text_model, get_text_model, model_name
from workbook.models.script import Script
from workbook.record.events import Kind, TraceEvent
from workbook.record.trace import Trace
from workbook.record.writer import TraceWriter
from workbook.stage.museum import Ending, Museum
from workbook.stage.scenarios import (
    Scenario,
    ScenarioError,
    load,
    outcome,
    scenario_tools,
    slugs,
)
from workbook.tools.adapters import BoundTools, trusting_function
from workbook.tools.calculator import calculator
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

Listener = Callable[[TraceEvent], None]
Given = Mapping[str, Callable[..., Any]]
"""Functions by the exercise's name, to be used in place of the package's."""
LOCAL_TOKENS = 120  # the longest turn of the local model, which may never end


@dataclass(frozen=True)
class Engine:
    """What plays a scenario and tells `emit`, and its states if it has any.

    It is handed `parts`, and uses those that it has a place for.
    """

    play: Callable[[Scenario, Any, list[Tool], TraceWriter, Given], None]
    table: Table | None = None


def play(
    slug: str,
    engine: str = "naive",
    model: Any = None,
    *,
    parts: Given | None = None,
    path: Path | str | None = None,
    listener: Listener = lambda event: None,
) -> Trace:
    """Play a scenario (see `slugs()`) on one of `ENGINES` and return what happened.

    Args:
        model: asked in place of the scenario's script: a model, or a name as in
            `WORKBOOK_MODEL`. The tools stay the scenario's.
        parts: functions in place of the package's: `your_parts("parse_turn")`.
        path: where the trace is written as well, as JSONL.
        listener: told each event; a KeyboardInterrupt that it raises stops the run.
    """
    scenario, chosen = load(slug), find_engine(engine)
    asked, tools = _asked_model(scenario, model), scenario_tools(scenario)
    with TraceWriter(path, listener=_with_user(scenario, listener)) as emit:
        chosen.play(scenario, asked, tools, emit, parts or {})  # its clock has started
        _say_whose(parts)
        return emit.trace()


def compare(
    slug: str, engines: Iterable[str] = (), parts: Given | None = None
) -> dict[str, str]:
    """Return the museum's row of a scenario: engine to how it ended, in words."""
    names = [engines] if isinstance(engines, str) else list(engines) or MUSEUM
    row = {"scenario": load(slug).title}
    row |= {e: in_words(play(slug, e, parts=dict(parts or {}))) for e in names}
    _say_whose(parts)
    return row


def museum(engines: Iterable[str] = (), parts: Given | None = None) -> Museum:
    """Play every scenario on every engine and return how each run ended."""
    names = [engines] if isinstance(engines, str) else list(engines) or MUSEUM
    scenarios = {slug: load(slug) for slug in slugs()}

    def ending(scenario: Scenario, engine: str) -> Ending:
        trace = play(scenario.slug, engine, parts=dict(parts or {}))
        end = outcome(trace)
        return Ending(end, in_words(trace), scenario.is_right(end))

    shown = Museum(
        scenarios,
        {e: {slug: ending(s, e) for slug, s in scenarios.items()} for e in names},
    )
    _say_whose(parts)
    return shown


def _say_whose(parts: Given | None) -> None:
    if isinstance(parts, Parts):
        print(parts.line())


def find_engine(name: str) -> Engine:
    """Return an engine by its name; raises ScenarioError, with those that there are."""
    if name not in list(ENGINES):
        known = ", ".join(ENGINES)
        raise ScenarioError(f"there is no engine {name!r}; there is {known}")
    return ENGINES[name]


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
    scenario: Scenario,
    model: TextModel,
    tools: list[Tool],
    emit: TraceWriter,
    parts: Given,
    engine: str = "naive",
) -> None:
    """Play on a loop of lesson 01, behind a fuse; whatever it throws ends the run."""
    if engine == "naive":
        loop = parts.get("naive_loop", naive_loop)
    else:
        places = {"parse_turn": "parse", "build_history": "history"}
        read: Any = {arg: parts[name] for name, arg in places.items() if name in parts}
        loop = partial(reading_loop, **read)
    trusting = {tool.name: trusting_function(tool) for tool in tools}
    functions = BoundTools(tools) if engine == "registry" else trusting
    run = traced(loop, emit, engine)
    try:
        run(Fuse(model, scenario.steps), functions, scenario.question)
    except (Exception, KeyboardInterrupt) as error:
        blown = isinstance(error, FuseBlown)
        state, reason = "EXHAUSTED" if blown else "ERROR", type(error).__name__
        end = {"state": state, "reason": "fuse" if blown else reason, "answer": None}
        emit(Kind.RUN_FINISHED, **end, message=str(error))


def play_langchain(
    scenario: Scenario,
    model: TextModel,
    tools: list[Tool],
    emit: TraceWriter,
    parts: Given,
) -> None:
    """Play on LangChain's classic agent as tutorials build it: llm-math calculates."""
    from workbook.langchain_trace.agents import run_classic, with_llm_math

    steps = scenario.steps
    theirs = with_llm_math(tools, model, parts.get("evaluate_math_block"))
    run_classic(model, theirs, scenario.question, emit=emit, max_iterations=steps)


def play_create_agent(
    scenario: Scenario, model: Any, tools: list[Tool], emit: TraceWriter, parts: Given
) -> None:
    """Play on LangChain's agent of today, the model's turns as they are."""
    from workbook.langchain_trace.agents import run_graph
    from workbook.models.langchain import ScriptedModel

    script = isinstance(model, Script)
    chat = ScriptedModel(script=model) if script else getattr(model, "model", model)
    nodes = 2 * scenario.steps + 1
    run_graph(chat, tools, scenario.question, emit=emit, recursion_limit=nodes)


def play_fsm(
    scenario: Scenario,
    model: Any,
    tools: list[Tool],
    emit: TraceWriter,
    parts: Given,
    adapter: Callable[..., Conversation] = TextTurns,
) -> None:
    """Play on the state machine of lesson 05, by text turns or by function calls."""
    limits = Limits(steps=scenario.steps, tool_calls=2 * scenario.steps)
    if evaluate := parts.get("safe_eval"):
        theirs = calculator(evaluate=evaluate)
        tools = [theirs if tool.name == theirs.name else tool for tool in tools]
    options: Any = {"limits": limits, "adapter": adapter, "hook": emit}
    try:
        machine = assemble(parts, model, tools, **options)
    except Exception as error:  # a part of the reader's; a run raises nothing
        end = {"state": "ERROR", "reason": type(error).__name__, "answer": None}
        emit(Kind.RUN_FINISHED, **end, message=str(error))
        return
    if adapter is TextTurns:
        machine.preamble = warned(scenario, machine.tools, parts)
    machine.run(scenario.question)


def play_guarded(
    scenario: Scenario,
    model: Any,
    tools: list[Tool],
    emit: TraceWriter,
    parts: Given,
    adapter: Callable[..., Conversation] = TextTurns,
) -> None:
    """Play on the machine of lessons 06 and 07, with a person who answers by script."""
    given, steps = scenario.guards, scenario.steps
    budget = Budget(
        steps, 2 * steps, tokens=given.tokens, model_s=given.model_s or math.inf
    )
    answers = iter(given.answers)
    with tempfile.TemporaryDirectory() as folder:
        machine = guarded(
            model,
            tools,
            budget=budget,
            mode=given.mode,
            ask=lambda request: scripted_answer(request, next(answers, "approve")),
            ledger=Ledger(Path(folder) / "ledger.db"),
            one_call=given.one_call,
            context_tokens=given.context_tokens,
            pinned=given.pinned,
            parts=parts,
            adapter=adapter,
            hook=emit,
        )
        machine.run(scenario.question)


def scripted_answer(request: Request, said: str) -> Answer | None:
    """Return a person's answer as a scenario has it: approve, later, or reject: why."""
    word, _, why = said.partition(":")
    if word == "later":
        return LATER
    return Reject(why.strip()) if word == "reject" else yes(request)


def warned(scenario: Scenario, tools: ToolRegistry, parts: Given) -> str | None:
    """Return what stands before the question if the reader's preflight warns of it."""
    warn, question = parts.get("preflight"), scenario.question
    try:
        said = [f"{t.name}: {w}. " for t in tools if warn for w in warn(question, t)]
    except PartBroken:  # which `Parts.line` tells
        return None
    before = TEXT_PREAMBLE.format(tools=tools.describe())
    return f"{before}Warning: {''.join(said)}\n" if said else None


ENGINES = {
    "naive": Engine(play_naive),
    "reading": Engine(partial(play_naive, engine="reading")),
    "registry": Engine(partial(play_naive, engine="registry")),
    "langchain": Engine(play_langchain),
    "fsm": Engine(play_fsm, table=CORE),
    "guarded": Engine(play_guarded, table=GUARDED),
    "create_agent": Engine(play_create_agent),
    "fsm_calls": Engine(partial(play_fsm, adapter=FunctionCalls), table=CORE),
    "guarded_calls": Engine(partial(play_guarded, adapter=FunctionCalls), GUARDED),
}
"""The engines by name, in the order in which the lessons meet them."""

MUSEUM = ["naive", "langchain", "fsm"]  # the others ask for function calls


def _asked_model(scenario: Scenario, model: Any) -> TextModel:
    """Return the model that a run asks; None and "scripted" are the scenario's."""
    if model is not None and not isinstance(model, str):
        return as_text_model(model)
    name = "scripted" if model is None else model_name(model)
    if name == "scripted":
        return scenario.script()
    options: Any = {"max_tokens": LOCAL_TOKENS} if name == "local" else {}
    return get_text_model(model, **options)


def _with_user(scenario: Scenario, listener: Listener) -> Listener:
    """Let the scenario's user stop the run as a call begins, where it has one."""
    calls = itertools.count(1)

    def listen(event: TraceEvent) -> None:
        listener(event)
        is_call = event["kind"] == Kind.TOOL_CALL
        if is_call and next(calls) == scenario.cancel_after_tool_calls:
            raise KeyboardInterrupt("stopped by the user")

    return listen
