"""Whether arguments are what a schema allows, in sentences that a model can act on.

The checking is jsonschema's. Ours are three things around it: extra fields are always
refused, each problem says where it is, and a schema that cannot describe arguments is
refused before anything is called.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from workbook.tools.quick_import import import_jsonschema

if TYPE_CHECKING:
    from jsonschema.protocols import Validator


def validate_arguments(schema: Mapping[str, Any], arguments: Any) -> list[str]:
    """Return what is wrong with the arguments, nothing when they are right.

    Each problem is where it is, a colon, and jsonschema's message, and they come in
    alphabetical order. A field that the schema does not name is a problem, also where
    the schema forgot to say so.

    Args:
        schema: JSON Schema of an object, draft 2020-12.
        arguments: what the model wrote, read as JSON.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> validate_arguments(schema, {"n": "12"})
    ["arguments.n: '12' is not of type 'integer'"]
    >>> validate_arguments(schema, {"n": 12})
    []
    """
    return sentences(compiled({**schema, "additionalProperties": False}), arguments)


def compiled(schema: Mapping[str, Any]) -> Validator:
    """Return a validator for a schema; it is made once and used for many calls."""
    from jsonschema import Draft202012Validator

    return Draft202012Validator(schema)


def sentences(validator: Validator, arguments: Any) -> list[str]:
    """Return the problems that a validator finds, in alphabetical order."""
    return sorted(
        f"{error.json_path.replace('$', 'arguments', 1)}: {error.message}"
        for error in validator.iter_errors(arguments)
    )


PLAIN_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}
_SAYS_NOTHING = {"title", "description", "default", "examples"}
_OF_AN_OBJECT = {"type", "properties", "required", "additionalProperties"}


def plain_types(schema: Mapping[str, Any]) -> dict[str, tuple[type, ...]] | None:
    """Return the Python types of each argument, or None where types do not say it all.

    Most schemas ask for types and nothing else. Arguments of exactly these types are
    valid, and a look at them costs a tenth of jsonschema. True is no number here.
    """
    if schema.keys() - _OF_AN_OBJECT - _SAYS_NOTHING:
        return None
    found = {}
    for name, part in schema["properties"].items():
        if not isinstance(part, Mapping) or part.keys() - {"type"} - _SAYS_NOTHING:
            return None
        kind = part.get("type")
        if not isinstance(kind, str) or kind not in PLAIN_TYPES:
            return None
        found[name] = PLAIN_TYPES[kind]
    return found


def closed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a schema that allows the named fields and no others.

    Raises:
        ValueError: it does not describe the arguments of a call; says why.
    """
    jsonschema = import_jsonschema()
    if not isinstance(schema, Mapping):
        raise ValueError(f"parameters are a JSON Schema, not {type(schema).__name__}")
    try:
        plain: dict[str, Any] = json.loads(json.dumps(schema, allow_nan=False))
    except (TypeError, ValueError) as error:
        raise ValueError(f"the schema is not JSON: {error}") from None
    if plain.setdefault("type", "object") != "object":
        raise ValueError(
            f"the schema has type {plain['type']!r}; arguments are an 'object'"
        )
    if plain.setdefault("additionalProperties", False) is not False:
        raise ValueError("additionalProperties must be false: name every argument")
    properties = plain.setdefault("properties", {})
    try:
        jsonschema.Draft202012Validator.check_schema(plain)
    except jsonschema.SchemaError as error:
        where = error.json_path.replace("$", "parameters", 1)
        raise ValueError(f"not a JSON Schema: {where}: {error.message}") from None
    for name, part in properties.items():
        if isinstance(part, bool):
            raise ValueError(f"properties.{name} is {part}: say what is allowed there")
    unknown = [name for name in plain.get("required", ()) if name not in properties]
    if unknown:
        raise ValueError(f"required names what properties do not: {unknown}")
    _check_references(plain)
    return plain


def _check_references(schema: dict[str, Any]) -> None:
    known = {f"#/$defs/{name}" for name in schema.get("$defs", {})}
    for reference in _references(schema):
        if reference not in known:
            raise ValueError(
                f"$ref {reference!r} leads nowhere; refer to #/$defs/<name> only"
            )


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("$ref"), str):
            yield part["$ref"]
        for value in part.values():
            yield from _references(value)
    elif isinstance(part, list):
        for value in part:
            yield from _references(value)
