"""A guess before a run: asked for, kept, and held next to what happened."""

from __future__ import annotations

from workbook.exercises.display import Notice, show


class Prediction:
    """A question, and what was guessed; nothing is graded."""

    def __init__(self, question: str, *choices: str) -> None:
        self.question, self.choices, self.guess = question, choices, ""

    def reveal(self, what: object) -> None:
        """Show what was guessed next to what happened."""
        show(Notice(self.question, [(" ", f"You guessed {self.guess}: {what}")]))


predict = Prediction
