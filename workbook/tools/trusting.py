"""A tool as people first write it: a function of text that trusts what it is given.

The naive loop and LangChain's classic agent call tools like this. Nothing is checked
and nothing is caught; the registry of lesson 04 is what they lack.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from workbook.tools.calls import result_text
from workbook.tools.definition import Tool


def trusting_function(tool: Tool) -> Callable[[str], str]:
    """Return the tool as a function from the text of an action input to a text.

    It raises what the tool raises, and what comes of text that is no argument.
    """
    return lambda text: result_text(tool.run(**trusting_arguments(tool, text)))


def trusting_arguments(tool: Tool | None, text: str) -> dict[str, Any]:
    """Return the arguments of a text input, read the way that tutorials read it.

    A JSON object is taken apart; anything else goes to the first parameter.

    Raises:
        ValueError: the text is not the number that the parameter wants.
    """
    if text.startswith("{"):
        arguments: dict[str, Any] = json.loads(text)
        return arguments
    name, schema = first_parameter(tool)
    kinds: dict[str, Callable[[str], Any]] = {"integer": int, "number": float}
    kind = schema.get("type")  # JSON Schema also allows a list of types
    return {name: kinds.get(kind, str)(text) if isinstance(kind, str) else text}


def first_parameter(tool: Tool | None) -> tuple[str, dict[str, Any]]:
    """Return the name and the schema of a tool's first parameter, or `input`."""
    if tool is None:
        return "input", {}
    return next(iter(tool.parameters["properties"].items()), ("input", {}))
