"""The tools of one run of a scenario: real ones, and ones that follow a script."""

from __future__ import annotations

import time
from typing import Any

from workbook.props.catalogue import builtin_tool
from workbook.stage.scenarios import Scenario, ScenarioError, ScriptedTool
from workbook.tools.calls import ToolFailure
from workbook.tools.tool import Tool


def scenario_tools(scenario: Scenario) -> list[Tool]:
    """Return fresh tools for one run of a scenario.

    Raises:
        ScenarioError: the scenario names a tool that the workbook does not have.
    """
    try:
        tools = [builtin_tool(name) for name in scenario.tool_names]
    except KeyError as error:
        raise ScenarioError(f"{scenario.slug}: {error.args[0]}") from None
    return tools + [scripted_tool(entry) for entry in scenario.scripted_tools]


def scripted_tool(entry: ScriptedTool) -> Tool:
    """Return a tool that answers as its scenario says."""
    script = entry.script()

    def run(input: str) -> dict[str, Any]:
        time.sleep(entry.takes_s)
        if entry.fails is not None:
            raise ToolFailure(**entry.fails.model_dump())
        return {"result": script.complete(input).text}

    return Tool(
        name=entry.name,
        description=entry.description,
        parameters={
            "type": "object",
            "properties": {"input": {"type": "string"}},
            "required": ["input"],
        },
        run=run,
        effect=entry.effect,
        timeout_s=entry.timeout_s,
    )
