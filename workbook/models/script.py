"""A model that says what it was told to say, and nothing else.

It makes every lesson exact: the same words in the same order, with stop sequences, a
context window and token usage as a real model has them. It knows no LangChain; the
LangChain chat model around it is in `scripted_chat`.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, NoReturn, TypeAlias

from workbook.models.base import Completion, Message, ToolRequest, Usage
from workbook.models.prompts import (
    CHARS_PER_TOKEN,
    count_tokens,
    cut_at_stop,
    last_tokens,
    render_message,
    render_messages,
    shared_items,
    shared_prefix,
    stop_sequences,
)

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


ScriptTurn: TypeAlias = Any
"""One turn of a script: a text, a `Completion`, one or more `ToolRequest`s, an
`AIMessage`, an exception to raise, a function of the text that is still in the window,
or a table (see `workbook.models.script`)."""


NOT_COUNTED = Usage()


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked, and what its context window left of it.

    Args:
        prompt: the text, or the list of messages.
        stop: the stop sequences.
        tools: OpenAI function schemas.
        seen: the text that the model could still see.
    """

    prompt: str | list[Message]
    stop: tuple[str, ...]
    tools: tuple[dict[str, Any], ...]
    seen: str


class ScriptExhausted(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """The model was asked once more than its script has turns."""


class Script:
    """A model that plays a list of turns: a `TextModel` and a `ChatModel`.

    Args:
        turns: what it answers, one turn a request.
        window_tokens: it sees only the last so many tokens of what it is given.
        loop: start again after the last turn.
        repeat_last: say the last turn again and again.

    A call costs the same after ten and after ten thousand turns: of each request only
    what is new in it is kept, and `requests` puts them together again.

    >>> script = Script(["Thought: easy\\nObservation: 4", "Final Answer: 4"])
    >>> script.complete("Question: 2+2\\n", stop=["\\nObservation:"]).text
    'Thought: easy'
    >>> script.requests[0].prompt
    'Question: 2+2\\n'
    """

    def __init__(
        self,
        turns: Iterable[ScriptTurn],
        *,
        window_tokens: int | None = None,
        loop: bool = False,
        repeat_last: bool = False,
    ) -> None:
        self.name = "scripted"
        self.turns = expand(turns)
        self.window_tokens = window_tokens
        if window_tokens is not None and window_tokens < 1:
            raise ValueError(f"a window has at least one token, not {window_tokens}")
        if loop and repeat_last:
            raise ValueError("a script starts again (loop) or repeats its last turn")
        if (loop or repeat_last) and not self.turns:
            raise ValueError("there is no turn to repeat: give at least one")
        self.loop = loop
        self.repeat_last = repeat_last
        self._kept: list[_Kept] = []
        # The last prompt, as a copy that grows by what is new. With a reference to the
        # caller's own, that one could not grow in place: CPython would copy it.
        self._text = ""
        self._messages: list[Message] = []
        self._sizes: list[int] = []  # tokens up to and with each message

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Return the next turn, cut before the first stop sequence.

        Raises:
            ScriptExhausted: no turn is left.
            Exception: the turn is one to be raised.
        """
        kept = self._follow_text(prompt)
        self._remember(prompt[kept:], kept, stop, ())
        return self._play(prompt, stop, count_tokens(prompt), kept // CHARS_PER_TOKEN)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
    ) -> Completion:
        """Return the next turn as an answer to messages. Raises as `complete` does."""
        prompt = messages if isinstance(messages, list) else list(messages)
        kept = self._follow_messages(prompt)
        del self._sizes[kept:]
        total = cached = self._sizes[-1] if kept else 0
        for message in prompt[kept:]:
            total += count_tokens(render_message(message))
            self._sizes.append(total)
        self._remember(prompt[kept:], kept, stop, tools)
        return self._play(prompt, stop, total, cached)

    @property
    def asked(self) -> int:
        """How many requests it has had, the refused ones with them."""
        return len(self._kept)

    @property
    def requests(self) -> list[Request]:
        """What it was asked, in order."""
        found: list[Request] = []
        prompt: str | list[Message] = ""
        for kept in self._kept:
            prompt = kept.new if not kept.shared else prompt[: kept.shared] + kept.new  # type: ignore[operator]
            found.append(Request(prompt, kept.stop, kept.tools, self._window(prompt)))
        return found

    @property
    def seen(self) -> list[str]:
        """What its window left of each request."""
        return [request.seen for request in self.requests]

    def _follow_text(self, prompt: str) -> int:
        """Note the text, and return how much of it the last prompt had."""
        shared = shared_prefix(self._text, prompt)
        text, self._text = self._text[:shared], ""  # one reference: it grows in place
        text += prompt[shared:]
        self._text, self._messages = text, []
        return shared

    def _follow_messages(self, prompt: list[Message]) -> int:
        """Note the messages, and return how many of them the last prompt had."""
        before = shared = len(self._messages)
        self._messages += prompt[before:]
        if self._messages != prompt:  # it is more than the last one with something new
            del self._messages[before:]
            shared = shared_items(self._messages, prompt)
            self._messages[shared:] = prompt[shared:]
        self._text = ""
        return shared

    def _remember(
        self,
        new: str | list[Message],
        shared: int,
        stop: Sequence[str],
        tools: Sequence[dict[str, Any]],
    ) -> None:
        self._kept.append(_Kept(new, shared, stop_sequences(stop), tuple(tools)))

    def _window(self, prompt: str | list[Message]) -> str:
        text = prompt if isinstance(prompt, str) else render_messages(prompt)
        return last_tokens(text, self.window_tokens)

    def _next_turn(self, prompt: str | list[Message]) -> ScriptTurn:
        number = len(self._kept) - 1
        if number < len(self.turns):
            return self.turns[number]
        if self.loop:
            return self.turns[number % len(self.turns)]
        if self.repeat_last:
            return self.turns[-1]
        tail = prompt if isinstance(prompt, str) else render_messages(prompt[-2:])
        turns = f"{len(self.turns)} turn{'' if len(self.turns) == 1 else 's'}"
        raise ScriptExhausted(
            f"request {number + 1} has no turn left: the script has {turns}. "
            f"The prompt ended with {tail[-120:]!r}. "
            "Add a turn, or pass loop=True or repeat_last=True."
        )

    def _play(
        self, prompt: str | list[Message], stop: Sequence[str], size: int, cached: int
    ) -> Completion:
        turn = self._next_turn(prompt)
        answer = as_completion(turn, partial(self._window, prompt))
        text, usage = cut_at_stop(answer.text, stop), answer.usage
        if usage == NOT_COUNTED:
            if self.window_tokens is not None and size > self.window_tokens:
                size, cached = self.window_tokens, 0  # the window's start has moved
            usage = Usage(size, _output_tokens(text, answer.tool_requests), cached)
        return Completion(
            text, usage, answer.tool_requests, answer.finish_reason, answer.timings
        )


class _Kept(NamedTuple):
    """A request, less what it shares with the one before it."""

    new: str | list[Message]
    shared: int
    stop: tuple[str, ...]
    tools: tuple[dict[str, Any], ...]


def _output_tokens(text: str, calls: Sequence[ToolRequest]) -> int:
    written = sum(count_tokens(f"{call.name}{call.arguments}") for call in calls)
    return count_tokens(text) + written
