"""The tools of one run of a scenario: real ones, and ones that follow a script.

What a user does in a scenario, who stops the run during a call, is played here too,
since every engine makes its calls. This module knows no engine.
"""

from __future__ import annotations

import builtins
import itertools
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from workbook.stage.scenarios import Scenario, ScenarioError
from workbook.tools.calls import Effect
from workbook.tools.tool import Tool


def scenario_tools(scenario: Scenario) -> list[Tool]:
    """Return fresh tools for one run of a scenario.

    Raises:
        ScenarioError: the scenario names a tool that the workbook does not have.
    """
    from workbook.props.catalogue import builtin_tool

    try:
        tools = [builtin_tool(name) for name in scenario.tool_names]
    except KeyError as error:
        raise ScenarioError(f"{scenario.slug}: {error.args[0]}") from None
    return [*tools, *(scripted_tool(entry) for entry in scenario.scripted_tools)]


def interrupt() -> None:
    """What a user's stop is to an engine that knows no such thing."""
    raise KeyboardInterrupt("stopped by the user")


def stop_during(
    tools: list[Tool], scenario: Scenario, stop: Callable[[], None] = interrupt
) -> list[Tool]:
    """Return the tools, with the scenario's user stopping the run during a call."""
    if scenario.cancel_after_tool_calls is None:
        return tools
    calls = itertools.count(1)

    def stopping(tool: Tool) -> Tool:
        def run(**arguments: Any) -> dict[str, Any]:
            if next(calls) == scenario.cancel_after_tool_calls:
                stop()
            return tool.run(**arguments)

        return replace(tool, run=run)

    return [stopping(tool) for tool in tools]


def scripted_tool(entry: Mapping[str, Any]) -> Tool:
    """Return a tool that answers as its scenario says, one answer a call."""
    answers = iter(entry.get("returns", ()))
    last = ""

    def run(input: str) -> dict[str, Any]:
        nonlocal last
        if takes_s := entry.get("takes_s"):
            time.sleep(takes_s)
        if "raises" in entry:
            raise getattr(builtins, entry["raises"])(entry.get("message", ""))
        last = next(answers, last)
        return {"result": last}

    return Tool(
        name=entry["name"],
        description=entry["description"],
        parameters={
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
        },
        run=run,
        effect=Effect(entry.get("effect", "read")),
        timeout_s=entry.get("timeout_s"),
    )
