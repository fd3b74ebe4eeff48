"""Tools for engines that know no registry: LangChain's, and functions of a text.

LangChain is imported by the function that needs it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from workbook.loop.turns import Action
from workbook.tools.calls import ToolError, ToolFailure, as_json, result_text
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import Tool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


class FailedText(str):
    """What came of a call that failed, for an engine of texts: a trace sees `ok`."""

    ok = False


def to_langchain(tool: Tool, *, text: bool = False) -> BaseTool:
    """Return the tool for LangChain, handed over as tutorials do: nothing is checked.

    With `text` it takes one string, for the classic agent; otherwise arguments by
    name. What the tool raises leaves it, but a `ToolFailure` is a text for the model.
    """
    from langchain_core.tools import StructuredTool, ToolException
    from langchain_core.tools import Tool as TextTool

    if text:
        return TextTool(tool.name, trusting_function(tool), tool.description)

    def take_arguments(**arguments: Any) -> str:
        said = _trusted(tool, arguments)
        if isinstance(said, FailedText):
            raise ToolException(said)  # so its message has the status "error"
        return said

    return StructuredTool(
        name=tool.name,
        func=take_arguments,
        description=tool.description,
        args_schema=as_json(tool.parameters),
        handle_tool_error=True,
    )


class BoundTools(dict[str, Callable[[str], str]]):
    """Tools as functions of text that never raise, behind one registry.

    Any name can be asked for: of a tool that is not there, the registry says so.
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

    A `ToolFailure` becomes a `FailedText`. Whatever else it raises leaves it, and so
    does what comes of text that is no argument.
    """
    return lambda text: _trusted(tool, trusting_arguments(tool, text))


def _trusted(tool: Tool, arguments: dict[str, Any]) -> str:
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
