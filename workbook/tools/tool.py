"""What a tool is: a function with its schema, its effect and its time limit.

A definition that no call can keep is refused when it is made, in a sentence. `@tool`
makes a tool of a typed, documented function.
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
from workbook.tools.calls import Effect, as_json, to_json
from workbook.tools.repair import types_of

# What models and frameworks call the argument of a tool that has only one.
USUAL_ALIASES = ("input", "__arg1", "arg", "args", "value", "text")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


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
    business_key: tuple[str, ...] = ()  # arguments that name one operation
    repeatable: bool = False  # once more gives the same and does no harm
    preview: Callable[..., str] | None = None  # what a person sees who is to approve

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "parameters", closed_schema(self.parameters))
        except ValueError as error:
            raise ContractError(f"tool {self.name!r}: {error}") from None
        limit, effects = self.timeout_s, " or ".join(Effect)
        unknown = set(self.business_key) - self.parameters["properties"].keys()
        late = limit is not None and not 0 < limit <= threading.TIMEOUT_MAX
        wrong = {  # the name is one that function calling accepts
            "a name has 1 to 64 letters, digits, _ or -": not NAME.fullmatch(self.name),
            "describe it, in a docstring or a text": not self.description.strip(),
            f"run is {self.run!r}; use a function": not callable(self.run),
            "nobody awaits an async function; use a plain def": (
                inspect.iscoroutinefunction(self.run)
            ),
            f"timeout_s is {limit}; use seconds or None": late,
            f"effect is {self.effect!r}; use {effects}": self.effect not in {*Effect},
            f"business_key names {unknown}, which are no arguments": bool(unknown),
        }
        for words, is_wrong in wrong.items():
            if is_wrong:
                raise ContractError(f"tool {self.name!r}: {words}")
        object.__setattr__(self, "effect", Effect(self.effect))

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


def to_openai(tool: Tool) -> dict[str, Any]:
    """Return the function schema that goes into a chat request's `tools`."""
    about = {"name": tool.name, "description": tool.description}
    parameters = as_json(tool.parameters)  # a copy
    return {"type": "function", "function": {**about, "parameters": parameters}}


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
    from pydantic import TypeAdapter

    is_plain = inspect.isfunction(function) or inspect.ismethod(function)
    if not is_plain or inspect.iscoroutinefunction(function):
        raise ContractError(
            f"{function!r} cannot be a tool: write a plain def, not async"
        )
    text = inspect.getdoc(function) or ""
    hints, notes = _hints_of(function), _argument_notes(text)
    properties = {}
    for name, hint in hints.items():
        properties[name] = schema_of(hint, f"{function.__name__}: {name}")
        if name in notes:
            properties[name]["description"] = notes[name]
    given = inspect.signature(function).parameters.values()
    required = [each.name for each in given if each.default is each.empty]
    # The registry has checked the values; those of an Enum become its members here.
    adapters = {name: TypeAdapter(hint) for name, hint in hints.items()}

    def run(**arguments: Any) -> dict[str, Any]:
        values = {n: adapters[n].validate_python(v) for n, v in arguments.items()}
        result = function(**values)
        return result if isinstance(result, dict) else {"result": result}

    return Tool(
        name=fields.pop("name", function.__name__),
        description=" ".join(text.split("\n\n")[0].split()),
        parameters={"properties": properties, "required": required},
        run=run,
        **fields,
    )


def _hints_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the type of each argument; ContractError for what a call cannot name."""
    try:
        hints, called = get_type_hints(function), function.__name__
    except NameError as error:
        raise ContractError(f"a type of {function!r} is not known: {error}") from None
    found = {}
    for name, given in inspect.signature(function).parameters.items():
        if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
            raise ContractError(f"{called}: {given} is not given by name: write it out")
        if name not in hints:
            raise ContractError(
                f"{called}: {name} has no type hint, such as {name}: str"
            )
        found[name] = hints[name]
    return found


def _argument_notes(text: str) -> dict[str, str]:
    """Return what the "Args:" section of a docstring says of each argument."""
    section = re.search(r"^Args:\n((?:[ \n].*\n?)+)", text, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", dedent(section[1])) if section else []
    pairs = [entry.partition(":") for entry in entries]
    return {name.split(" ")[0]: " ".join(note.split()) for name, _, note in pairs}


_JSON_TYPES = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    NoneType: "null",
    list: "array",
    dict: "object",
}


def schema_of(hint: Any, of: str = "an argument") -> dict[str, Any]:
    """Return the JSON Schema of a type hint; ContractError for what JSON has not.

    >>> schema_of(list[int | None])
    {'type': 'array', 'items': {'type': ['integer', 'null']}}
    """
    kind, inner = get_origin(hint) or hint, get_args(hint)
    if isinstance(kind, EnumType):
        members: list[Enum] = list(kind)
        return schema_of(Literal[tuple(member.value for member in members)], of)
    if kind is Literal:
        texts = all(isinstance(value, str) for value in inner)
        return {**({"type": "string"} if texts else {}), "enum": list(inner)}
    if kind in (Union, UnionType):
        parts = [schema_of(each, of) for each in inner]
        if all(list(part) == ["type"] for part in parts):
            return {"type": [part["type"] for part in parts]}
        return {"anyOf": parts}
    if kind is list and inner:
        return {"type": "array", "items": schema_of(inner[0], of)}
    if kind is dict and inner and inner[0] is str:
        return {"type": "object", "additionalProperties": schema_of(inner[1], of)}
    if isinstance(hint, type) and hint in _JSON_TYPES:
        return {"type": _JSON_TYPES[hint]}
    known = "str, int, float, bool, None, list[…], dict[str, …], Literal, Enum, unions"
    raise ContractError(f"{of}: JSON has no {hint!r}; use {known}")
