"""What a tool is: a function, its schema, its effect, its time, in one definition.

A definition that cannot be kept is refused when it is made, in a sentence. This module
knows no call and no registry.
"""

import inspect
import re
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

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
        try:
            object.__setattr__(self, "effect", Effect(self.effect))
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
