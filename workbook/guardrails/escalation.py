"""A strong model only where it is needed: it takes over from a weaker one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from workbook.models.base import ChatModel, Completion, TextModel, Usage


class Escalate:
    """Models of which the next one goes on after `after` unreadable turns in a row.

    It is a text model or a chat model where all of `models` are. Each run begins with
    the first one, and says of each turn whether it could be read.
    """

    def __init__(self, models: Sequence[TextModel | ChatModel], after: int = 2) -> None:
        if not models or after < 1:
            raise ValueError(f"{len(models)} models, after={after}: at least 1 of each")
        self.models, self.after = tuple(models), after
        self.at_once = all(getattr(model, "at_once", False) for model in models)
        self.streams = all(getattr(model, "streams", False) for model in models)
        self.begin()

    def begin(self) -> None:
        """Begin a run."""
        self.spent: dict[str, Usage] = {}  # by the name of the model
        self.news: list[dict[str, str]] = []  # a decision for each hand-over
        self._number = self._unreadable = 0

    @property
    def name(self) -> str:
        """The name of the model that speaks."""
        return self.models[self._number].name

    @property
    def complete(self) -> Callable[..., Completion]:
        """That model, asked with text; there is none where it only chats."""
        return self._asked("complete")

    @property
    def chat(self) -> Callable[..., Completion]:
        """That model, asked with messages; there is none where it only takes text."""
        return self._asked("chat")

    def _asked(self, way: str) -> Callable[..., Completion]:
        asked: list[Callable[..., Completion]]
        asked = [getattr(model, way) for model in self.models]  # all of them have it
        return asked[self._number]

    def judged(self, completion: Completion, unreadable: bool) -> None:
        """Add up what a turn cost, and hand over after one unreadable turn too many."""
        name = self.name
        self.spent[name] = self.spent.get(name, Usage()) + completion.usage
        self._unreadable = self._unreadable + 1 if unreadable else 0
        if self._unreadable >= self.after and self._number + 1 < len(self.models):
            self._number, self._unreadable = self._number + 1, 0
            why = f"{name} was unreadable, {self.after} in a row: {self.name} goes on"
            self.news.append({"who": "model", "what": "handed over", "why": why})
