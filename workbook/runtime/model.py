"""What a model is asked, and what it answers: one method, `respond`.

Three models have it: `script.Script`, `hosted.HostedModel`, `local.LocalTextModel`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self

from .messages import CUT, Part, as_chat, as_text, part_of


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that one call cost."""

    input: int = 0
    output: int = 0
    cached: int = 0  # the part of the input that was not read again

    def __add__(self, other: Self) -> "Usage":
        """Return the tokens of both."""
        cached = self.cached + other.cached
        return Usage(self.input + other.input, self.output + other.output, cached)

    @property
    def holds(self) -> bool:
        """Whether a model can have counted so: not less than nothing, and a prompt."""
        types = {type(self.input), type(self.output), type(self.cached)}
        return types == {int} and self.output >= 0 <= self.cached <= self.input > 0

    def to_dict(self) -> dict[str, int]:
        """Return the counts as a trace shows them."""
        return {"input": self.input, "output": self.output, "cached": self.cached}


class ToolRequest(NamedTuple):
    """A function call as a model asked for it, not checked: any field may be odd."""

    name: Any
    arguments: Any
    call_id: Any = ""  # where the model gave none, the runtime makes one
    extra: Mapping[str, Any] = {}  # goes back to the model as it came

    def fields(self) -> dict[str, Any]:
        """Return it as a trace has it."""
        extra = {"extra": dict(self.extra)} if self.extra else {}
        return {n: getattr(self, n) for n in ("name", "arguments", "call_id")} | extra


@dataclass(frozen=True, slots=True)
class Response:
    """What a model answered; `text` is empty when it only asked for tools."""

    text: str = ""
    usage: Usage = Usage()  # none: the model does not report it
    calls: Sequence[ToolRequest] = ()
    finish: str = "stop"  # or length (at the cap), tool_calls, cancelled, error
    extra: Mapping[str, Any] = field(default_factory=dict)  # goes back as it came
    timings: Mapping[str, float] = field(default_factory=dict)  # llama.cpp's

    def fields(self) -> dict[str, Any]:
        """Return the fields of a `model_turn` in a trace."""
        used = self.usage.to_dict() if self.usage.holds else None
        fields: dict[str, Any] = {"text": self.text or "", "usage": used}
        if self.calls:
            fields["calls"] = [call.fields() for call in self.calls]
        if self.finish in CUT:
            fields["finish"] = self.finish
        if self.extra:
            fields["extra"] = dict(self.extra)
        return fields


class Request(NamedTuple):
    """What `model.respond` is given: the whole conversation, and how it may answer."""

    parts: list[Part]
    tools: Sequence[dict[str, Any]] = ()  # schemas, for a model that calls functions
    stop: tuple[str, ...] = ()
    step: int | None = None  # the number of this request in its run, from 1
    max_tokens: int | None = None
    on_text: Callable[[str], bool] | None = None  # gets the pieces; True: write no more
    chat: bool = False  # a HostedModel is asked with messages; otherwise with the text

    @property
    def text(self) -> str:
        """The conversation as one prompt."""
        return as_text(self.parts)

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The conversation as messages."""
        return as_chat(self.parts)


class Model:
    """What answers requests; a model of yours has `respond` alone.

    One that has `count(text)` says how many tokens it reads.
    """

    name = "model"
    streams = False  # whether it keeps to `max_tokens` and calls `on_text`
    at_once = False  # whether it never hangs

    def respond(self, request: Request) -> Response:
        """Return the model's next turn."""
        raise NotImplementedError

    def complete(
        self, prompt: str, *, stop: Sequence[str] = (), **options: Any
    ) -> Response:
        """Return the continuation of a prompt; options are fields of `Request`."""
        parts = [{"role": "system", "text": prompt}]
        return self.respond(Request(parts, (), stop_sequences(stop), **options))

    def chat(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        tools: Sequence[dict[str, Any]] = (),
        stop: Sequence[str] = (),
        **options: Any,
    ) -> Response:
        """Return the answer to messages in the shape of OpenAI's API."""
        parts, stop = [*map(part_of, messages)], stop_sequences(stop)
        return self.respond(Request(parts, tools, stop, chat=True, **options))


class Prefilled(Model):
    """A model whose turns begin with a prefill, such as `Thought:`."""

    def __init__(self, model: Any, prefill: str) -> None:
        self.model, self.prefill, self.name = model, prefill, model.name
        self.streams = getattr(model, "streams", False)
        if count := getattr(model, "count", None):
            self.count = count

    def respond(self, request: Request) -> Response:
        """Return the model's turn after the prefill, with the prefill."""
        if request.on_text:
            request.on_text(self.prefill)
        parts = [*request.parts, {"role": "prefill", "text": self.prefill}]
        reply: Response = self.model.respond(request._replace(parts=parts))
        return replace(reply, text=self.prefill + reply.text, calls=(), extra={})


def stop_sequences(stop: Sequence[str]) -> tuple[str, ...]:
    """Return the stop sequences that are not empty; a text alone is one of them."""
    return tuple(filter(None, (stop,) if isinstance(stop, str) else stop))
