"""One definition of a tool for every engine, and other people's tools in ours.

An OpenAI function schema is the name, the description and the parameters; a LangChain
tool has a function as well. LangChain is imported by the functions that need it.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, cast

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.calls import Effect, ToolError, ToolFailure, result_text
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool


class FailedText(str):
    """What came of a call that failed, for an engine of texts: a trace sees `ok`."""

    ok = False


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


def to_langchain(tool: Tool, *, text: bool = False, trusting: bool = False) -> BaseTool:
    """Return the tool for LangChain: arguments are bound as our own engine binds them.

    With `text` it takes one string, for the classic agent; otherwise arguments by
    name. An error is a text for the model. `trusting` hands it over as tutorials do:
    nothing is checked, and what it raises, except a `ToolFailure`, leaves it.
    """
    from langchain_core.tools import StructuredTool, ToolException
    from langchain_core.tools import Tool as TextTool

    registry = ToolRegistry([tool])
    take_text = BoundTools([tool])[tool.name]

    def take_arguments(**arguments: Any) -> str:
        if trusting:
            said = _trusted(tool, arguments)
        else:
            said = _observed(registry, ToolRequest(tool.name, arguments, "call_1"))
        if isinstance(said, FailedText):
            raise ToolException(said)  # so its message has the status "error"
        return said

    if text:
        take = trusting_function(tool) if trusting else take_text
        return TextTool(tool.name, take, tool.description)
    return StructuredTool(
        name=tool.name,
        func=take_arguments,
        description=tool.description,
        args_schema=copy.deepcopy(dict(tool.parameters)),
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
        return lambda text: _observed(self.registry, Action("", name, text))


def _observed(registry: ToolRegistry, asked: Action | ToolRequest) -> str:
    bound = registry.bind(asked)
    seen = bound if isinstance(bound, ToolError) else registry.run(bound)
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


def from_langchain(
    tool: BaseTool, effect: Effect = Effect.READ, **settings: Any
) -> Tool:
    """Return a LangChain tool under our contract; `settings` are fields of `Tool`.

    What it returns that is not a dict becomes `{"result": …}`.
    """

    def run(**arguments: Any) -> dict[str, Any]:
        output = tool.invoke(arguments)
        return output if isinstance(output, dict) else {"result": output}

    schema: Any = tool.tool_call_schema
    if not isinstance(schema, dict):
        schema = schema.model_json_schema()
    name, schema = tool.name.replace(" ", "_"), _without_titles(schema)
    return Tool(name, tool.description, schema, run, effect, **settings)


def tool_from_function(function: Callable[..., dict[str, Any]], **fields: Any) -> Tool:
    """Return a tool whose schema is the function's signature, as pydantic reads it.

    `Annotated[int, Field(le=20)]` sets a limit, and the function gets its arguments in
    its own types. ContractError where a parameter has no name or no JSON type.
    """
    from pydantic import TypeAdapter, validate_call
    from pydantic.errors import PydanticUserError

    for parameter in inspect.signature(function).parameters.values():
        where = f"{function.__name__}({parameter.name})"
        if parameter.kind.name not in ("POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"):
            raise ContractError(f"{where}: a call names its arguments; no * and no /")
        if parameter.annotation is parameter.empty:
            raise ContractError(f"{where} has no type: write {parameter.name}: str")
    try:
        schema = TypeAdapter(cast(Any, function)).json_schema()
    except (PydanticUserError, NameError) as error:
        why = str(error).splitlines()[0]
        raise ContractError(f"{function.__name__}: {why}") from None
    own = {"name": function.__name__, "description": inspect.getdoc(function) or ""}
    return Tool(
        **{**own, **fields},
        parameters=_without_titles(schema),
        run=validate_call(function),
    )


def _without_titles(schema: Any) -> Any:
    """Drop the titles that pydantic adds: they cost tokens and say nothing."""
    if isinstance(schema, list):
        return [_without_titles(part) for part in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _without_titles(part)
        for name, part in schema.items()
        if name != "title" or not isinstance(part, str)
    }
