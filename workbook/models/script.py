"""A model that says what it was told to say, and nothing else.

It makes every lesson exact: the same words in the same order, with stop sequences, a
context window and token usage as a real model has them.
"""

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Any, Self

from workbook.models.base import Completion, Message, OnText, ToolRequest, Usage
from workbook.models.prompts import (
    CHARS_PER_TOKEN,
    count_tokens,
    render_messages,
    shared_items,
    stop_sequences,
)
from workbook.models.script_turns import Answer, ScriptTurn, read_turn, read_turns


@dataclass(frozen=True, slots=True)
class Request:
    """What a model was asked: a text or messages, with OpenAI function schemas."""

    prompt: str | list[Message]
    stop: tuple[str, ...]
    tools: tuple[dict[str, Any], ...]


class ScriptExhausted(RuntimeError):  # noqa: N818 - what happened, not an error's name
    """The model was asked once more than its script has turns."""


class Script:
    r"""A model that plays a list of turns: a `TextModel` and a `ChatModel`.

    It answers each request with the next turn; after the last one it starts again
    (`loop`), repeats that one (`repeat_last`), or raises `ScriptExhausted`. It sees
    only the last `window_tokens` of a prompt. If a prompt ends with a prefill
    ("Thought:") with which the turn begins, it is not repeated, as with a real model.

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
        self.loop, self.repeat_last = loop, repeat_last
        self.at_once = not any(map(callable, self.turns))  # needs no time limit
        self.forget()

    def __repr__(self) -> str:
        return f"Script({[getattr(turn, 'text', turn) for turn in self.turns]!r})"

    def forget(self) -> None:
        """Go back to the first turn, with no request so far."""
        self._kept: list[tuple[int, Request]] = []  # what is shared, and what is new
        self._last: Any = ""  # the prompt or the messages of the last request

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
        cached = _size(prompt[: self._keep(prompt, stop, tools)])
        answer = self._play(prompt, stop, _size(prompt), cached)
        return _said(answer, max_tokens, on_text)

    def count(self, prompt: str | Sequence[Message]) -> int:
        """Return how many tokens it will read of a prompt or of messages."""
        size = count_tokens(prompt) if isinstance(prompt, str) else _size(prompt)
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
            usage = Usage(
                size,
                count_tokens(text) + sum(map(_tokens_of, answer.tool_requests)),
                cached,
            )
        return replace(answer, text=text, usage=usage)


def _said(answer: Completion, most: int | None, tell: OnText | None) -> Completion:
    """Send a turn token by token: up to its cap, or until it is stopped."""
    size = count_tokens(answer.text) + sum(map(_tokens_of, answer.tool_requests))
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
    ends = accumulate(map(_tokens_of, calls), initial=count_tokens(text))
    fitting = [end for end in ends if end <= tokens][1:]
    usage = replace(answer.usage, output=min(tokens, answer.usage.output))
    requests = calls[: len(fitting)]
    return Completion(text, usage, requests, reason, answer.timings)


def _size(messages: Sequence[Message]) -> int:
    return sum(count_tokens(render_messages([message])) for message in messages)


def _tokens_of(call: ToolRequest) -> int:
    return count_tokens(f"{call.name}{call.arguments}")


def cut_at_stop(text: str, stop: Sequence[str]) -> str:
    """Return `text` up to the first place where a stop sequence begins.

    >>> cut_at_stop("Action Input: 1\\nObservation: 2", ["\\nObservation:"])
    'Action Input: 1'
    """
    found = [text.find(sequence) for sequence in stop_sequences(stop)]
    return text[: min((at for at in found if at >= 0), default=len(text))]


def unsaid(prompt: str, turn: str) -> str:
    """Return a turn less the prefill that the prompt ends with: it is not said twice.

    >>> unsaid("Question: 2+2\\nThought:", "Thought: easy")
    ' easy'
    """
    prefill = prompt[prompt.rfind("\n") + 1 :]
    return turn.removeprefix(prefill) if prefill.endswith(":") else turn
