"""What every model here answers with, and the two ways to ask.

A model continues a prompt (`complete`) or answers messages (`chat`). The engines know
these two protocols and nothing else: not LangChain, not HTTP, not llama.cpp.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypedDict, runtime_checkable

MAX_TOKENS = 512
"""What a model of ours may write in one turn, unless it is asked for otherwise."""

OnText: TypeAlias = Callable[[str], bool]
"""Told each piece of a text as it is written; True means: stop."""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one call cost."""

    input: int = 0  # the whole prompt
    output: int = 0
    cached: int = 0  # the part of the prompt that the server did not read again

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input + other.input,
            self.output + other.output,
            self.cached + other.cached,
        )

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(-other.input, -other.output, -other.cached)

    @property
    def holds(self) -> bool:
        """Whether a model can have counted so: not less than nothing, and a prompt."""
        numbers = (self.input, self.output, self.cached)
        whole = all(type(n) is int and n >= 0 for n in numbers)
        return whole and 0 < self.input >= self.cached

    def as_data(self) -> dict[str, int]:
        """Return the counts as a trace shows them."""
        return {"input": self.input, "output": self.output, "cached": self.cached}


@dataclass(frozen=True, slots=True)
class ToolRequest:
    """One function call that a model asks for in a message, not yet checked."""

    name: str
    arguments: dict[str, Any]
    call_id: str = ""  # where the model gave none, whoever runs the call makes one


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model answered; `text` is empty when it only asked for tools."""

    text: str
    usage: Usage = Usage()
    tool_requests: tuple[ToolRequest, ...] = ()
    finish_reason: str = "stop"  # or length (at the cap), tool_calls, cancelled, …
    timings: dict[str, float] = field(default_factory=dict)  # llama.cpp: prompt_ms, …
    estimated: bool = False  # the usage, by us


class Message(TypedDict, total=False):
    """A chat message in the shape of OpenAI's API."""

    role: str  # system, user, assistant or tool
    content: str
    tool_calls: list[dict[str, Any]]  # assistant: {"id", "type", "function": {…}}
    tool_call_id: str  # tool: the call that it answers


@runtime_checkable
class TextModel(Protocol):
    """A model that continues a prompt; with `at_once = True` it needs no time limit.

    A model that has a method `count(prompt)` can say how many tokens it will read.
    """

    name: str

    def complete(
        self,
        prompt: str,
        *,
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the continuation of `prompt`, cut before the first stop sequence.

        A model may do without the last two: ask `takes`, and leave out what is None.

        Args:
            prompt: what it continues.
            stop: where it must not go on; not part of the text.
            max_tokens: cut there at the latest; the reason is then `length`.
            on_text: told each piece of the text as it is written. Once it returns
                True, what was written so far is returned, and the reason is
                `cancelled`; the usage is empty where the model has not said it.
        """


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers messages and may ask for tools."""

    name: str

    def chat(
        self,
        messages: Sequence[Message],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
        max_tokens: int | None = None,
        on_text: OnText | None = None,
    ) -> Completion:
        """Return the next message; `tools` are OpenAI function schemas.

        The other arguments are those of `complete`. A call that was cut is no call.
        """


def takes(ask: Callable[..., Any], option: str) -> bool:
    """Return whether a model's `complete` or `chat` takes `max_tokens` or `on_text`.

    A model that wraps another hands on what it does not name: then the other is asked.
    """
    named = inspect.signature(ask).parameters
    if option in named:
        return True
    hands_on = any(p.kind is p.VAR_KEYWORD for p in named.values())
    wrapper, name = getattr(ask, "__self__", None), getattr(ask, "__name__", "")
    wrapped = getattr(wrapper, "models", [getattr(wrapper, "model", None)])
    inner = [getattr(model, name.lstrip("_"), None) for model in wrapped]
    return hands_on and all(each is None or takes(each, option) for each in inner)


def streams(model: TextModel | ChatModel) -> bool:
    """Return whether a model takes `on_text`, in each of the ways to ask it."""
    ways = [getattr(model, way, None) for way in ("complete", "chat")]
    return all(takes(way, "on_text") for way in ways if way is not None)


class Prefilled:
    """A model that goes on from a cue, as `Thought:`; a small one would ask on."""

    def __init__(self, model: TextModel, cue: str) -> None:
        self.name, self.model, self.cue = model.name, model, cue
        if count := getattr(model, "count", None):
            self.count = lambda prompt: count(prompt + cue)

    def complete(self, prompt: str, **options: Any) -> Completion:
        """Ask with the cue at the prompt's end; return the turn with the cue."""
        if on_text := options.get("on_text"):
            on_text(self.cue)
        reply = self.model.complete(prompt + self.cue, **options)
        return replace(reply, text=self.cue + reply.text)


class WithoutStop:
    """A model that is never told where to stop: what happens without stop words."""

    def __init__(self, model: TextModel) -> None:
        self.name, self.model = model.name, model

    def complete(self, prompt: str, **options: Any) -> Completion:
        """Ask the model and leave out `stop`."""
        options.pop("stop", None)
        return self.model.complete(prompt, **options)
