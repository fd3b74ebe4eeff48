"""The player's widgets: what can be chosen and pressed, and what is shown.

It knows how a playback looks and nothing of how a run is played; `player_widget` says
what the buttons do.
"""

from __future__ import annotations

import html
import os
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from workbook.models.choice import UnknownModel, model_name
from workbook.models.hosted import KEY
from workbook.record.show import MIME_TYPE
from workbook.stage import player_parts as parts
from workbook.stage.engines import ENGINES
from workbook.stage.live_run import LOCAL, SCRIPTED, SLOW
from workbook.stage.playback import Playback
from workbook.stage.scenarios import slugs

if TYPE_CHECKING:
    import ipywidgets

DEFAULT_HOSTED = "gpt-4o-mini"
BUTTONS = {
    "run": "play to the end",
    "step": "one event on",
    "back": "one event back",
    "reset": "to before the first event",
    "cancel": "stop the run that is going on",
}
HEIGHTS = "285px", "265px", "190px"
"""What events, prompt and turn need when they are full: kept free, so nothing jumps."""


class PlayerView:
    """The widgets of a player.

    Args:
        chosen: scenario, engine and model.
        can_choose: whether the three can be changed.
        work: what each of `BUTTONS` does; `choose` for another choice, `seek` for
            another place, which it is given.
    """

    def __init__(
        self,
        chosen: tuple[str, str, Any],
        can_choose: bool,
        work: Mapping[str, Callable[..., None]],
    ) -> None:
        import ipywidgets as widgets

        self._lock, self._showing, self._diagram = threading.RLock(), False, ""
        options = (slugs(), list(ENGINES), model_options(chosen[2]))
        names = ("scenario", "engine", "model")
        narrow = widgets.Layout(width="270px")
        self.choices = [
            widgets.Dropdown(
                options=some,
                value=value,
                description=name,
                layout=narrow,
                style={"description_width": "60px"},
            )
            for some, value, name in zip(options, chosen, names, strict=True)
        ]
        self.scenario, self.engine, self.model = self.choices
        self.buttons = {
            name: widgets.Button(
                description=name.capitalize(),
                tooltip=tooltip,
                layout=widgets.Layout(width="80px", flex="0 0 auto"),
            )
            for name, tooltip in BUTTONS.items()
        }
        self.buttons["run"].button_style = "primary"
        self.slider = widgets.IntSlider(
            min=0,
            max=0,
            description="events",
            layout=widgets.Layout(width="340px"),
            style={"description_width": "50px"},
        )
        wide = widgets.Layout(width="auto")  # its margins would make 100% too wide
        self.status, self.budgets, self.left_out = (
            widgets.HTML(layout=wide) for _ in range(3)
        )
        self.now = widgets.HTML(layout=widgets.Layout(width="auto", min_height="40px"))
        self.events, self.prompt, self.turn = (
            widgets.HTML(layout=widgets.Layout(width="auto", min_height=height))
            for height in HEIGHTS
        )
        self.output = widgets.Output(layout=widgets.Layout(min_height="240px"))
        self.widget = self._arranged(widgets, can_choose)
        self._connect(work)

    def _arranged(self, widgets: Any, can_choose: bool) -> ipywidgets.VBox:
        half = widgets.Layout(flex="1 1 380px", min_width="0", padding="0 6px 0 0")
        wrapped = widgets.Layout(flex_flow="row wrap")
        pairs = [
            ([self.output, self.left_out], [self.events, self.budgets]),
            ([self.prompt], [self.turn]),
        ]
        rows = [
            *([widgets.HBox(self.choices, layout=wrapped)] if can_choose else []),
            widgets.HBox([*self.buttons.values(), self.slider], layout=wrapped),
            self.status,
            self.now,
            *(
                widgets.HBox(
                    [widgets.VBox(column, layout=half) for column in pair],
                    layout=wrapped,
                )
                for pair in pairs
            ),
        ]
        widget = widgets.VBox(rows)
        widget.add_class("player")
        return widget

    def _connect(self, work: Mapping[str, Callable[..., None]]) -> None:
        for name, button in self.buttons.items():
            button.on_click(lambda _, do=work[name]: do())
        for dropdown in self.choices:
            dropdown.observe(lambda _: work["choose"](), "value")

        def slid(change: Any) -> None:
            if not self._showing:
                work["seek"](change["new"])

        self.slider.observe(slid, "value")

    def show(self, playback: Playback, running: bool, told: str) -> None:
        """Bring everything on view up to date. Any thread may call it."""
        with self._lock:
            self._showing = True
            try:
                self.status.value = f"<span role='status'>{html.escape(told)}</span>"
                self._show_controls(playback, running)
                self.now.value = parts.now_html(playback)
                self.events.value = parts.events_html(playback)
                self.prompt.value = parts.prompt_html(playback)
                self.turn.value = parts.turn_html(playback)
                self.budgets.value = parts.budgets_html(playback)
                self.left_out.value = parts.left_out_html(playback)
                self._draw(playback.diagram())
            finally:
                self._showing = False

    def _show_controls(self, playback: Playback, running: bool) -> None:
        number = len(playback.events)
        self.slider.max = max(number, self.slider.value)
        self.slider.value = playback.position
        self.slider.max = number
        self.buttons["cancel"].disabled = not running

    def _draw(self, diagram: str) -> None:
        if diagram == self._diagram:
            return
        self._diagram = diagram
        data = {MIME_TYPE: diagram, "text/plain": diagram}
        shown = {"output_type": "display_data", "data": data, "metadata": {}}
        self.output.outputs = (shown,)  # a new tuple each time: only that is drawn anew


def model_options(chosen: Any) -> list[tuple[str, Any]]:
    """Return the models that can be chosen: names on view, and what they stand for."""
    options: list[tuple[str, Any]] = [
        ("scripted", SCRIPTED),
        ("scripted, a turn a second", SLOW),
        ("local: SmolLM2 in this process", LOCAL),
    ]
    if os.environ.get(KEY, "").strip():
        try:
            named = model_name()
        except UnknownModel:  # the lesson's first cell has said so
            named = SCRIPTED
        hosted = DEFAULT_HOSTED if named in (SCRIPTED, LOCAL) else named
        options.append((f"hosted: {hosted}", hosted))
    if not isinstance(chosen, str):
        options.append((f"given: {getattr(chosen, 'name', 'a model')}", chosen))
    elif chosen not in [value for _, value in options]:
        options.append((f"hosted: {chosen}", chosen))
    return options
