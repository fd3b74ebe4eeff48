"""A model that plays a list of turns, by position: request n of a run gets turn n.

It makes every lesson exact: the same words in the same order, with stop sequences, a
context window and token usage as a real model has them. So a run that is replayed,
resumed or changed gets the turns that it had, or would have.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .journal import shared_items
from .messages import Part, render_messages, shown
from .model import Model, Request, Response, ToolRequest, Usage

CHARS_PER_TOKEN = 4


def count_tokens(text: str) -> int:
    """Return how many tokens the script takes a text for: four characters each."""
    return -(-len(text) // CHARS_PER_TOKEN)


class ScriptExhausted(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """The model was asked once more than its script has turns."""


class Script(Model):
    """A model that plays turns; of a prompt it sees only the last `window_tokens`.

    After the last one it starts again (`loop`), repeats that one (`repeat_last`), or
    raises ScriptExhausted.
    """

    name = "scripted"
    streams = True

    def __init__(
        self,
        turns: Iterable[Any],
        *,
        window_tokens: int | None = None,
        loop: bool = False,
        repeat_last: bool = False,
    ) -> None:
        if isinstance(turns, (str, Mapping)):
            one = type(turns).__name__
            raise TypeError(f"a script is a list of turns, not one {one}")
        named = enumerate(turns, start=1)
        self.turns = [_read_turn(turn, f"turn {number}") for number, turn in named]
        self.window_tokens = window_tokens
        self.loop, self.repeat_last = loop, repeat_last
        self.at_once = not any(map(callable, self.turns))  # needs no time limit
        self.asked = 0  # requests, those that raised included
        self._parts: list[Part] = []  # of the last request
        self._texts: list[str] = []  # of these parts
        self._size = 0  # their tokens

    def __repr__(self) -> str:
        return f"Script({[getattr(turn, 'text', turn) for turn in self.turns]!r})"

    def respond(self, request: Request) -> Response:
        """Return the next turn, up to its cap, and until `on_text` returns True."""
        self.asked += 1
        cached = self._read(request)
        reply = self._turn((request.step or self.asked) - 1)
        if isinstance(reply, BaseException):
            raise reply.with_traceback(None)  # it may be raised again and again
        text = reply.text or ""
        prefill = "".join(self._texts[-1:]).rpartition("\n")[2]
        if not request.chat and prefill.endswith(":"):  # it is written once
            text = text.removeprefix(prefill)
        for sequence in request.stop:
            text = text.partition(sequence)[0]
        usage = reply.usage
        if not usage.input:  # not counted yet
            size = self._size
            if self.window_tokens is not None and size > self.window_tokens:
                size, cached = self.window_tokens, 0  # the window's start has moved
            usage = Usage(size, _size_of(text, reply.calls), cached)
        return _sent(replace(reply, text=text, usage=usage), request)

    def count(self, prompt: str | Sequence[Mapping[str, Any]]) -> int:
        """Return how many tokens it will read of a prompt or of messages."""
        text = prompt if isinstance(prompt, str) else render_messages(prompt)
        return min(count_tokens(text), self.window_tokens or len(text))

    def _read(self, request: Request) -> int:
        before, cached, chat = self._texts, self._size, request.chat
        is_same_run = request.parts is self._parts  # they have only grown
        if not is_same_run:
            self._parts, self._texts, self._size = request.parts, [], 0
        for part in self._parts[len(self._texts) :]:
            self._texts.append(shown(part, chat))
            self._size += count_tokens(self._texts[-1])
        if is_same_run:
            return cached
        if chat:
            shared = self._texts[: shared_items(before, self._texts)]
            return sum(map(count_tokens, shared))
        return shared_items("".join(before), "".join(self._texts)) // CHARS_PER_TOKEN

    def _turn(self, number: int) -> Any:
        size = len(self.turns)
        number = number % size if self.loop else number
        number = min(number, size - 1) if self.repeat_last else number
        if number >= size:
            raise ScriptExhausted(
                f"request {number + 1} has no turn left, of {size} in all. The prompt "
                f"ended with {''.join(self._texts)[-120:]!r}. Add a turn, or pass "
                "loop=True or repeat_last=True."
            )
        turn = self.turns[number]
        while callable(turn):
            text = "".join(self._texts)
            window = text[-(self.window_tokens or len(text)) * CHARS_PER_TOKEN :]
            turn = _read_turn(turn(window), "what the turn's function returned")
        return turn


def _sent(reply: Response, request: Request) -> Response:
    most, size = request.max_tokens, _size_of(reply.text, reply.calls)
    if most is not None and most < max(size, reply.usage.output):
        reply = _cut(reply, most, "length")
    if request.on_text is not None:
        for start in range(0, len(reply.text), CHARS_PER_TOKEN):
            if request.on_text(reply.text[start : start + CHARS_PER_TOKEN]):
                return _cut(reply, start // CHARS_PER_TOKEN + 1, "cancelled")
    return reply


def _cut(reply: Response, tokens: int, reason: str) -> Response:
    text, calls = reply.text[: tokens * CHARS_PER_TOKEN], [*reply.calls]
    while calls and _size_of(text, calls) > tokens:
        calls.pop()
    usage = replace(reply.usage, output=min(tokens, reply.usage.output))
    return Response(text, usage, calls, reason, {}, reply.timings)


def _size_of(text: str, calls: Sequence[ToolRequest]) -> int:
    sizes = [count_tokens(f"{call.name}{call.arguments}") for call in calls]
    return count_tokens(text) + sum(sizes)


def _read_turn(turn: Any, where: str) -> Any:
    match turn:
        case str():
            return Response(turn)
        case Response() | BaseException():
            return turn
        case ToolRequest():
            return Response(calls=[turn], finish="tool_calls")
        case [ToolRequest(), *rest] if all(isinstance(r, ToolRequest) for r in rest):
            return Response(calls=turn, finish="tool_calls")
    if callable(turn) and not isinstance(turn, type):
        return turn
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    raise TypeError(
        f"{where} is {shown}. A turn is a text, a Response, a ToolRequest or a list of"
        " them, an exception, or a function."
    )
