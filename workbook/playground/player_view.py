"""What the player shows: its widgets, and a playback as HTML in them.

In `data/pages/`, `player.html` has what stands in the parts, `player.css` how they
look. For a class the same widgets fill the window: `present.html` has the keys.
"""

import threading
import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from workbook.guardrails.permission import Answer, Mode, Request
from workbook.pages import template
from workbook.paths import DATA
from workbook.playground.form import ApprovalForm
from workbook.playground.large import COLUMNS, fitted, large, pinned
from workbook.playground.playback import TEXTS, WORDS, Playback
from workbook.traces import Trace, drawing
from workbook.traces.show import VOICES, Mermaid, summary, to_html, voice

STYLE = DATA / "pages/player.css"
UNKNOWN = 999  # events before a run: to `End`, the first maximum is the end for ever
KEYS = (DATA / "pages/widget.html").read_text("utf-8")  # they stay in the widget
TEXT_INSTEAD = "The same as text, for pages on which the widget above does not run"
PARTS = ("left_out", "now", "events", "budgets", "prompt", "turn", "punchline")
BUTTONS: dict[str, tuple[str, str]] = TEXTS["buttons"]
PRESSED: dict[str, list[str]] = TEXTS["keys"]  # by which keys, for a class
PREVIEW_ROWS = 6


class PlayerView:
    """The widgets of a player; `chosen` is one of each of the `options`, in order.

    `say` is told what a person answers about a call.
    """

    def __init__(
        self,
        options: Mapping[str, Any],
        chosen: Iterable[Any],
        can_choose: bool,
        say: Callable[[Answer | None], object],
    ) -> None:
        import ipywidgets as widgets

        self.choices = {
            name: widgets.Dropdown(options=several, value=one, description=name)
            for (name, several), one in zip(options.items(), chosen, strict=True)
        }
        self.buttons = {
            name: widgets.Button(description=word, tooltip=tooltip)
            for name, (word, tooltip) in BUTTONS.items()
        }
        self.buttons["run"].button_style = "primary"
        self.slider = widgets.IntSlider(min=0, max=UNKNOWN, description="events")
        self.mode = widgets.Dropdown(options=list(Mode), description="mode")
        self.mode.add_class("mode")
        self.form = ApprovalForm(say, self._ask)
        for name, button in (self.buttons | self.form.buttons).items():
            button.add_class(f"press-{name}")
        self.output = widgets.Output().add_class("diagram")
        self.status = widgets.HTML().add_class("status")
        self.parts = {name: widgets.HTML().add_class(name) for name in PARTS}
        self.stage = widgets.HTML().add_class("stage")
        self.showing = False  # that the slider moves is then nobody's wish
        self.presenting = False
        self.lock, self._diagram = threading.RLock(), ""

        def row(*parts: Any) -> Any:
            return widgets.HBox(parts).add_class("row")

        left_out, now, events, budgets, prompt, turn, punchline = self.parts.values()
        columns = ((self.output, left_out), (prompt,), (events,), (turn, budgets))
        halves = [widgets.VBox(parts).add_class("half") for parts in columns]
        style = widgets.HTML(f"<style>{STYLE.read_text(encoding='utf-8')}</style>")
        rows = [row(*self.choices.values(), self.mode)] if can_choose else []
        controls = row(*self.buttons.values(), self.slider).add_class("controls")
        rows += [controls, self.status, self.stage, self.form.widget]
        rows += [row(now, punchline).add_class("lines")]
        rows += [row(*halves[:2]), row(*halves[2:]), style]
        keys = {key: name for name, (_, *keys) in PRESSED.items() for key in keys}
        script = template("present.html").render(keys=keys)
        rows += [widgets.HTML(KEYS), widgets.HTML(script)]
        self.widget = widgets.VBox(rows).add_class("player")

    def present(self, on: bool) -> None:
        """Fill the window with one thing at a time, or be a part of the page again."""
        self.presenting = on
        for name, button in (self.buttons | self.form.buttons).items():
            word, _ = (BUTTONS | TEXTS["answers"])[name]
            word = TEXTS["leave"] if on and name == "present" else word
            key = PRESSED.get(name, [""])[0] if on else ""
            button.description = f"{word} {key}".strip()
        self.form.takes_focus = not on
        (self.widget.add_class if on else self.widget.remove_class)("presenting")

    def _ask(self, request: Request, problem: str) -> str:
        room = partial(fitted, rows=PREVIEW_ROWS, columns=COLUMNS)
        return str(macros().asked(request, problem, room if self.presenting else None))

    def show(
        self, playback: Playback, running: bool, told: str, asked: Request | None = None
    ) -> None:
        """Bring everything on view up to date. Any thread may call it."""
        with self.lock:
            self.showing = True
            self.slider.max = max(len(playback.events), self.slider.value)
            self.slider.value = playback.position
            self.slider.max = len(playback.events) or UNKNOWN
            self.buttons["cancel"].disabled = not running
            self.status.value = macros().status(told, playback.used_up).strip()
            waits = asked is not None
            stage = macros().stage(playback, waits) if self.presenting else ""
            self.stage.value = stage.strip()
            for name, part in self.parts.items():
                part.value = getattr(macros(), name)(playback).strip()
            if (diagram := playback.diagram()) != self._diagram:
                self._diagram = diagram
                title = f"The states of the run, now {playback.lit or 'not begun'}"
                data = Mermaid(diagram, title)._repr_mimebundle_()
                shown = {"output_type": "display_data", "data": data, "metadata": {}}
                self.output.outputs = (shown,)  # only a new tuple is drawn anew
            self.form.show(asked)
            for beat in (0, 1):  # see the style
                now = running and int(time.monotonic()) % 2 == beat
                change = self.widget.add_class if now else self.widget.remove_class
                change(f"beat-{beat}")
            self.showing = False


def show_widget(widget: Any, title: str, elsewhere: str) -> None:
    """Show a widget and, as an output of its own, what pages without widgets show.

    Of two kinds of one output JupyterLab takes the widget, even where it is gone.
    """
    from IPython.display import display

    line = f"<summary>{TEXT_INSTEAD}</summary>"
    folded = f"<details class='instead'>{line}{elsewhere}</details>"
    for shown in (widget._repr_mimebundle_(), {"text/html": folded}):
        display(shown | {"text/plain": title}, raw=True)  # type: ignore[no-untyped-call]


def static_html(playback: Playback, title: str) -> str:
    """Return the whole trace as a table, and the diagram, for pages without widgets."""
    table = to_html(Trace(tuple(playback.events)))
    picture = drawing.svg(playback.diagram(), title)
    return str(macros().static(title, table, picture, playback))


def macros() -> Any:
    """Return the macros of the player's page; each escapes what it is given."""
    known: Any = {"summary": summary, "voice": voice, "voices": VOICES, "words": WORDS}
    known |= {"large": large, "pinned": pinned, "who": TEXTS["who"]}
    return template("player.html", **known).module
