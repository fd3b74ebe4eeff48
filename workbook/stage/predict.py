"""A guess before a run, compared with what happened; nothing is graded."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from workbook.stage.shown import Shown, write

page = partial(write, "small")
SPAN = re.compile(
    r"(over|more than|under|fewer than)? ?(\d+\.?\d*)(?: to | or |-)?(\d+\.?\d*|more)?"
)
Update = Callable[[str], None]  # of a place, by its HTML
_asked: dict[tuple[str, ...], "Prediction"] = {}


def predict(question: str, *choices: object) -> "Prediction":
    """Return a prediction; a cell that runs again gets the same one, with its guess."""
    asked = (question, *map(str, choices))
    return _asked.setdefault(asked, Prediction(question, asked[1:]))


class Prediction:
    """A question, its choices, the guess, and later what happened."""

    def __init__(self, question: str, choices: Sequence[str]) -> None:
        self.question, self.choices, self.right = question, choices, [""]
        self.guess = self.happened = self.why = ""
        self._places: dict[str, Update] = {}  # by the macro that is shown there

    def reveal(self, happened: object, why: str = "", right: Any = None) -> None:
        """Show the guess beside what happened; `right`: see `right_choices`."""
        self.happened, self.why = str(happened), why
        given = right if isinstance(right, list) else [right] * (right is not None)
        self.right = [*map(str, given)] or right_choices(self.choices, self.happened)
        self._places["revealed"] = show_page(page("revealed", self))
        self._update()

    def _ipython_display_(self) -> None:
        import ipywidgets as widgets

        texts = [page(macro, self) for macro in ("question", "place")]
        asks, place = map(widgets.HTML, texts)
        guess = widgets.ToggleButtons(options=self.choices, value=self.guess or None)
        guess.observe(self._keep, "value")
        rows = [asks, guess, place.add_class("stage-status")]
        box = widgets.VBox(rows, _dom_classes=["stage-box", "prediction"])
        self._places["place"] = lambda html: setattr(place, "value", html)
        self._places["asked"] = show_widget(box, page("asked", self))

    def _keep(self, change: Mapping[str, Any]) -> None:
        if not (self.guess and self.happened):  # else the answer is out
            self.guess = change["new"] or ""
        change["owner"].value = self.guess or None
        self._update()

    def _update(self) -> None:
        for macro, update in self._places.items():
            update(page(macro, self))


def right_choices(choices: Sequence[str], happened: str) -> list[str]:
    """Return the choice that what happened begins with, or whose range has its number.

    >>> right_choices(["3", "9"], "9 calls"), right_choices(["over 5"], "6 of 10")
    (['9'], ['over 5'])
    """
    held = [choice for choice in choices if _holds(choice, happened)]
    return [max(held, key=len)] if held else []


def _holds(choice: str, happened: str) -> bool:
    if re.match(re.escape(choice) + r"(?!\w|[.,]\d)", happened):
        return True
    number, span = re.match(r"\d+(\.\d+)?", happened), SPAN.match(choice)
    if not number or not span:
        return False
    n, (side, low, high) = float(number[0]), span.groups()
    if side:
        return n > float(low) if side in ("over", "more than") else n < float(low)
    return float(low) <= n <= (math.inf if high == "more" else float(high or low))


def show_widget(widget: Any, elsewhere: str) -> Update:
    """Show a widget and, in an output of its own, what pages without widgets show.

    JupyterLab takes the widget even where it is gone. The page's style hides what has
    the class `instead` beside a widget that is there. Returned is what replaces it.
    """
    from IPython.display import display

    display(widget._repr_mimebundle_() | {"text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]
    return show_page(elsewhere)


def show_page(html: str) -> Update:
    """Show HTML, its text elsewhere; return what replaces it, also in a later cell."""
    from IPython.display import display

    handle: Any = display(Shown(html), display_id=True)  # type: ignore[no-untyped-call]
    return lambda html: handle and handle.update(Shown(html))
