"""Economy: reading the same only once, and a strong model only where it is needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from workbook.fsm.reading import read_words, unless_cut
from workbook.guardrails.approval import digest_of_call
from workbook.loop.turns import Malformed, Turn, parse_turn
from workbook.models.base import (
    ChatModel,
    Completion,
    Message,
    TextModel,
    Usage,
    streams,
)
from workbook.tools.calls import Effect, Observation, ToolCall
from workbook.tools.registry import ToolRegistry

FROM_CACHE = "from this run's cache: the same call was made before"


class Cached:
    """Makes the calls of one run, and answers a READ that was made before by itself.

    Only of tools that are `repeatable`, and only what worked. From the first WRITE on
    it keeps and knows nothing any more: that may have changed whatever was read.

    Args:
        make: makes a call, such as `tools.run`.
        tools: say what a call does, and whether it is repeatable.
    """

    def __init__(
        self, make: Callable[[ToolCall], Observation], tools: ToolRegistry
    ) -> None:
        self.make, self.tools = make, tools
        self.kept: dict[str, Observation] = {}  # by tool and arguments
        self.on = True

    def __call__(self, call: ToolCall) -> Observation:
        """Return what came of the call, or of the same call before, with a note."""
        tool = self.tools[call.name]
        if tool.effect is Effect.WRITE:
            self.on = False  # before it: one that fails may have written all the same
        if not (self.on and tool.repeatable):
            return self.make(call)
        key = digest_of_call(call)
        if known := self.kept.get(key):
            notes = (*call.notes, FROM_CACHE)
            return replace(known, call_id=call.call_id, notes=notes)
        observation = self.make(call)
        if observation.ok:
            self.kept[key] = observation
        return observation


class Escalate:
    """Models of which the next one goes on after `after` unreadable turns in a row.

    It is a text model or a chat model where all of `models` are. A turn is unreadable
    where `TextTurns` and `FunctionCalls` say so; `parse` is the parser of text turns.
    """

    def __init__(
        self,
        models: Sequence[TextModel | ChatModel],
        after: int = 2,
        parse: Callable[[str], Turn] = parse_turn,
    ) -> None:
        if not models or after < 1:
            raise ValueError(f"{len(models)} models, after={after}: at least 1 of each")
        self.models, self.after, self.parse = tuple(models), after, parse
        self.at_once = all(getattr(model, "at_once", False) for model in models)
        self.streams = all(map(streams, models))
        self.spent: dict[str, Usage] = {}  # by the name of the model
        self.news: list[str] = []  # a sentence for each hand-over
        self._number = self._unreadable = 0
        # Whoever needs a text model looks whether there is a `complete`.
        if all(hasattr(model, "complete") for model in models):
            self.complete = self._complete
        if all(hasattr(model, "chat") for model in models):
            self.chat = self._chat

    def with_each(self, other: Callable[[Any], Any]) -> Escalate:
        """Return one from the beginning, each model replaced by what `other` makes."""
        return Escalate([*map(other, self.models)], self.after, self.parse)

    @property
    def name(self) -> str:
        """The name of the model that speaks."""
        return self.models[self._number].name

    @property
    def _model(self) -> Any:
        return self.models[self._number]

    def _complete(self, prompt: str, **options: Any) -> Completion:
        completion = self._model.complete(prompt, **options)  # `stop` is one of them
        return self._counted(completion, self.parse(completion.text))

    def _chat(self, messages: Sequence[Message], **options: Any) -> Completion:
        completion = self._model.chat(messages, **options)
        names = [tool["function"]["name"] for tool in options.get("tools", ())]
        return self._counted(completion, read_words(completion.text, names))

    def _counted(self, completion: Completion, turn: Turn) -> Completion:
        """Add up what it cost, and hand over after one unreadable turn too many."""
        name = self.name
        self.spent[name] = self.spent.get(name, Usage()) + completion.usage
        unreadable = isinstance(unless_cut(completion, turn), Malformed)
        unreadable = unreadable and not completion.tool_requests
        self._unreadable = self._unreadable + 1 if unreadable else 0
        if self._unreadable >= self.after and self._number + 1 < len(self.models):
            self._number, self._unreadable = self._number + 1, 0
            turns = "a turn" if self.after == 1 else f"{self.after} turns in a row"
            self.news.append(f"{name} wrote {turns} unreadable: {self.name} goes on")
        return completion
