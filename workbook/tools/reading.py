"""The text after `Action Input:`, read as arguments.

A text turn carries one string, a tool takes a JSON object. What models write between
the two is known: JSON, JSON in a code fence, a Python dict, or the bare value. This
module knows schemas, but no tool.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Mapping
from typing import Any

from workbook.tools.repair import types_of

NOTHING = {"", "none", "null", "()", "n/a"}
"""What models write when a tool takes no arguments."""

_FENCE = re.compile(r"```[a-zA-Z]*\n?(.*?)```", re.DOTALL)
_LIKE_JSON = re.compile(r"\{\s*[\"'“]")


class UnreadableInput(ValueError):  # noqa: N818 - what happened, in words for the model
    """Text that cannot be read as arguments."""


def read_arguments(
    schema: Mapping[str, Any], text: str
) -> tuple[dict[str, Any], list[str]]:
    """Return the arguments that stand in the text after `Action Input:`, and notes.

    A JSON object is the arguments. Anything else is the value of the only parameter:
    as it stands when that is a string, read as JSON otherwise.

    Args:
        schema: JSON Schema of an object.
        text: what the model wrote.

    Raises:
        UnreadableInput: there is no way to read it; says what to write.
    """
    notes: list[str] = []
    text = text.strip()
    if fenced := _FENCE.fullmatch(text):
        text = fenced.group(1).strip()
        notes.append("write the input without a code fence")
    if text.startswith("{"):
        value = _read_object(schema, text, notes)
        if value is not None:
            return value, notes
    name = only_parameter(schema)
    if name is not None:
        return {name: _read_value(schema["properties"][name], text)}, notes
    if not schema["properties"] and text.casefold() in NOTHING:
        return {}, notes
    raise UnreadableInput(f"the input is not a JSON object like {_example(schema)}")


def only_parameter(schema: Mapping[str, Any]) -> str | None:
    """Return the name of the one argument that a bare text can mean, if there is one.

    That is the only property, or else the only required one.
    """
    for names in (list(schema.get("properties", {})), list(schema.get("required", ()))):
        if len(names) == 1:
            return str(names[0])
    return None


def _read_object(
    schema: Mapping[str, Any], text: str, notes: list[str]
) -> dict[str, Any] | None:
    """Return the object, or None when the text is not meant as one."""
    try:
        value = _loads(text)
    except UnreadableInput:
        raise
    except (ValueError, RecursionError) as error:
        value = _python_literal(text)
        if value is not None:
            notes.append("JSON has double quotes, true, false and null")
        elif _LIKE_JSON.match(text) or only_parameter(schema) is None:
            reason = getattr(error, "msg", None) or "too deep or too long"
            raise UnreadableInput(
                f"the input is not JSON ({reason}); write it like {_example(schema)}"
            ) from None
    return value if isinstance(value, dict) else None


def _read_value(part: Mapping[str, Any], text: str) -> Any:
    types = types_of(part)
    if not types or "string" in types:
        return text
    for candidate in (text, f"[{text}]"):  # "1, 2, 3" are several values
        try:
            value = _loads(candidate)
        except (ValueError, RecursionError):
            continue
        return value
    return text


def _loads(text: str) -> Any:
    return json.loads(text, object_pairs_hook=_once_each, parse_constant=_refuse)


def _once_each(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Python would keep the last of two values in silence."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise UnreadableInput(f"{twice} is given twice: call once per value")
    return found


def _refuse(constant: str) -> Any:
    raise UnreadableInput(f"{constant} is not a number in JSON")


def _python_literal(text: str) -> dict[str, Any] | None:
    """Read a dict as Python writes it, which many models do, as JSON would have it."""
    if len(text) > 10_000:
        return None
    try:
        tree = ast.parse(text, mode="eval").body
        value = ast.literal_eval(tree)
        plain = json.loads(json.dumps(value, allow_nan=False))
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        return None
    for part in ast.walk(tree):
        if isinstance(part, ast.Dict):
            _once_each([(str(ast.literal_eval(key)), 0) for key in part.keys if key])
    return dict(plain)


def _example(schema: Mapping[str, Any]) -> str:
    """Return arguments of the right shape, as a model should write them."""
    samples = {"string": "…", "integer": 1, "number": 1.5, "boolean": True, "array": []}
    shown = {}
    for name, part in schema["properties"].items():
        kind = next(iter(sorted(types_of(part))), "string")
        shown[name] = part["enum"][0] if "enum" in part else samples.get(kind)
    return json.dumps(shown, ensure_ascii=False)
