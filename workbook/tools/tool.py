"""What a tool is: a function, its schema, its effect, its time, in one definition.

A definition that cannot be kept is refused when it is made, in a sentence. This module
knows no call and no registry.
"""

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum, EnumType
from functools import cached_property
from textwrap import dedent
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from jsonschema_rs import Draft202012Validator

from workbook.tools.arguments import closed_schema, only_parameter, validator_for
from workbook.tools.calls import Effect, to_json
from workbook.tools.repair import types_of

# What models and frameworks call the argument of a tool that has only one.
USUAL_ALIASES = ("input", "__arg1", "arg", "args", "value", "text")


class ContractError(ValueError):
    """A tool that is defined wrongly: a mistake of the programmer, not of a model."""


@dataclass(frozen=True, eq=False, repr=False)
class Tool:
    """A function with its contract; ContractError when the definition cannot be kept.

    Extra fields are refused whether `parameters`, a JSON Schema, say so or not. Without
    `timeout_s` the tool runs in the calling thread, for as long as it takes.
    """

    name: str
    description: str  # what the model reads: what it does, its limits, an example
    parameters: Mapping[str, Any]
    run: Callable[..., dict[str, Any]]  # arguments by name; a dict that is JSON
    effect: Effect = Effect.READ
    timeout_s: float | None = 10.0
    aliases: Mapping[str, str] = field(default_factory=dict)  # alias to argument
    asked_by: tuple[str, ...] = ()  # words and signs by which a question asks for it
    max_output_chars: int = 20_000  # of the result as JSON
    outside: bool = True  # what it returns others wrote, and what it is given leaves
    # What guards ask; all three functions take the arguments of the call, by name.
    look_up: Callable[..., dict[str, Any] | None] | None = None  # the result of a call
    # that had its effect; None where it cannot tell
    business_key: tuple[str, ...] = ()  # arguments that name one deed: an invoice
    repeatable: bool = False  # once more gives the same and does no harm
    preview: Callable[..., str] | None = None  # what a person sees who is to approve

    def __post_init__(self) -> None:
        # What function calling accepts.
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.name):
            raise ContractError(
                f"tool name {self.name!r}: use 1 to 64 letters, digits, _ or -"
            )
        if not self.description.strip():
            raise ContractError(f"{self.name}: a model chooses by the description")
        if not callable(self.run) or inspect.iscoroutinefunction(self.run):
            words = "use a function, and not an async one: nobody awaits it"
            raise ContractError(f"{self.name}: run is {self.run!r}; {words}")
        limit = self.timeout_s
        if limit is not None and not 0 < limit <= threading.TIMEOUT_MAX:
            raise ContractError(
                f"{self.name}: timeout_s is {limit}; use seconds or None"
            )
        if self.effect not in list(Effect):
            effects = " or ".join(Effect)
            raise ContractError(
                f"{self.name}: effect is {self.effect!r}; use {effects}"
            )
        object.__setattr__(self, "effect", Effect(self.effect))
        try:
            object.__setattr__(self, "parameters", closed_schema(self.parameters))
        except ValueError as error:
            raise ContractError(f"{self.name}: {error}") from None
        for name in self.business_key:
            if name not in self.parameters["properties"]:
                message = f"business_key names {name!r}, which is no argument"
                raise ContractError(f"{self.name}: {message}")

    def __repr__(self) -> str:
        return f"<Tool {self.signature()}: {self.description}>"

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The schema, compiled once."""
        return validator_for(self.parameters)

    @cached_property
    def all_aliases(self) -> Mapping[str, str]:
        """The tool's aliases; of a tool with one argument also the usual ones."""
        only = only_parameter(self.parameters)
        usual = {} if only is None else dict.fromkeys(USUAL_ALIASES, only)
        return {**usual, **self.aliases}

    def signature(self) -> str:
        """Return the call as a model reads it: `power(base: number, to?: integer)`."""
        required = self.parameters.get("required", ())
        arguments = (
            f"{name}{'' if name in required else '?'}: {type_name(part)}"
            for name, part in self.parameters["properties"].items()
        )
        return f"{self.name}({', '.join(arguments)})"


