"""A strong model only where it is needed: it takes over from a weaker one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbook.fsm.reading import read_words, unless_cut
from workbook.loop.turns import Malformed, Turn, parse_turn
from workbook.models.base import ChatModel, Completion, Message, TextModel, Usage


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
        self.spent: dict[str, Usage] = {}  # by the name of the model
        self.news: list[dict[str, str]] = []  # a decision for each hand-over
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
            why = f"{name} was unreadable, {self.after} in a row: {self.name} goes on"
            self.news.append({"who": "model", "what": "handed over", "why": why})
        return completion
