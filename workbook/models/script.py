"""A model that says what it was told to say, and nothing else.

It makes every lesson exact: the same words in the same order, with stop sequences, a
context window and token usage as a real model has them.
"""

import builtins
import copy
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Self, TypeAlias

from workbook.models.base import Completion, Message, OnText, ToolRequest, Usage
from workbook.models.prompts import (
    CHARS_PER_TOKEN,
    count_tokens,
    render_messages,
    shared_items,
    stop_sequences,
)

ScriptTurn: TypeAlias = Any  # one of these shapes
SHAPES = (
    "a text, a Completion, a ToolRequest or a list of them, an exception, a function of"
    " the text in the window, or a table: text or calls (a list of name, arguments and"
    " id) or both; raises and message; or if_seen, then and else"
)

Answer: TypeAlias = Completion | BaseException | Callable[[str], ScriptTurn]
"""A turn that has been read; a function is asked when its turn has come."""


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked: a text or messages, with OpenAI function schemas."""

    prompt: str | list[Message]
    stop: tuple[str, ...]
    tools: tuple[dict[str, Any], ...]


class ScriptExhausted(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """The model was asked once more than its script has turns."""


class Script:
    """A model that plays a list of turns: a `TextModel` and a `ChatModel`.

    It answers each request with the next turn; after the last one it starts again
    (`loop`), repeats that one (`repeat_last`), or raises `ScriptExhausted`. It sees
    only the last `window_tokens` of a prompt. If a prompt ends with the cue that a turn
    begins with ("Thought:"), the cue is not repeated, as with a real model.

    >>> script = Script(["Thought: easy\nObservation: 4", "Final Answer: 4"])
    >>> script.complete("Question: 2+2\n", stop=["\nObservation:"]).text
    'Thought: easy'
    """

    name = "scripted"
    streams = True

    def __init__(
        self,
        turns: Iterable[ScriptTurn],
        *,
        window_tokens: int | None = None,
        loop: bool = False,
        repeat_last: bool = False,
    ) -> None:
        self.turns, self.window_tokens = read_turns(turns), window_tokens
        if window_tokens is not None and window_tokens < 1:
            raise ValueError(f"a window has at least one token, not {window_tokens}")
        if loop and repeat_last:
            raise ValueError("a script starts again (loop) or repeats its last turn")
        if (loop or repeat_last) and not self.turns:
            raise ValueError("there is no turn to repeat: give at least one")
        self.loop, self.repeat_last = loop, repeat_last
        self.at_once = not any(map(callable, self.turns))  # needs no time limit
        self.forget()

    def __repr__(self) -> str:
        return f"Script({[getattr(turn, 'text', turn) for turn in self.turns]!r})"

    def forget(self) -> None:
        """Go back to the first turn, with no request so far."""
        self._kept: list[tuple[int, Request]] = []  # what is shared, and what is new
        self._last: Any = ""  # the prompt or the messages of the last request
        self._sizes: list[int] = []  # tokens of each of those messages

    def again(self) -> Self:
        """Return a script at its first turn; this one keeps its requests."""
        again = copy.copy(self)
        again.forget()
        return again

    def complete(
        self,
        prompt: str,
        *,
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the next turn, cut before the first stop sequence, or raise it."""
        shared = self._keep(prompt, stop, ()) // CHARS_PER_TOKEN
        answer = self._play(prompt, stop, count_tokens(prompt), shared)
        return _said(answer, max_tokens, on_text)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the next turn as an answer to messages."""
        prompt = list(messages)
        shared = self._keep(prompt, stop, tools)
        self._sizes[shared:] = _sizes(prompt[shared:])
        size, cached = sum(self._sizes), sum(self._sizes[:shared])
        return _said(self._play(prompt, stop, size, cached), max_tokens, on_text)

    def count(self, prompt: str | Sequence[Message]) -> int:
        """Return how many tokens it will read of a prompt or of messages."""
        if isinstance(prompt, str):
            size = count_tokens(prompt)
        else:
            known = shared_items(self._last or [], prompt)  # measured the last time
            size = sum([*self._sizes[:known], *_sizes(prompt[known:])])
        return min(size, self.window_tokens or size)

    @property
    def asked(self) -> int:
        """How many requests it has had, those that raised included."""
        return len(self._kept)

    @property
    def requests(self) -> list[Request]:
        """The requests, in order."""
        found: list[Request] = []
        prompt: Any = ""
        for shared, new in self._kept:
            prompt = prompt[:shared] + new.prompt if shared else new.prompt
            found.append(Request(prompt, new.stop, new.tools))
        return found

    def seen(self, prompt: str | list[Message]) -> str:
        """Return the text of a prompt or of messages that is left in the window."""
        text = prompt if isinstance(prompt, str) else render_messages(prompt)
        return text[-(self.window_tokens or len(text)) * CHARS_PER_TOKEN :]

    def _keep(self, prompt: Any, stop: Sequence[str], tools: Any) -> int:
        """Keep what is new in a request; return how much of the last one it repeats."""
        alike = type(prompt) is type(self._last)
        shared = shared_items(self._last, prompt) if alike else 0
        new = Request(prompt[shared:], stop_sequences(stop), tuple(tools))
        self._last = prompt
        self._kept.append((shared, new))
        return shared

    def _next_turn(self, prompt: str | list[Message]) -> Answer:
        number = len(self._kept) - 1
        if self.loop:
            number %= len(self.turns)
        if self.repeat_last:
            number = min(number, len(self.turns) - 1)
        if number < len(self.turns):
            return self.turns[number]
        tail = prompt if isinstance(prompt, str) else render_messages(prompt[-2:])
        raise ScriptExhausted(
            f"request {number + 1} has no turn left, of {len(self.turns)} in all. "
            f"The prompt ended with {tail[-120:]!r}. "
            "Add a turn, or pass loop=True or repeat_last=True."
        )

    def _play(
        self, prompt: str | list[Message], stop: Sequence[str], size: int, cached: int
    ) -> Completion:
        answer = self._next_turn(prompt)
        while callable(answer):
            turn = answer(self.seen(prompt))
            answer = read_turn(turn, "what the turn's function returned")
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)  # it may be raised again and again
        text = unsaid(prompt, answer.text) if isinstance(prompt, str) else answer.text
        text, usage = cut_at_stop(text, stop), answer.usage
        if usage == Usage():  # not counted yet
            if self.window_tokens is not None and size > self.window_tokens:
                size, cached = self.window_tokens, 0  # the window's start has moved
            usage = Usage(size, count_tokens(text) + _size(answer), cached)
        return replace(answer, text=text, usage=usage)


def _said(answer: Completion, most: int | None, tell: OnText | None) -> Completion:
    """Send a turn token by token: up to its cap, or until it is stopped."""
    size = count_tokens(answer.text) + _size(answer)
    if most is not None and most < max(size, answer.usage.output):
        answer = _cut(answer, most, "length")
    if tell is not None:
        for start in range(0, len(answer.text), CHARS_PER_TOKEN):
            if tell(answer.text[start : start + CHARS_PER_TOKEN]):
                return _cut(answer, start // CHARS_PER_TOKEN + 1, "cancelled")
    return answer


def _cut(answer: Completion, tokens: int, reason: str) -> Completion:
    """Return the first tokens of a turn; a call that is not whole is dropped."""
    text, calls = answer.text[: tokens * CHARS_PER_TOKEN], answer.tool_requests
    while (
        calls
        and count_tokens(text) + _size(replace(answer, tool_requests=calls)) > tokens
    ):
        calls = calls[:-1]
    usage = replace(answer.usage, output=min(tokens, answer.usage.output))
    return replace(
        answer, text=text, tool_requests=calls, usage=usage, finish_reason=reason
    )


def _sizes(messages: Sequence[Message]) -> list[int]:
    return [count_tokens(render_messages([message])) for message in messages]


def _size(answer: Completion) -> int:
    """Return the tokens of its calls, those that Python cannot write as none."""
    size = 0
    for call in answer.tool_requests:
        with suppress(RecursionError, ValueError):  # too deep, or too many digits
            size += count_tokens(f"{call.name}{call.arguments}")
    return size


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first place where a stop sequence begins.

    >>> cut_at_stop("Action Input: 1\\nObservation: 2", ["\\nObservation:"])
    'Action Input: 1'
    """
    found = [text.find(sequence) for sequence in stop_sequences(stop)]
    return text[: min((at for at in found if at >= 0), default=len(text))]


def unsaid(prompt: str, turn: str) -> str:
    """Return a turn less the cue that the prompt ends with: it is not said twice.

    >>> unsaid("Question: 2+2\\nThought:", "Thought: easy")
    ' easy'
    """
    cue = prompt[prompt.rfind("\n") + 1 :]
    return turn.removeprefix(cue) if cue.endswith(":") else turn


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
        case {"name": str(name), "arguments": dict(given), "id": str(id_)}:
            return ToolRequest(name, given, id_)
        case {"name": str(name), "arguments": dict(given), **rest} if not rest:
            return ToolRequest(name, given)
    raise ValueError(_misfit(call, where))


def _asking(requests: Iterable[ToolRequest], text: str = "") -> Completion:
    return Completion(text, tool_requests=tuple(requests), finish_reason="tool_calls")


def _misfit(turn: Any, where: str) -> str:
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    return f"{where} is {shown}. A turn is {SHAPES}."
