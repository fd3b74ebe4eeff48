"""One definition of a tool for every engine, and other people's tools in ours.

An OpenAI function schema is the name, the description and the parameters; a LangChain
tool has a function as well. LangChain is imported by the functions that need it and
nowhere else in this room.
"""

from __future__ import annotations

import copy
import inspect
import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from workbook.loop.turns import Action
from workbook.models.base import ToolRequest
from workbook.tools.calls import Effect, ToolError, ToolFailure, result_text
from workbook.tools.registry import ToolRegistry
from workbook.tools.tool import ContractError, Tool

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool
    from pydantic import BaseModel


class FailedText(str):
    """What an engine that knows texts alone gets of a call that failed: it is not `ok`.

    The model reads it as any other text; a trace can tell the two apart.
    """

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
    """Return the tool for LangChain.

    Args:
        tool: ours.
        text: for the classic text agent: one string in. Otherwise arguments by name,
            for function calling.
        trusting: the function as it is, as tutorials hand it over: nothing is checked,
            and what it raises, except a `ToolFailure`, leaves it. Otherwise the
            contract holds: arguments are bound as our own engine binds them, and an
            error is a text for the model.
    """
    from langchain_core.tools import StructuredTool, ToolException
    from langchain_core.tools import Tool as TextTool

    registry = ToolRegistry([tool])

    def take_text(text: str) -> str:
        return _observed(registry, Action("", tool.name, text))

    def take_arguments(**arguments: Any) -> str:
        if trusting:
            said = _trusted(tool, arguments)
        else:
            said = _observed(registry, ToolRequest(tool.name, arguments, "call_1"))
        if isinstance(said, FailedText):
            raise ToolException(said)  # so its message has the status "error"
        return said

    if text:
        return TextTool(
            name=tool.name,
            func=trusting_function(tool) if trusting else take_text,
            description=tool.description,
        )
    return StructuredTool(
        name=tool.name,
        func=take_arguments,
        description=tool.description,
        args_schema=copy.deepcopy(dict(tool.parameters)),
        handle_tool_error=True,
    )


def _observed(registry: ToolRegistry, asked: Action | ToolRequest) -> str:
    bound = registry.bind(asked)
    if isinstance(bound, ToolError):
        return FailedText(bound.text())
    observation = registry.run(bound)
    return observation.text() if observation.ok else FailedText(observation.text())


def trusting_function(tool: Tool) -> Callable[[str], str]:
    """Return the tool as a function from the text of an action input to a text.

    Where the tool itself says no (`ToolFailure`), that is a `FailedText`. Whatever else
    it raises leaves it, and so does what comes of text that is no argument.
    """
    return lambda text: _trusted(tool, trusting_arguments(tool, text))


def _trusted(tool: Tool, arguments: dict[str, Any]) -> str:
    try:
        return result_text(tool.run(**arguments))
    except ToolFailure as failure:
        return FailedText(failure.error.text())


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


def from_langchain(
    tool: BaseTool, effect: Effect = Effect.READ, **settings: Any
) -> Tool:
    """Return a LangChain tool under our contract; `settings` are fields of `Tool`.

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


def tool_from_function(
    function: Callable[..., dict[str, Any]],
    *,
    name: str | None = None,
    description: str | None = None,
    effect: Effect = Effect.READ,
    **settings: Any,
) -> Tool:
    """Return a tool whose schema is the function's signature, as pydantic reads it.

    A parameter without a default is required; `Annotated[int, Field(le=20)]` sets a
    limit. The function gets its arguments in the types of its signature.

    Args:
        function: typed, with a docstring; returns a dict that is JSON.
        name: the function's own when not given.
        description: its docstring when not given.
        effect: whether a call changes the world.
        settings: further fields of `Tool`.

    Raises:
        ContractError: a parameter has no name or no type, or one that JSON does not
            have.
    """
    from pydantic import TypeAdapter, validate_call
    from pydantic.errors import PydanticUserError

    for parameter in inspect.signature(function).parameters.values():
        where = f"{function.__name__}({parameter.name})"
        if parameter.kind not in (
            parameter.POSITIONAL_OR_KEYWORD,
            parameter.KEYWORD_ONLY,
        ):
            raise ContractError(f"{where}: a call names its arguments; no * and no /")
        if parameter.annotation is parameter.empty:
            raise ContractError(f"{where} has no type: write {parameter.name}: str")
    try:
        schema = TypeAdapter(cast(Any, function)).json_schema()
    except (PydanticUserError, NameError) as error:
        why = str(error).splitlines()[0]
        raise ContractError(f"{function.__name__}: {why}") from None
    return Tool(
        name=name or function.__name__,
        description=description or inspect.getdoc(function) or "",
        parameters=_without_titles(schema),
        run=validate_call(function),
        effect=effect,
        **settings,
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
