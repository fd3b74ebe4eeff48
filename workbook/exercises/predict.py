"""A guess before a run: asked for, kept, and held next to what happened."""

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

    def box(self) -> Any:
        """Return the widget in which one guesses; it shows what was guessed before."""
        import ipywidgets as widgets

        if self.choices:
            chosen = self.guess if self.guess in self.choices else None
            box: Any = widgets.ToggleButtons(options=self.choices, value=chosen)
            box.style.button_width = "auto"
        else:
            box = widgets.Text(value=self.guess, placeholder="your guess")
        box.observe(lambda change: self.choose(change["new"] or ""), "value")
        return box.add_class("predict")

    def _ipython_display_(self) -> None:
        # The question in an output of its own: it is there where no widget runs.
        show(Notice(repr(self), colour=GREY))
        show(self.box())


predict = Prediction  # what one types
