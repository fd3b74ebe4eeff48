"""From what a model wrote to the arguments of a call.

Text is read as JSON, jsonschema_rs checks it against the tool's schema, and a near miss
is repaired where there is one way to read it. Nothing here calls a tool.
"""

import json
import math
import re
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import product
from typing import Any

from jsonschema_rs import Draft202012Validator, ValidationError

from .calls import NotJson, as_json, clip, to_json

Schema = Mapping[str, Any]
NOTHING = {"", "none", "null", "()", "n/a"}  # what models write for no arguments
SAMPLES: dict[str, Any] = {"string": "…", "integer": 1, "number": 1.5, "boolean": True}
SAMPLES |= {"array": [], "object": {}, "null": None}
MOST = 1000  # alternatives of a property

_FENCE = re.compile(r"```(?:\w*\s*\n|json\b)?(.*?)(?:```|\Z)", re.DOTALL)
_QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}
_FULL_WIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x2212: "-"}
_NUMBER = re.compile(
    r"[+-]?(?:[0-9]{1,200}(\.[0-9]*)?|(\.[0-9]+))(e[+-]?[0-9]{1,2})?", re.IGNORECASE
)


class UnreadableInput(Exception):  # noqa: N818 - what happened, in words for the model
    """Text that cannot be read as arguments."""


