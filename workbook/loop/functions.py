"""Tools as functions from a text to a text, for engines that know no registry."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from workbook.runtime.calls import ToolError, ToolFailure, result_text
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.turns import Action


class FailedText(str):
    """What came of a call that failed, for an engine of texts: a trace sees `ok`."""

    ok = False


class BoundTools(dict[str, Callable[[str], str]]):
    """Tools as functions of a text that never raise, by a registry.

    Any name can be asked for: the registry answers for a tool that is not there.
    """

    def __init__(self, tools: Iterable[Tool]) -> None:
        self.registry = ToolRegistry(tools)
        super().__init__({tool.name: self[tool.name] for tool in self.registry})

    def __missing__(self, name: str) -> Callable[[str], str]:
        return lambda text: self._observed(Action("", name, text))

    def _observed(self, asked: Action) -> str:
        bound = self.registry.bind(asked)
        seen = bound if isinstance(bound, ToolError) else self.registry.run(bound)
        failed = isinstance(seen, ToolError) or not seen.ok
        return FailedText(seen.text()) if failed else seen.text()


def trusting_function(tool: Tool) -> Callable[[str], str]:
    """Return the tool as a function from the text of an action input to a text.

    A `ToolFailure` becomes a `FailedText`; anything else that is raised leaves it.
    """
    return lambda text: trusting_result(tool, trusting_arguments(tool, text))


def trusting_result(tool: Tool, arguments: dict[str, Any]) -> str:
    """Return what a tool gives as a text, its arguments unchecked; raises as above."""
    try:
        return result_text(tool.run(**arguments))
    except ToolFailure as failure:
        return FailedText(failure.error.text())


def trusting_arguments(tool: Tool | None, text: str) -> dict[str, Any]:
    """Return the arguments of a text input, read the way that tutorials read it.

    A JSON object is taken apart; anything else goes to the first parameter. ValueError
    where the text is not the number that it wants.
    """
    if text.startswith("{"):
        arguments: dict[str, Any] = json.loads(text)
        return arguments
    name, schema = first_parameter(tool)
    kind = schema.get("type")
    if kind in ("integer", "number"):
        return {name: int(text) if kind == "integer" else float(text)}
    return {name: text}


def first_parameter(tool: Tool | None) -> tuple[str, dict[str, Any]]:
    """Return the name and the schema of a tool's first parameter, or `input`."""
    if tool is None:
        return "input", {}
    return next(iter(tool.parameters["properties"].items()), ("input", {}))
