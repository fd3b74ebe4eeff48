"""Looking at one call from close by.

`debug_call` makes a call in slow motion and keeps what went in and came out of each
stage; `log_calls` tells somebody about every call of a tool. Both leave the tool and
the registry as they are.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from workbook.loop.naive import Emit
from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.arguments import UnreadableInput, read_arguments
from workbook.tools.calls import Observation, ToolCall, ToolError, to_json
from workbook.tools.registry import ToolRegistry, problems_with, run_tool
from workbook.tools.repair import repair_arguments
from workbook.tools.tool import Tool

Clock = Callable[[], float]


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage of a call: its name, how it went, what came out, seconds spent."""

    name: str
    ok: bool
    outcome: str
    elapsed_s: float


@dataclass(frozen=True)
class DebugRun:
    """The stages of a call, and the observation at its end. Shows itself as a table."""

    call: str
    stages: tuple[Stage, ...]
    observation: Observation

    def __str__(self) -> str:
        lines = [
            f"{'✓' if stage.ok else '✗'} {stage.name:<11} "
            f"{stage.elapsed_s * 1e3:8.2f} ms  {stage.outcome}"
            for stage in self.stages
        ]
        return "\n".join([self.call, *lines])

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{'✓' if stage.ok else '✗'}</td><th>{escape(stage.name)}</th>"
            f"<td style='text-align:left'><pre>{escape(stage.outcome)}</pre></td>"
            f"<td>{stage.elapsed_s * 1e3:.2f}</td></tr>"
            for stage in self.stages
        )
        head = "<tr><th></th><th>stage</th><th>outcome</th><th>ms</th></tr>"
        return (
            f"<table><caption><code>{escape(self.call)}</code></caption>"
            f"<thead>{head}</thead><tbody>{rows}</tbody></table>"
        )


def debug_call(
    registry: ToolRegistry,
    name: str,
    arguments: dict[str, Any] | str,
    clock: Clock = time.perf_counter,
) -> DebugRun:
    """Make one call and keep every stage: bind, repair, validate, run, observation.

    The call is really made. A stage that fails is the last but the observation.

    Args:
        registry: where the tool is.
        name: of the tool, as a model would write it.
        arguments: a dict as in a function call, or the text of an action input.
        clock: seconds, from any origin.
    """
    stages: list[Stage] = []
    started = clock()

    def note(stage: str, ok: bool, outcome: str) -> None:
        nonlocal started
        stages.append(Stage(stage, ok, outcome, clock() - started))
        started = clock()

    observation = _walk(registry, name, arguments, note)
    note("observation", observation.ok, observation.text())
    shown = arguments if isinstance(arguments, str) else _shown(arguments)
    return DebugRun(f"{name}({shown})", tuple(stages), observation)


def _walk(
    registry: ToolRegistry,
    name: str,
    arguments: dict[str, Any] | str,
    note: Callable[[str, bool, str], None],
) -> Observation:
    asked = (
        Action("", name, arguments)
        if isinstance(arguments, str)
        else ToolRequest(name, arguments, "call_1")
    )
    bound = registry.bind(asked, "call_1")  # the verdict; below, how it came about
    if name not in registry:
        if isinstance(bound, ToolError):
            note("bind", False, bound.message)
            return Observation.failed("call_1", bound)
        name = bound.name
    tool = registry[name]
    try:
        read = (
            read_arguments(tool.parameters, arguments)[0]
            if isinstance(arguments, str)
            else arguments
        )
    except UnreadableInput as error:
        note("bind", False, str(error))
        return _refused(bound, name)
    note("bind", True, f"{name} with {_shown(read)}")
    repaired, notes = repair_arguments(tool.parameters, read, tool.all_aliases)
    note("repair", True, "; ".join(notes) or "nothing to repair")
    problems = problems_with(tool, repaired)
    note("validate", not problems, "; ".join(problems) or tool.signature())
    if isinstance(bound, ToolError):
        return _refused(bound, name)
    outcome = run_tool(tool, bound.arguments)
    if isinstance(outcome, ToolError):
        note("run", False, f"{outcome.kind}: {outcome.message}")
        return Observation("call_1", False, None, outcome, name, bound.notes)
    note("run", True, _shown(outcome))
    return Observation("call_1", True, outcome, None, name, bound.notes)


def _refused(bound: ToolCall | ToolError, name: str) -> Observation:
    assert isinstance(bound, ToolError)  # bind came to the same verdict
    return Observation.failed("call_1", bound, name)


def log_calls(emit: Emit, clock: Clock = time.perf_counter) -> Callable[[Tool], Tool]:
    """Return a decorator that tells `emit` about every call of a tool.

    Two trace events a call, `tool_call` and `observation`, the second with
    `elapsed_s`. Use it where no engine writes a trace: with an engine each call would
    stand in it twice.

    Args:
        emit: takes a kind and fields; a `TraceWriter`, or a function of your own.
        clock: seconds, from any origin.

    >>> loud = log_calls(lambda kind, **fields: print(kind, fields["tool"]))
    """

    def decorate(tool: Tool) -> Tool:
        count = 0

        def run(**arguments: Any) -> dict[str, Any]:
            nonlocal count
            count += 1
            about = {"call_id": f"{tool.name}_{count}", "tool": tool.name}
            emit("tool_call", **about, arguments=arguments)
            started = clock()
            try:
                result = tool.run(**arguments)
            except BaseException as error:
                text = f"{type(error).__name__}: {error}"
                spent = clock() - started
                emit("observation", **about, ok=False, text=text, elapsed_s=spent)
                raise
            spent = clock() - started
            text = _shown(result)
            emit("observation", **about, ok=True, text=text, elapsed_s=spent)
            return result

        return replace(tool, run=run)

    return decorate


def _shown(value: Any) -> str:
    try:
        return to_json(value)
    except (TypeError, ValueError, RecursionError):
        return repr(value)