def type_name(part: Any) -> str:
    if not isinstance(part, Mapping):
        return "any"
    if "const" in part:
        return to_json(part["const"])
    if "enum" in part:
        return " | ".join(to_json(value) for value in part["enum"])
    if "anyOf" in part:
        return " | ".join(dict.fromkeys(type_name(each) for each in part["anyOf"]))
    return " | ".join(sorted(types_of(part))) or "any"


def tool(function: Callable[..., Any] | None = None, /, **fields: Any) -> Any:
    """Make a `Tool` of a typed function: `@tool` or `@tool(effect="write")`.

    The schema comes from the type hints; an argument with a default need not be given.
    The first paragraph of the docstring is the description, and its "Args:" section
    describes the arguments. A result that is no dict becomes `{"result": value}`.

    Args:
        function: a function, or a method of an object: `tool(shop.order)`.
        fields: fields of `Tool`, such as name, effect and timeout_s.

    Raises:
        ContractError: what the function lacks, or which type JSON does not have.
    """
    if function is None:
        return lambda decorated: tool(decorated, **fields)
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise ContractError(f"{function!r} is no function: wrap it in a def")
    name = fields.pop("name", function.__name__)
    text = inspect.getdoc(function) or ""
    try:
        if inspect.iscoroutinefunction(function):
            raise ContractError("nobody awaits an async function: use a plain def")
        if not text:
            raise ContractError("write a docstring: a model chooses by it")
        properties, required, adapters = _arguments_of(function, text)
    except ContractError as error:
        raise ContractError(f"{name}: {error}") from None

    def run(**arguments: Any) -> dict[str, Any]:
        # The registry has checked the values: only those of an Enum become something
        # else, its members.
        values = {n: adapters[n].validate_python(v) for n, v in arguments.items()}
        result = function(**values)
        return result if isinstance(result, dict) else {"result": result}

    description = " ".join(text.split("\n\n")[0].split())
    schema = {"properties": properties, "required": required}
    return Tool(name, description, schema, run, **fields)


def _arguments_of(
    function: Callable[..., Any], text: str
) -> tuple[dict[str, Any], list[str], dict[str, Any]]:
    """Return a schema for each argument, the required ones, a type adapter for each."""
    from pydantic import TypeAdapter

    try:
        hints = get_type_hints(function)
    except NameError as error:
        raise ContractError(f"a type hint means nothing here: {error}") from None
    section = re.search(r"^Args:\n((?:[ \n].*\n?)+)", text, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", dedent(section[1])) if section else []
    notes = {entry.split(":")[0].split(" ")[0]: entry for entry in entries}
    properties, required = {}, []
    for name, given in inspect.signature(function).parameters.items():
        if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
            raise ContractError(f"{given} is not given by name: use plain arguments")
        if name not in hints:
            raise ContractError(f"{name} has no type hint: write {name}: str, say")
        try:
            properties[name] = schema_of(hints[name])
        except ContractError as error:
            raise ContractError(f"{name}: {error}") from None
        if name in notes:
            note = notes[name].partition(":")[2]
            properties[name]["description"] = " ".join(note.split())
        if given.default is given.empty:
            required.append(name)
    return properties, required, {name: TypeAdapter(hints[name]) for name in properties}


_JSON_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    list: "array",
    dict: "object",
}


def schema_of(hint: Any) -> dict[str, Any]:
    """Return the JSON Schema of a type hint; ContractError for what JSON has not.

    >>> schema_of(list[int | None])
    {'type': 'array', 'items': {'type': ['integer', 'null']}}
    """
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if isinstance(kind, EnumType):
        members: list[Enum] = list(kind)
        return schema_of(Literal[tuple(member.value for member in members)])
    if kind is Literal:
        texts = all(isinstance(value, str) for value in inner)
        return {**({"type": "string"} if texts else {}), "enum": list(inner)}
    if kind in (Union, UnionType):
        parts = [schema_of(each) for each in inner]
        if all(list(part) == ["type"] for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    if kind is list and inner:
        return {"type": "array", "items": schema_of(inner[0])}
    if kind is dict and inner and inner[0] is str:
        return {"type": "object", "additionalProperties": schema_of(inner[1])}
    if isinstance(hint, type) and hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    known = "str, int, float, bool, None, list[…], dict[str, …], Literal, Enum, unions"
    raise ContractError(f"JSON has no {hint!r}; use {known}")
