"""What every model here answers with, and the two ways to ask.

A model continues a prompt (`complete`) or answers messages (`chat`). The engines know
these two protocols and nothing else: not LangChain, not HTTP, not llama.cpp.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypedDict, runtime_checkable

MAX_TOKENS = 512
"""What a model of ours may write in one turn, unless it is asked for otherwise."""


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
    finish_reason: str = "stop"  # or length (cut at the cap), tool_calls, …
    timings: dict[str, float] = field(default_factory=dict)  # llama.cpp: prompt_ms, …


class Message(TypedDict, total=False):
    """A chat message in the shape of OpenAI's API."""

    role: str  # system, user, assistant or tool
    content: str
    tool_calls: list[dict[str, Any]]  # assistant: {"id", "type", "function": {…}}
    tool_call_id: str  # tool: the call that it answers


@runtime_checkable
class TextModel(Protocol):
    """A model that continues a prompt; with `at_once = True` it needs no time limit."""

    name: str

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Return the continuation of `prompt`, cut before the first stop sequence."""


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
    ) -> Completion:
        """Return the next message; `tools` are OpenAI function schemas."""


class Prefilled:
    """A model that goes on from a cue, as `Thought:`; a small one would ask on."""

    def __init__(self, model: TextModel, cue: str) -> None:
        self.name, self.model, self.cue = model.name, model, cue

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask with the cue at the prompt's end; return the turn with the cue."""
        reply = self.model.complete(prompt + self.cue, stop=stop)
        return replace(reply, text=self.cue + reply.text)


class WithoutStop:
    """A model that is never told where to stop: what happens without stop words."""

    def __init__(self, model: TextModel) -> None:
        self.name, self.model = model.name, model

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask the model and leave out `stop`."""
        return self.model.complete(prompt)
