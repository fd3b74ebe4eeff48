"""From what a model wrote to arguments, and what is wrong with them.

jsonschema_rs does the checking. We refuse extra fields, say where each problem is, and
keep from it what is not JSON.
"""

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from workbook.tools.calls import NotJson, as_json, to_json
from workbook.tools.repair import types_of

NOTHING = {"", "none", "null", "()", "n/a"}  # what models write for no arguments

_FENCE = re.compile(r"```[a-zA-Z]*\n?(.*?)```", re.DOTALL)


class UnreadableInput(ValueError):  # noqa: N818 - what happened, in words for the model
    """Text that cannot be read as arguments."""


def read_arguments(
    schema: Mapping[str, Any], text: str
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments in the text after `Action Input:`, and notes.

    A JSON object is the arguments. Any other text is the value of the only parameter:
    unchanged if that is a string, read as JSON if not. UnreadableInput says what to
    write if the text cannot be read.
    """
    notes: list[str] = []
    text = text.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced.group(1).strip()
        notes.append("write the input without a code fence")
    if text.startswith("{"):
        try:
            return dict(_loads(text)), notes
        except UnreadableInput:
            raise
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "too deep or too long")
        example = example_of(schema)
        raise UnreadableInput(
            f"the input is not JSON ({reason}); write it like {example}"
        )
    name = only_parameter(schema)
    if name is not None:
        return {name: _read_value(schema["properties"][name], text)}, notes
    if not schema["properties"] and text.casefold() in NOTHING:
        return {}, notes
    raise UnreadableInput(f"the input is not a JSON object like {example_of(schema)}")


def only_parameter(schema: Mapping[str, Any]) -> str | None:
    """Return the argument that a bare text can mean: the only one, or only required."""
    for names in (list(schema["properties"]), schema.get("required", ())):
        if len(names) == 1:
            return str(names[0])
    return None


def _read_value(part: Mapping[str, Any], text: str) -> Any:
    types = types_of(part)
    if not types or "string" in types:
        return text
    for candidate in (text, f"[{text}]"):  # "1, 2, 3" are several values
        with suppress(ValueError, RecursionError):
            return _loads(candidate)
    return text


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once_each)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is given twice: Python would keep the last value."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UnreadableInput(f"{name} is given twice: call once per value")
        found[name] = value
    return found


def example_of(schema: Mapping[str, Any]) -> str:
    """Return arguments as a model should write them."""
    samples = {"string": "…", "integer": 1, "number": 1.5, "boolean": True, "array": []}
    shown = {}
    for name, part in schema["properties"].items():
        kind = min(types_of(part), default="string")
        shown[name] = next(iter(part.get("enum", ())), samples.get(kind))
    return to_json(shown)


def validate_arguments(schema: Mapping[str, Any], arguments: Any) -> list[str]:
    """Return what is wrong with the arguments; an empty list if nothing is.

    Each problem is its place, a colon, and the validator's message. The list is
    sorted. An argument that the schema does not name is always a problem, and so is a
    value that JSON cannot hold, such as NaN.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> validate_arguments(schema, {"n": "12"})
    ['arguments.n: "12" is not of type "integer"']
    >>> validate_arguments(schema, {"n": 12})
    []
    """
    try:
        plain = as_json(arguments)
    except NotJson as error:
        return [f"arguments: not JSON ({error})"]
    return problems_with(
        validator_for({**schema, "additionalProperties": False}), plain
    )


def problems_with(validator: Draft202012Validator, plain: Any) -> list[str]:
    """Return what is wrong with JSON data, as `validate_arguments` words it."""
    return sorted(
        f"arguments{_place(error.instance_path)}: {error.message}"
        for error in validator.iter_errors(plain)
    )


def _place(path: Sequence[str | int]) -> str:
    return "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in path)


def closed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that allows no other fields; ValueError where no call has it."""
    try:
        plain: dict[str, Any] = as_json(dict(schema))
    except NotJson as error:
        raise ValueError(f"the schema is not JSON: {error}") from None
    if plain.setdefault("type", "object") != "object":
        raise ValueError(f"the schema has type {plain['type']!r}; use 'object'")
    if plain.setdefault("additionalProperties", False) is not False:
        raise ValueError("additionalProperties must be false: name every argument")
    properties = plain.setdefault("properties", {})
    try:
        validator_for(plain)
    except ValidationError as error:
        where = f"parameters{_place(error.instance_path)}"
        raise ValueError(f"not a JSON Schema: {where}: {error.message}") from None
    for name, part in properties.items():
        if isinstance(part, bool):
            raise ValueError(f"properties.{name} is {part}: say what is allowed there")
    if unknown := set(plain.get("required", ())) - properties.keys():
        raise ValueError(f"required names what properties do not: {sorted(unknown)}")
    return plain


def validator_for(schema: Mapping[str, Any]) -> Draft202012Validator:
    """Return the schema compiled; a `$ref` to the network is refused, not fetched."""
    # A `pattern` takes milliseconds at most, whatever the text: jsonschema_rs gives
    # up then, and it does not match.
    return Draft202012Validator(dict(schema), offline=True)