def read_arguments(
    schema: Schema, text: str, strict: bool = False
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments in the text after `Action Input:`, and notes.

    Text that is no JSON object is the only parameter's value; `strict` refuses it.
    """
    text, notes = text.strip(), []
    fences = [] if text.startswith("{") else [*_FENCE.finditer(text)]
    inside = fences[0][1].strip() if fences else ""
    if len(fences) == 1 and (fences[0][0] == text or inside.startswith("{")):
        text, notes = inside, ["write the input without a code fence"]
    if text.startswith("{"):
        return _loads(text, "the input is", schema), notes
    if not strict and "```" not in text:
        if (name := only_parameter(schema)) is not None:
            return {name: _read_value(schema, name, text)}, notes
        if not schema["properties"] and text.casefold() in NOTHING:
            return {}, notes
    raise UnreadableInput(f"the input is not a JSON object like {example_of(schema)}")


def read_json(written: Any) -> Any:
    """Return the arguments of a function call, which may be a text; no text is {}."""
    if isinstance(written, str):
        written = _loads(written, "the arguments are") if written.strip() else None
    return {} if written is None else written


def _read_value(schema: Schema, name: str, text: str) -> Any:
    part = schema["properties"][name]
    types = {"string"} if part.get("type") == "string" else types_of(part, schema)
    if types and "string" not in types:
        for candidate in (text, f"[{text}]"):  # "1, 2, 3" are several values
            with suppress(UnreadableInput):
                return _loads(candidate)
    return text


def _loads(text: str, what: str = "it is", schema: Schema | None = None) -> Any:
    try:
        return json.loads(text, object_pairs_hook=_once_each)
    except (ValueError, RecursionError) as error:
        reason = getattr(error, "msg", "too deep or too long")
    advice = f"; write it like {example_of(schema)}" if schema else ""
    raise UnreadableInput(f"{what} not JSON ({reason}){advice}")


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a name that is given twice: Python would keep the last value."""
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise UnreadableInput(f"{name} is given twice: call once per value")
        found[name] = value
    return found


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
        example_of(plain)
    except ValidationError as error:
        where = f"parameters{_place(error.instance_path)}"
        raise ValueError(f"not a JSON Schema: {where}: {error.message}") from None
    except RecursionError:
        raise ValueError("a $ref of the schema leads back to itself") from None
    for name, part in properties.items():
        if isinstance(part, bool):
            raise ValueError(f"properties.{name} is {part}: say what is allowed there")
    if unknown := set(plain.get("required", ())) - properties.keys():
        raise ValueError(f"required names what properties do not: {sorted(unknown)}")
    return plain


def validator_for(schema: Schema) -> Draft202012Validator:
    """Return the schema compiled; a `$ref` to the network is refused, not fetched."""
    # A `pattern` takes milliseconds at most, whatever the text: jsonschema_rs gives up.
    return Draft202012Validator(dict(schema), offline=True)


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
        listed = [v for way in alternatives(part, schema) for v in way.get("enum", ())]
        kind = min(types_of(part, schema), default="string")
        shown[name] = listed[0] if listed else SAMPLES[kind]
    return to_json(shown)


def types_of(part: Any, schema: Schema | None = None) -> set[str]:
    """Return the types that a property may have; empty when it does not say."""
    each = [_types(way) for way in alternatives(part, schema)]
    return set().union(*each) if all(each) else set()


def type_name(part: Any, schema: Schema | None = None) -> str:
    """Return what a property may be, in a word or a few: `integer | null`."""
    names: list[str] = []
    for way in alternatives(part, schema):
        listed = [way["const"]] if "const" in way else way.get("enum", ())
        names += [*map(to_json, listed)] or sorted(types_of(way)) or ["any"]
    return " | ".join(dict.fromkeys(names))


def alternatives(part: Any, schema: Schema | None) -> list[dict[str, Any]]:
    """Return what a property may be: schemas without `$ref`, allOf, anyOf and oneOf."""
    rest = dict(part) if isinstance(part, Mapping) else {}
    groups = [[each] for each in rest.pop("allOf", ())]
    if "$ref" in rest:
        found: Any = schema  # follow a reference such as #/$defs/N
        for step in rest.pop("$ref").split("/")[1:]:
            found = found.get(step) if isinstance(found, Mapping) else None
        groups.append([found])
    groups += [rest.pop(word) for word in ("anyOf", "oneOf") if word in rest]
    ways = [[w for one in group for w in alternatives(one, schema)] for group in groups]
    if math.prod(map(len, ways)) > MOST:
        raise ValueError(f"a property has more than {MOST} alternatives")
    return [dict(ChainMap(rest, *chosen)) for chosen in product(*ways)]


def _types(way: Schema) -> set[str]:
    kind = way.get("type", ())
    return {kind} if isinstance(kind, str) else set(kind)


def repair_arguments(
    schema: Schema, arguments: dict[str, Any], aliases: Mapping[str, str] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with near misses repaired, and a note for each."""
    if not isinstance(arguments, dict):
        return arguments, []
    properties, aliases = schema.get("properties", {}), aliases or {}
    meant = {n: n if n in properties else aliases.get(n, n) for n in arguments}
    claims = [*meant.values()]  # an alias stays where another argument means the same
    names = {n: to if claims.count(to) == 1 else n for n, to in meant.items()}
    notes = [f"{n} is called {name}" for n, name in names.items() if n != name]
    repaired = {names[n]: value for n, value in arguments.items()}
    for name, value in repaired.items():
        ways = alternatives(properties.get(name), schema)
        if _fits(value, ways):
            continue
        if isinstance(value, list) and len(value) > 1 and not _fits([], ways):
            notes.append(f"{name} has {len(value)} values: call once per value")
        better = next((each for each in _readings(value) if _fits(each, ways)), value)
        if better is not value:
            before, after = (clip(repr(each), 60) for each in (value, better))
            notes.append(f"{name}: {before} read as {after}")
            repaired[name] = better
    return repaired, notes


def _readings(value: Any) -> Iterator[Any]:
    """Yield what a value may stand for, the nearest first."""
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
        yield value
    if isinstance(value, float) and value.is_integer():
        yield int(value)  # JSON Schema lets 12.0 pass for an integer
    if isinstance(value, str):
        text = value.strip()
        if len(text) > 1 and _QUOTES.get(text[0]) == text[-1]:
            yield (text := text[1:-1].strip())
        plain = text.translate(_FULL_WIDTH)  # not NFKC: it also turns "2²" into "22"
        if found := _NUMBER.fullmatch(plain):
            yield float(plain) if found.lastindex else int(plain)


def _fits(value: Any, ways: list[dict[str, Any]]) -> bool:
    """Whether a value is of a type that is allowed, and a text one that is listed."""
    for way in ways:
        types = _types(way)
        allowed = {type(SAMPLES[kind]) for kind in types}
        allowed |= {int} if "number" in types else set()
        listed = way.get("enum", [way.get("const", value)])
        is_listed = not isinstance(value, str) or value in listed
        if is_listed and (not types or type(value) in allowed):
            return True
    return False
