"""From what a model wrote to arguments, with as little guessing as possible.

A repair is made only where there is one way to read what is wrong, and leaves a note.
"""

import math
import re
from collections.abc import Mapping
from typing import Any

from workbook.models.prompts import clip

QUOTES = {'"': '"', "'": "'", "`": "`", "“": "”", "‘": "’", "「": "」"}

# Not NFKC: it also turns "2²" into "22".
_FULL_WIDTH = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)} | {0x2212: "-"}
_INTEGER = re.compile(r"[+-]?[0-9]{1,400}")
_NUMBER = re.compile(
    r"[+-]?([0-9]{1,400}(\.[0-9]*)?|\.[0-9]+)(e[+-]?[0-9]{1,3})?", re.I
)


def repair_arguments(
    schema: Mapping[str, Any],
    arguments: dict[str, Any],
    aliases: Mapping[str, str] | None = None,
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments with near misses repaired, and a note for each.

    A wrong name is replaced if `aliases` (alias to name) has it and no other argument
    means the same. A value is repaired if it does not fit the schema and the new one
    does: a list of one element becomes the element, text becomes the number that it
    spells, and quotes are removed. Of several values none is chosen. Notes about names
    come first, then notes about values.

    >>> schema = {"type": "object", "properties": {"n": {"type": "integer"}}}
    >>> repair_arguments(schema, {"number": "12"}, {"number": "n"})
    ({'n': 12}, ['number is called n', "n: '12' read as 12"])
    >>> repair_arguments(schema, {"n": [1, 2, 3]})
    ({'n': [1, 2, 3]}, ['n has 3 values: call once per value'])
    """
    if not isinstance(arguments, dict):
        return arguments, []
    properties = schema.get("properties", {})
    repaired, notes = _rename(arguments, properties, aliases or {})
    for name, value in repaired.items():
        part = properties.get(name)
        types = types_of(part)
        if not types or _is_right(value, types, part):
            continue
        if isinstance(value, list) and len(value) > 1 and "array" not in types:
            notes.append(f"{name} has {len(value)} values: call once per value")
            continue
        better = _near(value, types, part)
        if _is_right(better, types, part):
            before, after = (clip(repr(each), 60) for each in (value, better))
            notes.append(f"{name}: {before} read as {after}")
            repaired[name] = better
    return repaired, notes


def _rename(
    arguments: dict[str, Any], properties: Mapping[str, Any], aliases: Mapping[str, str]
) -> tuple[dict[str, Any], list[str]]:
    """Replace an alias by the name, if no other argument means the same."""
    meant = {
        given: given if given in properties else aliases.get(given, given)
        for given in arguments
    }
    claims = list(meant.values())
    renamed, notes = {}, []
    for given, value in arguments.items():
        name = meant[given] if claims.count(meant[given]) == 1 else given
        if name != given:
            notes.append(f"{given} is called {name}")
        renamed[name] = value
    return renamed, notes


def _near(value: Any, types: set[str], part: Mapping[str, Any]) -> Any:
    """Return what the value may stand for."""
    if isinstance(value, list) and len(value) == 1:
        value = value[0]
    if isinstance(value, str) and not _is_right(value, types, part):
        value = _unquote(value)
        if "string" not in types:
            value = _spelled_number(value, types)
    if isinstance(value, float) and value.is_integer() and types == {"integer"}:
        value = int(value)  # JSON Schema lets 12.0 pass for an integer
    return value


def _unquote(text: str) -> str:
    stripped = text.strip()
    quoted = len(stripped) > 1 and QUOTES.get(stripped[0]) == stripped[-1]
    return stripped[1:-1] if quoted else text


def _spelled_number(text: str, types: set[str]) -> Any:
    plain = text.strip().translate(_FULL_WIDTH)
    if types & {"integer", "number"} and _INTEGER.fullmatch(plain):
        return int(plain)
    if "number" in types and _NUMBER.fullmatch(plain):
        number = float(plain)
        return number if math.isfinite(number) else text
    return text


_PYTHON: Mapping[str, type | tuple[type, ...]] = {
    "string": str,
    "integer": int,
    "number": (int, float),
    "array": list,
    "object": dict,
    "null": type(None),
}


def _is_right(value: Any, types: set[str], part: Mapping[str, Any]) -> bool:
    if isinstance(value, str) and "enum" in part:
        return value in part["enum"]
    if isinstance(value, bool):  # an int to Python
        return "boolean" in types
    return any(isinstance(value, _PYTHON[kind]) for kind in types - {"boolean"})


def types_of(part: Any) -> set[str]:
    """Return the types that a property may have; empty when it does not say."""
    if not isinstance(part, Mapping):
        return set()
    if "anyOf" in part:
        each = [types_of(one) for one in part["anyOf"]]
        return set().union(*each) if all(each) else set()
    kind = part.get("type", [])
    return {kind} if isinstance(kind, str) else set(kind)
