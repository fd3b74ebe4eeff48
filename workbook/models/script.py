"""A model that says what it was told to say, and nothing else.

It makes every lesson exact: the same words in the same order, with stop sequences, a
context window and token usage as a real model has them. It knows no LangChain; the
LangChain chat model around it is in `langchain.py`.
"""

from __future__ import annotations

import builtins
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

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
    unsaid,
)

ScriptTurn: TypeAlias = Any
"""One turn of a script: a text, a `Completion`, one or more `ToolRequest`s, an
exception to raise, a function of the text that is still in the window, or a table, as
a scenario file has it: `{text}`, `{raises, message}` or `{if_seen, then, else}`, each
with `times` where it is said more than once."""

Answer: TypeAlias = Completion | BaseException | Callable[[str], ScriptTurn]
"""A turn that has been read; a function is asked when its turn has come."""

SHAPES = (
    "a text, a Completion, a ToolRequest or a list of them, an exception, a function of"
    " the text in the window, or a table: text; raises and message; or if_seen, then"
    " and else"
)


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

    Where a prompt ends with the cue that a turn begins with ("Thought:"), the model
    goes on behind it, as a real one does.

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
        self.turns = read_turns(turns)
        self.window_tokens = window_tokens
        if window_tokens is not None and window_tokens < 1:
            raise ValueError(f"a window has at least one token, not {window_tokens}")
        if loop and repeat_last:
            raise ValueError("a script starts again (loop) or repeats its last turn")
        if (loop or repeat_last) and not self.turns:
            raise ValueError("there is no turn to repeat: give at least one")
        self.loop = loop
        self.repeat_last = repeat_last
        # Of each request what is new in it, and how much it shares with the one before:
        # ten thousand whole prompts would fill the memory.
        self._kept: list[tuple[int, Request]] = []
        self._text = ""  # the last prompt
        self._messages: list[Message] = []  # or the last messages
        self._sizes: list[int] = []  # tokens of each of them

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Return the next turn, cut before the first stop sequence.

        Raises:
            ScriptExhausted: no turn is left.
            Exception: the turn is one to be raised.
        """
        shared = shared_prefix(self._text, prompt)
        self._text, self._messages = prompt, []
        new = Request(prompt[shared:], stop_sequences(stop), (), seen="")
        self._kept.append((shared, new))
        return self._play(prompt, stop, count_tokens(prompt), shared // CHARS_PER_TOKEN)

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
    ) -> Completion:
        """Return the next turn as an answer to messages. Raises as `complete` does."""
        prompt = list(messages)
        shared = shared_items(self._messages, prompt)
        self._text, self._messages = "", prompt
        fresh = prompt[shared:]
        new = Request(fresh, stop_sequences(stop), tuple(tools), seen="")
        self._kept.append((shared, new))
        self._sizes[shared:] = [count_tokens(render_message(one)) for one in fresh]
        return self._play(prompt, stop, sum(self._sizes), sum(self._sizes[:shared]))

    @property
    def asked(self) -> int:
        """How many requests it has had, the refused ones with them."""
        return len(self._kept)

    @property
    def requests(self) -> list[Request]:
        """What it was asked, in order."""
        found: list[Request] = []
        prompt: Any = ""
        for shared, new in self._kept:
            prompt = prompt[:shared] + new.prompt if shared else new.prompt
            found.append(Request(prompt, new.stop, new.tools, self._window(prompt)))
        return found

    @property
    def seen(self) -> list[str]:
        """What its window left of each request."""
        return [request.seen for request in self.requests]

    def _window(self, prompt: str | list[Message]) -> str:
        text = prompt if isinstance(prompt, str) else render_messages(prompt)
        return last_tokens(text, self.window_tokens)

    def _next_turn(self, prompt: str | list[Message]) -> Answer:
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
        answer = self._next_turn(prompt)
        while callable(answer):
            turn = answer(self._window(prompt))
            answer = read_turn(turn, "what the turn's function returned")
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)  # it may be raised again and again
        text = unsaid(prompt, answer.text) if isinstance(prompt, str) else answer.text
        text, usage = cut_at_stop(text, stop), answer.usage
        if usage == Usage():  # not counted yet
            if self.window_tokens is not None and size > self.window_tokens:
                size, cached = self.window_tokens, 0  # the window's start has moved
            calls = (f"{call.name}{call.arguments}" for call in answer.tool_requests)
            written = sum(map(count_tokens, (text, *calls)))
            usage = Usage(size, written, cached)
        return Completion(
            text, usage, answer.tool_requests, answer.finish_reason, answer.timings
        )


def read_turns(turns: Iterable[ScriptTurn]) -> list[Answer]:
    """Return the turns of a script, each checked, with `times` written out.

    Raises:
        TypeError: `turns` is one text, or a turn is none of the shapes.
        ValueError: a table has a key that no turn has, or names no exception.
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
            return _calls(turn)
        case [ToolRequest(), *rest] if all(isinstance(r, ToolRequest) for r in rest):
            return _calls(*turn)
        case Mapping():
            return _read_table(turn, where)
    if callable(turn) and not isinstance(turn, type):
        return turn  # type: ignore[no-any-return]
    raise TypeError(_misfit(turn, where))


def _read_table(turn: Mapping[str, Any], where: str) -> Answer:
    keys = set(turn)
    if keys == {"text"}:
        return read_turn(turn["text"], where)
    if "raises" in keys and keys <= {"raises", "message"}:
        return _exception(turn["raises"])(turn.get("message", ""))
    if keys == {"if_seen", "then", "else"}:
        for branch in ("then", "else"):
            read_turn(turn[branch], f"{where}, {branch}")
        return lambda seen: turn["then" if turn["if_seen"] in seen else "else"]
    raise ValueError(_misfit(turn, where))


def _calls(*requests: ToolRequest) -> Completion:
    return Completion("", tool_requests=requests, finish_reason="tool_calls")


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


def _misfit(turn: Any, where: str) -> str:
    shown = json.dumps(turn, default=repr, ensure_ascii=False)[:120]
    return f"{where} is {shown}. A turn is {SHAPES}."
