"""The two ways to talk with a model, with a prompt that is kept within a limit.

Beside the prompt they keep its pieces. Only where something was dropped is the prompt
not the one before with more at its end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from workbook.fsm.conversations import FunctionCalls, Reply, TextTurns
from workbook.guardrails.context import Count, Part, fit_context, size
from workbook.models.base import ChatModel, Completion, Message, TextModel
from workbook.models.prompts import estimate, render_messages, shared_items
from workbook.tools.calls import Observation
from workbook.tools.registry import ToolRegistry

Fit = Callable[..., list[Part]]  # as `fit_context`


class Pieces:
    """The pieces of a prompt that grows, a turn and its observations in one group."""

    def __init__(self, model: Any, limit: int, fit: Fit) -> None:
        self.limit, self.fit = limit, fit
        self.count: Count = getattr(model, "count", lambda text: estimate(text).input)
        self.parts: list[Part] = []
        self.tokens = self.group = 0
        self.compactions: list[dict[str, Any]] = []

    def add(self, text: str, kind: str, payload: Any = None) -> None:
        """Keep a piece; the question is pinned."""
        pinned = kind == "question"
        group = None if pinned else self.group
        self.parts.append(Part(text, pinned, group, kind, payload))
        self.tokens += self.count(text)

    def fitted(self) -> bool:
        """Fit the pieces once they are beyond the limit; return whether they changed.

        What was done is kept in `compactions`: tokens `before` and `after`, how many
        pieces were `dropped`, and how many `cut`.
        """
        if self.tokens <= self.limit:
            return False
        before, old = self.tokens, self.parts
        self.parts = self.fit(old, self.limit, count=self.count)
        self.tokens = size(self.parts, self.count)
        new = [part for part in self.parts if part not in old]
        summaries = sum(part.kind == "summary" for part in new)
        done = {"limit": self.limit, "before": before, "after": self.tokens}
        done["dropped"] = len(old) - len(self.parts) + summaries
        done["cut"] = len(new) - summaries
        self.compactions.append(done)
        return True


class _Fitted:
    """What both have in common: what the base class puts into the prompt is kept."""

    _around = ""  # what a summary is wrapped in

    def __init__(
        self,
        model: TextModel | ChatModel,
        tools: ToolRegistry,
        question: str,
        preamble: str | None = None,
        *,
        limit: int,  # tokens of the prompt, as the model counts them
        pinned: Sequence[str] = (),  # what else the user insists on
        fit: Fit = fit_context,
        **options: Any,
    ) -> None:
        asked = "\n".join((question, *pinned))
        super().__init__(model, tools, asked, preamble, **options)  # type: ignore[call-arg]
        self.pieces = Pieces(model, limit, fit)
        if self._around:
            self.pieces.limit -= self.pieces.count(self._around)
        self.compactions = self.pieces.compactions
        self._take("question")

    def request(self) -> dict[str, Any]:
        self._take("turn")
        if self.pieces.fitted():
            self._put(self.pieces.parts)
        return super().request()  # type: ignore[misc, no-any-return]

    def read(self, completion: Completion) -> Reply:
        reply: Reply = super().read(completion)  # type: ignore[misc]
        self.pieces.group += 1
        self._take("turn")
        return reply

    def observe(self, observation: Observation) -> None:
        super().observe(observation)  # type: ignore[misc]
        self._take("observation")

    def _take(self, kind: str) -> None:
        """Keep what is new in the prompt as pieces of this kind."""
        raise NotImplementedError

    def _put(self, parts: list[Part]) -> None:
        """Make the prompt of these pieces, and say how much of it has been sent."""
        raise NotImplementedError


class FittedTurns(_Fitted, TextTurns):
    """`TextTurns` within a limit."""

    _taken = 0  # characters

    def _take(self, kind: str) -> None:
        if new := self._prompt[self._taken :]:
            self.pieces.add(new, kind)
        self._taken = len(self._prompt)

    def _put(self, parts: list[Part]) -> None:
        sent, self._prompt = self._prompt[: self._sent], "".join(p.text for p in parts)
        self._sent, self._taken = shared_items(sent, self._prompt), len(self._prompt)


class FittedCalls(_Fitted, FunctionCalls):
    """`FunctionCalls` within a limit, which is one of messages, without the schemas."""

    _taken = 0  # messages
    _around = render_messages([{"role": "user", "content": ""}])

    def _take(self, kind: str) -> None:
        for message in self._messages[self._taken :]:
            self.pieces.add(render_messages([message]), kind, message)
        self._taken = len(self._messages)

    def _put(self, parts: list[Part]) -> None:
        sent, self._messages = self._messages[: self._sent], [*map(_message, parts)]
        self._sent, self._taken = shared_items(sent, self._messages), len(parts)


def _message(part: Part) -> Message:
    """Return the message that a part stands for, its text as it was cut."""
    if part.payload is None:
        return {"role": "user", "content": part.text}
    message: Message = part.payload
    if part.kind != "observation":
        return message
    text = part.text.removeprefix(f"{message['role']}: ").removesuffix("\n")
    return {**message, "content": text}
