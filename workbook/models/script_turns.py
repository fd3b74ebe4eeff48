"""The turns of a script, in the shapes that tests, lessons and scenarios use."""

import builtins
import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from workbook.models.base import Completion, ToolRequest

ScriptTurn: TypeAlias = Any  # one of these shapes
SHAPES = (
    "a text, a Completion, a ToolRequest or a list of them, an exception, a function of"
    " the text in the window, or a table: text or calls (a list of name, arguments and"
    " id) or both; raises and message; or if_seen, then and else"
)

Answer: TypeAlias = Completion | BaseException | Callable[[str], ScriptTurn]
"""A turn that has been read; a function is asked when its turn has come."""


def read_turns(turns: Iterable[ScriptTurn]) -> list[Answer]:
    """Return the turns of a script, each checked, with `times` written out.

    TypeError: one text, or a turn of no such shape. ValueError: a wrong table.
    """
    if isinstance(turns, (str, Mapping)):
        raise TypeError(f"a script is a list of turns, not one {type(turns).__name__}")
    found: list[Answer] = []
    for number, turn in enumerate(turns, start=1):
        times = 1
        if isinstance(turn, Mapping):
            times = turn.get("times", 1)
            turn = {key: value for key, value in turn.items() if key != "times"}
        if type(times) is not int or times < 0:
            raise ValueError(f"turn {number}: times is {times!r}, not a count")
        found += [read_turn(turn, f"turn {number}")] * times
    return found


def read_turn(turn: ScriptTurn, where: str) -> Answer:
    """Return one turn, read and checked; `where` says which it is. Raises as above."""
    match turn:
        case str():
            return Completion(turn)
        case Completion() | BaseException():
            return turn
        case ToolRequest():
            return _asking([turn])
        case [ToolRequest(), *rest] if all(isinstance(r, ToolRequest) for r in rest):
            return _asking(turn)
        case Mapping():
            return _read_table(turn, where)
    if callable(turn) and not isinstance(turn, type):
        return turn  # type: ignore[no-any-return]
    raise TypeError(_misfit(turn, where))


def _read_table(turn: Mapping[str, Any], where: str) -> Answer:
    match turn:
        case {"text": str(text), **rest} if not rest:
            return Completion(text)
        case {"calls": [_, *_] as calls, **rest} if rest.keys() <= {"text"}:
            requests = [_read_call(call, where) for call in calls]
            return _asking(requests, rest.get("text", ""))
        case {"raises": str(name), **rest} if rest.keys() <= {"message"}:
            found = getattr(builtins, name, None)
            if isinstance(found, type) and issubclass(found, Exception):
                return found(rest.get("message", ""))
            raise ValueError(f"{name!r} is not a built-in exception")
        case {"if_seen": str(part), "then": then, "else": other, **rest} if not rest:
            read_turn(then, f"{where}, then")
            read_turn(other, f"{where}, else")
            return lambda seen: then if part in seen else other
    raise ValueError(_misfit(turn, where))


def _read_call(call: Any, where: str) -> ToolRequest:
    match call:
        case {"name": str(name), "arguments": dict(given), **rest}:
            if rest.keys() <= {"id"}:
                return ToolRequest(name, given, str(rest.get("id", "")))
    raise ValueError(_misfit(call, where))


def _asking(requests: Iterable[ToolRequest], text: str = "") -> Completion:
    return Completion(text, tool_requests=tuple(requests), finish_reason="tool_calls")


def _misfit(turn: Any, where: str) -> str:
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    return f"{where} is {shown}. A turn is {SHAPES}."
