"""What may stand in a script, and how it becomes an answer.

A turn is a value. Those that a scenario file can hold are tables:

    {"text": "Thought: …"}                          what the model writes
    {"text": "…", "calls": [{"name": "…", "arguments": {…}, "id": "…"}]}
    {"if_seen": "words", "then": …, "else": …}      only while the words are in sight
    {"raises": "ConnectionError", "message": "…"}   a built-in exception

Any of them may have `times`: that many turns, one after the other.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any, NoReturn

from workbook.models.base import Completion, ToolRequest, Usage

SHAPES = (
    "a text, a Completion, a ToolRequest or a list of them, an AIMessage, an exception,"
    " a function of the text in the window, or a table with text, calls, if_seen or"
    " raises"
)

UNREADABLE = "unreadable"
"""The one argument of a call whose arguments were no JSON: the text itself."""


def expand(turns: Iterable[Any]) -> list[Any]:
    """Return the turns with `times` written out, each checked.

    Raises:
        TypeError: `turns` is one text, or a turn is none of the shapes.
        ValueError: a table has a key that no turn has, or names no exception.
    """
    if isinstance(turns, (str, Mapping)):
        raise TypeError(f"a script is a list of turns, not one {type(turns).__name__}")
    found: list[Any] = []
    for number, turn in enumerate(turns, start=1):
        times = 1
        if isinstance(turn, Mapping):
            turn = dict(turn)
            times = turn.pop("times", 1)
            if type(times) is not int or times < 0:
                raise ValueError(f"turn {number}: times is {times!r}, not a count")
            if set(turn) == {"text"}:
                turn = turn["text"]
        _check(turn, f"turn {number}")
        found.extend([turn] * times)
    return found


def as_completion(turn: Any, seen: Callable[[], str]) -> Completion:
    """Return what the model answers for `turn`, or raise what it is to raise.

    Args:
        turn: one of the shapes above.
        seen: gives the text that is still in the window; called only where needed.
    """
    match turn:
        case str():
            return Completion(turn)
        case Completion():
            return turn
        case ToolRequest():
            return _calls(turn)
        case list() | tuple():
            return _calls(*turn)
        case BaseException():
            raise turn.with_traceback(None)  # it may be raised again and again
        case type():
            raise turn()
        case Mapping():
            return _from_table(turn, seen)
    if callable(turn):
        answer = turn(seen())
        _check(answer, "what the turn's function returned")
        return as_completion(answer, seen)
    return from_message(turn)


def from_message(message: Any) -> Completion:
    """Return a LangChain `AIMessage` as a `Completion`; LangChain is not imported."""
    usage = _usage(getattr(message, "usage_metadata", None))
    requests = tuple(
        ToolRequest(call["name"], dict(call["args"]), call["id"] or f"call_{number}")
        for number, call in enumerate(getattr(message, "tool_calls", ()), start=1)
    )
    requests += tuple(
        ToolRequest(call["name"] or "", {UNREADABLE: call["args"]}, call["id"] or "")
        for call in getattr(message, "invalid_tool_calls", ())
    )
    metadata = getattr(message, "response_metadata", None) or {}
    reason = metadata.get("finish_reason") or ("tool_calls" if requests else "stop")
    return Completion(text_of(message.content), usage, requests, reason)


def text_of(content: Any) -> str:
    """Return the text of a message's content: a string, or a list of blocks."""
    if isinstance(content, str):
        return content
    parts = (p if isinstance(p, str) else p.get("text", "") for p in content or ())
    return "".join(parts)


def _usage(metadata: Mapping[str, Any] | None) -> Usage:
    if not metadata:
        return Usage()
    details = metadata.get("input_token_details") or {}
    return Usage(
        metadata.get("input_tokens") or 0,
        metadata.get("output_tokens") or 0,
        details.get("cache_read") or 0,
    )


def _calls(*requests: ToolRequest, text: str = "") -> Completion:
    return Completion(text, tool_requests=requests, finish_reason="tool_calls")


def _from_table(turn: Mapping[str, Any], seen: Callable[[], str]) -> Completion:
    if "if_seen" in turn:
        chosen = "then" if turn["if_seen"] in seen() else "else"
        return as_completion(turn[chosen], seen)
    if "raises" in turn:
        raise _exception(turn["raises"])(turn.get("message", ""))
    requests = [
        ToolRequest(
            call["name"], dict(call.get("arguments", {})), call.get("id", f"call_{n}")
        )
        for n, call in enumerate(turn.get("calls", ()), start=1)
    ]
    text = turn.get("text", "")
    return _calls(*requests, text=text) if requests else Completion(text)


KEYS = ({"text", "calls"}, {"if_seen", "then", "else"}, {"raises", "message"})


def _check(turn: Any, where: str) -> None:
    if isinstance(turn, Mapping):
        if not turn or not any(set(turn) <= keys for keys in KEYS):
            _refuse(where, turn, ValueError)
        if "if_seen" in turn:
            if len(turn) < 3:
                raise ValueError(f"{where}: if_seen needs both then and else")
            _check(turn["then"], f"{where}, then")
            _check(turn["else"], f"{where}, else")
        if "message" in turn and "raises" not in turn:
            _refuse(where, turn, ValueError)
        if "raises" in turn:
            _exception(turn["raises"])
        for call in turn.get("calls", ()):
            if not isinstance(call, Mapping) or "name" not in call:
                raise ValueError(f"{where}: the call {call!r} has no name")
    elif isinstance(turn, (list, tuple)):
        if not turn or not all(isinstance(item, ToolRequest) for item in turn):
            _refuse(where, turn, TypeError)
    elif isinstance(turn, type):
        if not issubclass(turn, BaseException):
            _refuse(where, turn, TypeError)
    elif not (
        isinstance(turn, (str, Completion, ToolRequest, BaseException))
        or callable(turn)
        or hasattr(turn, "content")
    ):
        _refuse(where, turn, TypeError)


def _refuse(where: str, turn: Any, error: type[Exception]) -> NoReturn:
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    raise error(f"{where} is {shown}. A turn is {SHAPES}.")


def _exception(name: str) -> type[Exception]:
    found = getattr(builtins, name, None)
    if isinstance(found, type) and issubclass(found, Exception):
        with suppress(TypeError):  # a few want more than a message
            found("")
            return found
    raise ValueError(
        f"{name!r} is not a built-in exception with a message: write for instance"
        " ConnectionError, TimeoutError, PermissionError or RuntimeError"
    )
