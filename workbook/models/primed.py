"""A model whose turn the runtime begins for it.

A small model that is left to itself after a question writes another question. Given the
first word of its turn, it goes on from there. LangChain's prompt ends in `Thought:` for
the same reason.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from workbook.models.base import Completion, TextModel
from workbook.models.prompts import stop_sequences


class Primed:
    """A `TextModel` that continues `prompt + cue` and answers with the cue in front.

    Args:
        model: the model that is asked.
        cue: the first word of each turn.
        stop: stop sequences that each request gets, besides its own.
    """

    def __init__(
        self, model: TextModel, cue: str = "Thought:", stop: Sequence[str] = ()
    ) -> None:
        self.model = model
        self.name = model.name
        self.cue = cue
        self.stop = stop_sequences(stop)

    def complete(self, prompt: str, *, stop: Sequence[str] = ()) -> Completion:
        """Ask the model to go on from the cue."""
        stop = (*stop_sequences(stop), *self.stop)
        reply = self.model.complete(prompt + self.cue, stop=stop)
        return replace(reply, text=self.cue + reply.text)
