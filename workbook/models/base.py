"""What every model here answers with, and the two ways to ask.

A model continues a prompt (`complete`) or answers messages (`chat`). The engines know
these two protocols and nothing else: not LangChain, not HTTP, not llama.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, TypedDict, runtime_checkable

MAX_TOKENS = 512
"""What a model of ours may write in one turn, unless it is asked for otherwise."""

OnText: TypeAlias = Callable[[str], bool]
"""Gets each piece of a text as it is written; returns True to stop the model."""

Emit: TypeAlias = Callable[..., Any]
"""Takes a kind of trace event and its fields: `emit("tool_call", tool="Search", …)`."""


def ignore(kind: str, /, **fields: Any) -> None:
    """An `emit` that keeps nothing."""


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

    def to_dict(self) -> dict[str, int]:
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
    """A model that continues a prompt.

    A model may have three more attributes: `streams = True` says that it takes
    `max_tokens` and `on_text` (others are called without them), `at_once = True` that
    it needs no time limit, and `count(prompt)` returns how many tokens it will read.
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

        Args:
            prompt: the text that it continues.
            stop: texts at which it must end; they are not part of the answer.
            max_tokens: the most tokens to write; the reason is then `length`.
            on_text: gets each piece of the text. Once it returns True, the model
                stops, and the reason is `cancelled`; the usage is empty where the
                model has not reported it yet.
        """


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers messages and may ask for tools; attributes as above."""

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

        The other arguments are those of `complete`. A call that was cut is dropped.
        """


def streams(model: Any) -> bool:
    """Return whether a model says that it takes `max_tokens` and `on_text`."""
    return bool(getattr(model, "streams", False))


class Prefilled:
    """A model whose answer starts with a prefill, such as `Thought:`.

    A small model would otherwise continue with another question.
    """

    def __init__(self, model: TextModel, prefill: str) -> None:
        self.name, self.model, self.prefill = model.name, model, prefill
        self.streams = streams(model)
        if count := getattr(model, "count", None):
            self.count = lambda prompt: count(prompt + prefill)

    def complete(self, prompt: str, **options: Any) -> Completion:
        """Ask with the prefill at the prompt's end; return the turn with it."""
        if on_text := options.get("on_text"):
            on_text(self.prefill)
        reply = self.model.complete(prompt + self.prefill, **options)
        return replace(reply, text=self.prefill + reply.text)
