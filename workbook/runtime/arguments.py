"""From what a model wrote to the arguments of a call.

Text is read as JSON, jsonschema_rs checks it against the tool's schema, and a near miss
is repaired if it can be read in one way. Nothing here calls a tool.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from .calls import NotJson, as_json, to_json

Schema = Mapping[str, Any]
NOTHING = {"", "none", "null", "()", "n/a"}  # what models write for no arguments
SAMPLES: dict[str, Any] = {"string": "…", "integer": 1, "number": 1.5, "boolean": True}
SAMPLES |= {"array": [], "object": {}, "null": None}
MOST = 200  # schemas that one property leads to: validating more may take for ever
# A `$ref` to the network is refused, not fetched; a `pattern` takes milliseconds at
# most, whatever the text: jsonschema_rs gives up.
validator_for = partial(Draft202012Validator, offline=True)

_FENCE = re.compile(r"```(?:\w*\s*\n|json\b)?(.*?)(?:```|\Z)", re.DOTALL)


class UnreadableInput(Exception):  # noqa: N818 - what happened, in words for the model
    """Text that cannot be read as arguments."""


def read_arguments(
    schema: Schema, text: str, strict: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments and notes of an Action Input; UnreadableInput."""
    text, notes = text.strip(), []
    fences = [] if text.startswith("{") else [*_FENCE.finditer(text)]
    inside = fences[0][1].strip() if fences else ""
    if len(fences) == 1 and (fences[0][0] == text or inside.startswith("{")):
        text, notes = inside, ["write the input without a code fence"]
    if text.startswith("{"):
        return _loads(text, "the input is", schema), notes
    if not strict and "```" not in text:
        if (name := only_parameter(schema)) is not None:
            types = types_of(schema["properties"][name], schema)
            is_data = types and "string" not in types
            for each in (text, f"[{text}]") if is_data else ():  # "1, 2" are several
                with suppress(UnreadableInput):
                    return {name: _loads(each)}, notes
            return {name: text}, notes
        if not schema["properties"] and text.casefold() in NOTHING:
            return {}, notes
    raise UnreadableInput(f"the input is not a JSON object like {example_of(schema)}")


def read_json(written: Any) -> Any:
    """Return the arguments of a function call, which may be a text; no text is {}."""
    if isinstance(written, str):
        written = _loads(written, "the arguments are") if written.strip() else None
    return {} if written is None else written


def _loads(text: str, what: str = "it is", schema: Schema | None = None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once_each, parse_float=_number)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "too deep or too long")
    advice = f"; write it like {example_of(schema)}" if schema else ""
    raise UnreadableInput(f"{what} not JSON ({reason}){advice}")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    # Python would keep the last value of a name that is given twice.
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UnreadableInput(f"{name} is given twice: call once per value")
        found[name] = value
    return found


def _number(text: str) -> int | float:
    # To JSON Schema 12.0 is an integer, to a Python function it is not.
    value = float(text)
    return int(value) if abs(value) < 2**53 and value.is_integer() else value


def closed_schema(schema: Schema) -> dict[str, Any]:
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
        if any(islice(_ways(part, plain), MOST, None)):
            raise ValueError(f"the $refs of {name} lead to itself or too many schemas")
    if unknown := set(plain.get("required", ())) - properties.keys():
        raise ValueError(f"required names what properties do not: {sorted(unknown)}")
    return plain


def validate_arguments(schema: Schema, arguments: Any) -> list[str]:
    """Return what is wrong with the arguments, sorted, each with its place."""
    closed = validator_for({**schema, "additionalProperties": False})
    return problems_with(closed, arguments)


def problems_with(validator: Draft202012Validator, arguments: Any) -> list[str]:
    """Return what is wrong with anything, as `validate_arguments` words it."""
    try:
        found = validator.iter_errors(as_json(arguments))
    except NotJson as error:
        return [f"arguments: not JSON ({error})"]
    return sorted(f"arguments{_place(e.instance_path)}: {e.message}" for e in found)


def _place(path: Iterable[str | int]) -> str:
    return "".join(f"[{at}]" if isinstance(at, int) else f".{at}" for at in path)


def repair_arguments(
    schema: Schema, arguments: dict[str, Any], aliases: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with near misses repaired, and a note for each."""
    properties, aliases = schema["properties"], aliases or {}
    meant = [n if n in properties else aliases.get(n, n) for n in arguments]
    repaired, notes = {}, []
    for (given, value), name in zip(arguments.items(), meant, strict=True):
        if meant.count(name) > 1:
            name = given
        if name != given:
            notes.append(f"{given} is called {name}")
        repaired[name], kinds = value, types_of(properties.get(name, {}), schema)
        if "integer" not in kinds or "string" in kinds:
            continue
        if isinstance(value, list) and len(value) > 1:
            notes.append(f"{name} has {len(value)} values: call once per value")
            continue
        one = value[0] if isinstance(value, list) and value else value
        if isinstance(one, str) and re.fullmatch(r"-?\d{1,99}", one.strip()):
            one = int(one)
        if type(one) is int and one is not value:
            repaired[name] = one
            notes.append(f"{name}: {value!r} read as {one}")
    return repaired, notes


def only_parameter(schema: Schema) -> str | None:
    """Return the argument that text alone can mean: the only one, or only required."""
    for names in (list(schema["properties"]), schema.get("required", ())):
        if len(names) == 1:
            return str(names[0])
    return None


def example_of(schema: Schema) -> str:
    """Return arguments as a model should write them."""
    shown = {}
    for name, part in schema["properties"].items():
        listed = [v for way in _ways(part, schema) for v in way.get("enum", ())]
        kind = min(types_of(part, schema), default="string")
        shown[name] = listed[0] if listed else SAMPLES[kind]
    return to_json(shown)


def types_of(part: Any, schema: Schema | None = None) -> set[str]:
    """Return the types that a property may have; empty when it does not say."""
    kinds = [way.get("type", ()) for way in _ways(part, schema)]
    return {t for kind in kinds for t in ([kind] if isinstance(kind, str) else kind)}


def type_name(part: Any, schema: Schema | None = None) -> str:
    """Return what a property may be, in a word or a few: `integer | null`."""
    names: list[str] = []
    for way in _ways(part, schema):
        listed = [way["const"]] if "const" in way else way.get("enum", ())
        types = sorted(types_of({"type": way.get("type", ())}))
        names += [*map(to_json, listed)] or types
    return " | ".join(dict.fromkeys(names)) or "any"


def _ways(part: Any, schema: Schema | None) -> Iterator[Schema]:
    if not isinstance(part, Mapping):
        return
    yield part
    for word in ("allOf", "anyOf", "oneOf"):
        for way in part.get(word, ()):
            yield from _ways(way, schema)
    if "$ref" in part:
        found: Any = schema  # follow a reference such as #/$defs/N
        for step in part["$ref"].split("/")[1:]:
            found = found.get(step) if isinstance(found, Mapping) else None
        yield from _ways(found, schema)
