"""One definition of a tool for every engine, and other people's tools in ours.

An OpenAI function schema is the name, the description and the parameters; a LangChain
tool has a function as well. LangChain is imported by the functions that need it and
nowhere else in this room.
"""

from __future__ import annotations

import copy
import inspect
import json
import typing
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import TYPE_CHECKING, Any, Literal, cast

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.calls import (
    Effect,
    Observation,
    ToolCall,
    ToolError,
    ToolFailure,
    result_text,
)
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel


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


OnError = Literal["observe", "raise"]
"""With `observe` an error comes back as text for the model, with `raise` it leaves the
function as a `ToolFailure`, as the tools of most frameworks do it."""


def to_openai(tool: Tool) -> dict[str, Any]:
    """Return the function schema that goes into a chat request's `tools`."""
    return {
        "type": "function",
        "function": {
            "name": tool.name,
            "description": tool.description,
            "parameters": copy.deepcopy(dict(tool.parameters)),
        },
    }


def from_openai(
    schema: Mapping[str, Any],
    run: Callable[..., dict[str, Any]],
    effect: Effect = Effect.READ,
    **settings: Any,
) -> Tool:
    """Return a tool for a function schema; `settings` are further fields of `Tool`.

    Raises:
        ContractError: the schema is not one of a function.
    """
    function = schema.get("function", schema)
    if not isinstance(function, Mapping) or "name" not in function:
        raise ContractError(f"a function schema has a name; this has {sorted(schema)}")
    return Tool(
        name=function["name"],
        description=function.get("description") or "",
        parameters=function.get("parameters", {}),
        run=run,
        effect=effect,
        **settings,
    )


def text_function(tool: Tool, on_error: OnError = "observe") -> Callable[[str], str]:
    """Return the tool as a function from the text of an action input to a text.

    The text is bound and checked as the registry does it; `trusting_function` is the
    same without that.
    """
    registry = ToolRegistry([tool])

    def call(text: str) -> str:
        return _finish(registry, registry.bind(Action("", tool.name, text)), on_error)

    call.__name__ = tool.name
    call.__doc__ = tool.description
    return call


def to_langchain(
    tool: Tool, *, text: bool = False, on_error: OnError = "observe"
) -> BaseTool:
    """Return the tool for LangChain.

    Args:
        tool: ours.
        text: for the classic text agent: one string in, bound as our own engine binds
            it. Otherwise arguments by name, for function calling.
        on_error: what an error becomes.
    """
    from langchain_core.tools import StructuredTool
    from langchain_core.tools import Tool as TextTool

    if text:
        return TextTool(
            name=tool.name,
            func=text_function(tool, on_error),
            description=tool.description,
        )
    registry = ToolRegistry([tool])

    def call(**arguments: Any) -> str:
        asked = ToolRequest(tool.name, arguments, "call_1")
        return _finish(registry, registry.bind(asked), on_error)

    return StructuredTool.from_function(
        func=call,
        name=tool.name,
        description=tool.description,
        args_schema=copy.deepcopy(dict(tool.parameters)),
        infer_schema=False,
    )


def from_langchain(
    tool: BaseTool, effect: Effect = Effect.READ, **settings: Any
) -> Tool:
    """Return a LangChain tool under our contract.

    Whatever it returns that is not a dict becomes `{"result": …}`. LangChain does not
    say whether a tool writes: say it with `effect`.
    """

    def run(**arguments: Any) -> dict[str, Any]:
        output = tool.invoke(arguments)
        return output if isinstance(output, dict) else {"result": output}

    schema = tool.tool_call_schema
    if not isinstance(schema, dict):
        schema = cast("type[BaseModel]", schema).model_json_schema()
    return Tool(
        name=tool.name.replace(" ", "_"),
        description=tool.description,
        parameters=_without_titles(schema),
        run=run,
        effect=effect,
        **settings,
    )


_TYPES: Mapping[Any, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    list: "array",
    dict: "object",
    NoneType: "null",
}


def tool_from_function(
    function: Callable[..., dict[str, Any]],
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = Effect.READ,
    **settings: Any,
) -> Tool:
    """Return a tool whose schema is the function's signature.

    Understood are str, int, float, bool, list, list[…], dict, Literal[…] and unions of
    them. A parameter without a default is required.

    Raises:
        ContractError: a parameter has no type, or one that JSON does not have.
    """
    hints = typing.get_type_hints(function)
    properties: dict[str, Any] = {}
    required = []
    for parameter in inspect.signature(function).parameters.values():
        where = f"{function.__name__}({parameter.name})"
        if parameter.kind is parameter.POSITIONAL_ONLY:
            raise ContractError(f"{where}: leave out the /; a call names its arguments")
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            raise ContractError(f"{where}: name every argument; * has no schema")
        if parameter.name not in hints:
            raise ContractError(f"{where} has no type: write {parameter.name}: str")
        properties[parameter.name] = _schema_of(hints[parameter.name], where)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
        else:
            properties[parameter.name]["default"] = parameter.default
    return Tool(
        name=name or function.__name__,
        description=description or inspect.getdoc(function) or "",
        parameters={"properties": properties, "required": required},
        run=function,
        effect=effect,
        **settings,
    )


def _schema_of(kind: Any, where: str) -> dict[str, Any]:
    origin, parts = typing.get_origin(kind), typing.get_args(kind)
    if kind in _TYPES:
        return {"type": _TYPES[kind]}
    if origin is Literal:
        return {"enum": list(parts)}
    if origin is list:
        return {"type": "array"} | (
            {"items": _schema_of(parts[0], where)} if parts else {}
        )
    if origin is dict:
        return {"type": "object"}
    if origin in (typing.Union, UnionType):
        if all(part in _TYPES for part in parts):
            return {"type": [_TYPES[part] for part in parts]}
        return {"anyOf": [_schema_of(part, where) for part in parts]}
    raise ContractError(f"{where} has the type {kind}, which JSON does not have")


def _finish(
    registry: ToolRegistry, bound: ToolCall | ToolError, on_error: OnError
) -> str:
    """Run a bound call and return its text, or raise what it failed with."""
    if isinstance(bound, ToolError):
        seen = Observation.failed("call_1", bound)
    else:
        seen = registry.run(bound)
    if seen.error is not None and on_error == "raise":
        error = seen.error
        raise ToolFailure(error.kind, error.message, error.retryable, error.hint)
    return seen.text()


def _without_titles(schema: Any) -> Any:
    """Drop the titles that pydantic adds: they cost tokens and say nothing."""
    if isinstance(schema, dict):
        return {
            name: _without_titles(part)
            for name, part in schema.items()
            if not (name == "title" and isinstance(part, str))
        }
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    return schema
