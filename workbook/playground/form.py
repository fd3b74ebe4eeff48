"""The form in which a person answers about a call: approve, edit, reject, not now."""

from collections.abc import Callable
from typing import Any

from workbook.guardrails.permission import Answer, Request
from workbook.playground.person import answered, shown_arguments
from workbook.playground.playback import TEXTS


class ApprovalForm:
    """The widgets of an answer; on view while a request waits.

    Args:
        say: told the answer, once it is one.
        asked: a request and what was wrong, as HTML.
    """

    def __init__(
        self,
        say: Callable[[Answer | None], object],
        asked: Callable[[Request, str], str],
    ) -> None:
        import ipywidgets as widgets

        self._say, self._asked = say, asked
        self.request: Request | None = None
        self.takes_focus = True  # or else letters are keys
        self.about = widgets.HTML()
        wide = widgets.Layout(width="98%")
        self.arguments = widgets.Textarea(description="arguments", rows=5, layout=wide)
        self.why = widgets.Text(description="why", layout=wide)
        self.buttons = {
            said: widgets.Button(description=words, tooltip=tooltip)
            for said, (words, tooltip) in TEXTS["answers"].items()
        }
        for said, button in self.buttons.items():
            button.on_click(lambda _, said=said: self.answer(said))
        row = widgets.HBox([*self.buttons.values()]).add_class("row")
        parts = [self.about, self.arguments, self.why, row]
        self.widget = widgets.VBox(parts).add_class("approval")
        self.widget.layout.display = "none"

    def show(self, request: Request | None) -> None:
        """Show what waits; of an edit that was refused, the text as it was left."""
        if request is self.request:
            return
        self.request = request
        if request is None:
            self.widget.layout.display = "none"
            return
        if not request.problem:
            self.arguments.value, self.why.value = shown_arguments(request), ""
        self.about.value = self._asked(request, request.problem)
        self.widget.layout.display = "flex"
        self._focus()

    def _focus(self) -> None:
        if self.takes_focus:
            self.arguments.focus()

    def answer(self, said: str) -> None:
        """Say it, or show in words why it cannot be taken so."""
        if self.request is None:
            return
        answer: Any = answered(self.request, said, self.arguments.value, self.why.value)
        if isinstance(answer, str):
            self.about.value = self._asked(self.request, answer)
            self._focus()
        else:
            self._say(answer)
