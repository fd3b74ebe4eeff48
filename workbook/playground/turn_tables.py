"""The turns of a scenario's file: tables, read into what a `Script` plays."""

import builtins
import json
from collections.abc import Iterable, Mapping
from typing import Any

from workbook.runtime.model import Response, ToolRequest

SHAPES = (
    "a text, a Response, a ToolRequest or a list of them, an exception, a function of"
    " the text in the window, or a table: text or calls (a list of name, arguments and"
    " id) or both; raises and message; or if_seen, then and else"
)


def read_turns(tables: Iterable[Any]) -> list[Any]:
    """Return the turns, each `times` times, a text with its number in place of `{n}`.

    ValueError: a turn that is none, with its number.
    """
    turns: list[Any] = []
    for number, table in enumerate(tables, start=1):
        times, where = 1, f"turn {number}"
        if isinstance(table, Mapping):
            times = table.get("times", 1)
            table = {key: table[key] for key in table if key != "times"}
        if type(times) is not int or times < 0:
            raise ValueError(f"{where}: times is {times!r}, not a count")
        turn = read_turn(table, where)
        for n in range(1, times + 1):
            is_text = isinstance(turn, str)
            turns.append(turn.replace("{n}", str(n)) if is_text else turn)
    return turns


def read_turn(turn: Any, where: str) -> Any:
    """Return one turn; `where` says which it is."""
    match turn:
        case str():
            return turn
        case {"text": str(text), **rest} if not rest:
            return text
        case {"calls": [_, *_] as calls, **rest} if rest.keys() <= {"text"}:
            requests = [_read_call(call, where) for call in calls]
            text = str(rest.get("text", ""))
            return Response(text, calls=requests, finish="tool_calls")
        case {"raises": str(name), **rest} if rest.keys() <= {"message"}:
            return exception(name, str(rest.get("message", "")))
        case {"if_seen": str(part), "then": then, "else": other, **rest} if not rest:
            seen_turn = read_turn(then, f"{where}, then")
            other_turn = read_turn(other, f"{where}, else")
            return lambda seen: seen_turn if part in seen else other_turn
    raise ValueError(_misfit(turn, where))


def exception(name: str, message: str = "") -> Exception:
    """Return a built-in exception; ValueError: there is none of that name."""
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        return found(message)
    raise ValueError(f"{name!r} is not a built-in exception")


def _read_call(call: Any, where: str) -> ToolRequest:
    match call:
        case {"name": str(name), "arguments": dict(given), **rest}:
            if rest.keys() <= {"id"}:
                return ToolRequest(name, given, str(rest.get("id", "")))
    raise ValueError(_misfit(call, where))


def _misfit(turn: Any, where: str) -> str:
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    return f"{where} is {shown}. A turn is {SHAPES}."
