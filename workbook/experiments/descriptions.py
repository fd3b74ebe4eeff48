"""Does another description help? The same questions, one call each, before and after.

Each call is a run of the machine that ends after one step, and so leaves a trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from workbook.environments.text_world import rows_of
from workbook.runtime.budget import Limits
from workbook.runtime.machine import Machine
from workbook.runtime.model import Model
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.trace import Kind, Trace

PREFILL = "Action: Forecast\nAction Input:"
"""What each turn begins with (see `Prefilled`): the tool is chosen, the call is not."""

JSON_OBJECT = r"""
root ::= " {" pair (", " pair){0,2} "}"
pair ::= "\"" [a-z_]{1,16} "\": " ("\"" [^"\n{}]{0,16} "\"" | number)
number ::= "-"? [0-9]{1,9} ("." [0-9]{1,4})?
"""
"""A grammar for the local model: as with function calls it writes an object. Which
names stand in it, one to three, and which values, is up to the model."""


class CallTask(NamedTuple):
    """A question, and the arguments of the call that it asks for."""

    question: str
    arguments: dict[str, Any]
    part: str = ""  # of the file that it is from


def forecast() -> Tool:
    """Return a tool whose description says nothing of its two arguments."""
    days = {"type": "integer", "minimum": 1, "maximum": 7}
    properties = {"city": {"type": "string"}, "days": days}
    schema = {"properties": properties, "required": list(properties)}

    def run(city: str, days: int) -> dict[str, str]:
        return {"result": f"{days} days of sun in {city}"}

    return Tool("Forecast", "Forecast of the weather.", schema, run)


def forecast_tasks(part: str) -> list[CallTask]:
    """Return ten questions to see errors on ("seen"), or twenty others ("asked")."""
    return [
        t for t in rows_of("lessons/08/forecasts.jsonl", CallTask) if t.part == part
    ]


def first_calls(
    model: Model,
    tool: Tool,
    tasks: Iterable[CallTask],
    *,
    rule: str = "",
    reworded: Callable[[str], str] = str,
) -> list[Trace]:
    """Return a trace a task, in which the model reads of the tool and writes one call.

    `rule` stands before all else; `reworded` returns a question in other words.
    """
    tools, traces = ToolRegistry([tool]), []
    before = f"{rule}\n\n" * bool(rule) + f"Tools:\n{tools.describe()}\n\n"
    for task in tasks:
        machine = Machine(model, tools, limits=Limits(steps=1), preamble=before)
        traces.append(machine.run(reworded(task.question)).trace)
    return traces


def accepted(trace: Trace) -> bool:
    """Tell whether the tool took the first call."""
    return any(event["ok"] for event in trace.of(Kind.OBSERVATION)[:1])


def is_right(trace: Trace, task: CallTask) -> bool:
    """Tell whether the first call was taken, and has the arguments of the task."""
    calls = trace.of(Kind.TOOL_CALL)[:1]
    return accepted(trace) and [e["arguments"] for e in calls] == [task.arguments]
