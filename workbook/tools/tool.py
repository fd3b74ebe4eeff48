"""What a tool is: a function with its schema, its effect and its time limit.

A definition that no call can keep is refused when it is made, in a sentence. `@tool`
makes a tool of a typed, documented function.
"""

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from textwrap import dedent
from typing import Any, get_type_hints

from jsonschema_rs import Draft202012Validator

from workbook.tools.arguments import closed_schema, only_parameter, validator_for
from workbook.tools.calls import Effect, as_json, to_json
from workbook.tools.repair import types_of

# What models and frameworks call the argument of a tool that has only one.
USUAL_ALIASES = ("input", "__arg1", "arg", "args", "value", "text")
NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
EMPTY: Mapping[str, Any] = {}


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
    repeatable: bool = False  # a WRITE that does no harm once more
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
        defined = self.parameters.get("$defs", {})
        arguments = (
            f"{name}{'' if name in required else '?'}: {type_name(part, defined)}"
            for name, part in self.parameters["properties"].items()
        )
        return f"{self.name}({', '.join(arguments)})"


def to_openai(tool: Tool) -> dict[str, Any]:
    """Return the function schema that goes into a chat request's `tools`."""
    about = {"name": tool.name, "description": tool.description}
    parameters = as_json(tool.parameters)  # a copy
    return {"type": "function", "function": {**about, "parameters": parameters}}


def type_name(part: Any, defined: Mapping[str, Any] = EMPTY) -> str:
    """Return what a property may be, in a word or a few: `integer | null`."""
    if not isinstance(part, Mapping):
        return "any"
    if "$ref" in part:
        part = defined.get(part["$ref"].rpartition("/")[2], {})
    if "const" in part:
        return to_json(part["const"])
    if "enum" in part:
        return " | ".join(to_json(value) for value in part["enum"])
    if "anyOf" in part:
        names = (type_name(each, defined) for each in part["anyOf"])
        return " | ".join(dict.fromkeys(names))
    return " | ".join(sorted(types_of(part))) or "any"


def tool(function: Callable[..., Any] | None = None, /, **fields: Any) -> Any:
    """Make a `Tool` of a typed function: `@tool` or `@tool(effect="write")`.

    The schema comes from the type hints, as pydantic reads them; an argument with a
    default need not be given. The first paragraph of the docstring is the description,
    and its "Args:" section describes the arguments. A result that is no dict becomes
    `{"result": value}`.

    Args:
        function: a function, or a method of an object: `tool(shop.order)`.
        fields: fields of `Tool`, such as name, effect and timeout_s.

    Raises:
        ContractError: what the function lacks, or which type JSON does not have.
    """
    if function is None:
        return lambda decorated: tool(decorated, **fields)
    if not (inspect.isfunction(function) or inspect.ismethod(function)):
        raise ContractError(f"{function!r} cannot be a tool: write a plain def")
    if inspect.iscoroutinefunction(function):
        raise ContractError(f"{function!r} cannot be a tool: nobody awaits it")
    from pydantic import validate_call

    text = inspect.getdoc(function) or ""
    schema = _schema_of(function)
    for name, note in _argument_notes(text).items():
        if name in schema["properties"]:
            schema["properties"][name]["description"] = note
    checked = validate_call(function)  # the members of an Enum in place of their values

    @wraps(function)
    def run(**arguments: Any) -> dict[str, Any]:
        result = checked(**arguments)
        return result if isinstance(result, dict) else {"result": result}

    return Tool(
        name=fields.pop("name", function.__name__),
        description=" ".join(text.split("\n\n")[0].split()),
        parameters=schema,
        run=run,
        **fields,
    )


def _schema_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the JSON Schema of a function's arguments, by its type hints."""
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    called, parameters = function.__name__, inspect.signature(function).parameters
    try:
        hints = get_type_hints(function)
        for name, given in parameters.items():
            if given.kind not in (given.POSITIONAL_OR_KEYWORD, given.KEYWORD_ONLY):
                raise ContractError(f"{called}: {given} is not given by name")
            if name not in hints:
                like = f"such as {name}: str"
                raise ContractError(f"{called}: {name} has no type hint, {like}")
        parts, definitions = TypeAdapter.json_schemas(
            [(name, "validation", TypeAdapter(hints[name])) for name in parameters]
        )
    except (PydanticUserError, NameError) as error:
        raise ContractError(f"{called}: a type has no JSON Schema: {error}") from None
    return {
        "properties": {name: part for (name, _), part in parts.items()},
        "required": [n for n, each in parameters.items() if each.default is each.empty],
        **definitions,
    }


def _argument_notes(text: str) -> dict[str, str]:
    """Return what the "Args:" section of a docstring says of each argument."""
    section = re.search(r"^Args:\n((?:[ \n].*\n?)+)", text, re.MULTILINE)
    entries = re.split(r"\n(?=\S)", dedent(section[1])) if section else []
    pairs = [entry.partition(":") for entry in entries]
    return {name.split(" ")[0]: " ".join(note.split()) for name, _, note in pairs}
