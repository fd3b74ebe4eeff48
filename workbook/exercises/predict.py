"""A guess before a run: asked for, kept, and held next to what happened."""

from __future__ import annotations

import html
from typing import Any

from workbook.exercises.display import GREY, Notice, show


class Prediction:
    """A question to commit to; nothing is graded.

    With choices they are buttons, without any it is a box to type in. The guess is kept
    in the kernel, and `guess` may be set from code as well.
    """

    def __init__(self, question: str, *choices: object) -> None:
        self.question, self.choices = question, [str(choice) for choice in choices]
        self.guess = ""

    def choose(self, guess: str) -> None:
        """Keep a guess; a later one replaces it."""
        self.guess = guess.strip()

    def reveal(self, happened: object) -> None:
        """Show what was guessed, and what happened."""
        guess = self.guess or "nothing: no guess was made"
        lines = [("guessed", guess), ("it was", str(happened))]
        show(Notice(self.question, lines, GREY))

    def __repr__(self) -> str:
        choices = f" ({' / '.join(self.choices)})" if self.choices else ""
        return f"Predict: {self.question}{choices}"

    def _repr_mimebundle_(self, **kwargs: Any) -> Any:
        import ipywidgets as widgets

        asked = widgets.HTML(f"<b>Predict:</b> {html.escape(self.question)}")
        if self.choices:
            chosen = self.guess if self.guess in self.choices else None
            box: Any = widgets.ToggleButtons(options=self.choices, value=chosen)
            box.style.button_width = "auto"
        else:
            box = widgets.Text(value=self.guess, placeholder="your guess")
        box.observe(lambda change: self.choose(change["new"] or ""), "value")
        widget = widgets.VBox([asked, box]).add_class("predict")
        bundle: dict[str, Any] = widget._repr_mimebundle_(**kwargs)
        return {
            **bundle,
            "text/html": html.escape(repr(self)),
            "text/plain": repr(self),
        }


predict = Prediction  # what one types
