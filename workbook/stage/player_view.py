"""What the player shows: its widgets, and a playback as HTML in them.

It knows nothing of how a run is played. Everything that a model, a tool or a user wrote
is escaped. How it looks stands in `data/player.css`.
"""

from __future__ import annotations

import html
import math
import threading
from collections.abc import Mapping
from typing import Any

from workbook.paths import DATA
from workbook.record.events import Kind, TraceEvent
from workbook.record.show import MIME_TYPE, summary
from workbook.record.trace import Trace
from workbook.stage.playback import Budget, Playback

STYLE = DATA / "player.css"
ROWS = 12
BUTTONS = {
    "run": "play to the end",
    "step": "one event on",
    "back": "one event back",
    "reset": "to before the first event",
    "cancel": "stop the run that is going on",
}
UNITS = {"steps": "steps", "tool_calls": "tool calls", "wall_s": "seconds"}
NO_BUDGET = (
    "This engine asks no budget before it spends. A fuse, or a limit on its turns, may "
    "stop it from outside."
)
MORE_CALLS = "Calls of the model that a tool made, not among these steps:"
LEFT_OUT = (
    "<small>Drawn only when taken: out of a budget to EXHAUSTED, cancel to CANCELLED, "
    "failed to ERROR.</small>"
)


class PlayerView:
    """The widgets of a player. What they do when they are used, the player says.

    Args:
        choices: by name, what can be chosen and what is, to begin with.
        can_choose: whether that can be changed.
    """

    def __init__(
        self, choices: Mapping[str, tuple[list[Any], Any]], can_choose: bool
    ) -> None:
        import ipywidgets as widgets

        self.choices = {
            name: widgets.Dropdown(options=options, value=value, description=name)
            for name, (options, value) in choices.items()
        }
        self.buttons = {
            name: widgets.Button(description=name.capitalize(), tooltip=tooltip)
            for name, tooltip in BUTTONS.items()
        }
        self.buttons["run"].button_style = "primary"
        self.slider = widgets.IntSlider(min=0, max=0, description="events")
        self.output = widgets.Output().add_class("diagram")
        self.status, self.left_out = widgets.HTML(), widgets.HTML()
        self.parts = {name: widgets.HTML().add_class(name) for name in PARTS}
        self.showing = False  # that the slider moves is then nobody's wish
        self._lock, self._diagram = threading.RLock(), ""

        def column(*parts: Any) -> Any:
            return widgets.VBox(parts).add_class("half")

        def row(*parts: Any) -> Any:
            return widgets.HBox(parts).add_class("row")

        now, events, budgets, prompt, turn = self.parts.values()
        rows = [
            row(*self.buttons.values(), self.slider),
            self.status,
            now,
            row(column(self.output, self.left_out), column(events, budgets)),
            row(column(prompt), column(turn)),
            widgets.HTML(f"<style>{STYLE.read_text(encoding='utf-8')}</style>"),
        ]
        if can_choose:
            rows.insert(0, row(*self.choices.values()))
        self.widget = widgets.VBox(rows).add_class("player")

    def show(self, playback: Playback, running: bool, told: str) -> None:
        """Bring everything on view up to date. Any thread may call it."""
        with self._lock:
            self.showing = True
            self.slider.max = max(len(playback.events), self.slider.value)
            self.slider.value = playback.position
            self.slider.max = len(playback.events)
            self.buttons["cancel"].disabled = not running
            self.status.value = f"<span role='status'>{html.escape(told)}</span>"
            self.left_out.value = LEFT_OUT if playback.table else ""
            for name, as_html in PARTS.items():
                self.parts[name].value = as_html(playback)
            if (diagram := playback.diagram()) != self._diagram:
                self._diagram = diagram
                data = {MIME_TYPE: diagram, "text/plain": diagram}
                shown = {"output_type": "display_data", "data": data, "metadata": {}}
                self.output.outputs = (shown,)  # only a new tuple is drawn anew
            self.showing = False


def now_html(playback: Playback) -> str:
    """Return what the current event holds, in full where the list of events cuts it.

    Of a run that ended without an answer, this says why.
    """
    if not playback.position:
        return ""
    event = playback.seen[-1]
    text = summary(event)
    if event["kind"] == Kind.RUN_FINISHED and event["answer"] is None:
        text = ": ".join(filter(None, (text, event.get("message"))))
    kind = f"<code>{event['kind']}</code>"
    return f"<div class='whole'>{kind} {html.escape(text)}</div>"


def events_html(playback: Playback) -> str:
    """Return the events up to the current one, which is marked; no later one is told.

    Who steps through a run is asked what comes next.
    """
    first = max(0, playback.position - ROWS)
    rows = "".join(
        _event_row(event, event["seq"] == playback.position - 1)
        for event in playback.seen[first:]
    )
    later = len(playback.events) - playback.position
    return (
        f"{_heading('What happened')}<small>{first} earlier</small>"
        f"<table>{rows}</table><small>{later} later</small>"
    )


def _event_row(event: TraceEvent, now: bool) -> str:
    seq = f"{'▶ ' if now else ''}{event['seq']}"
    cells = (seq, f"{event['at_s']:.3f} s", event["kind"], summary(event))
    shown = "".join(f"<td>{html.escape(text)}</td>" for text in cells)
    nested = "nested" if "parent" in event else ""
    if now:
        return f"<tr class='now {nested}' aria-current='step'>{shown}</tr>"
    return f"<tr class='{nested}'>{shown}</tr>"


def budgets_html(playback: Playback) -> str:
    """Return what is left of each budget."""
    budgets = playback.budgets()
    if not budgets:
        return f"{_heading('What is left')}<i>Nothing is spent yet.</i>"
    notes = []
    if asked := playback.asked_by_tools():
        notes.append(f"{MORE_CALLS} {asked}.")
    if all(math.isinf(budget.limit) for budget in budgets):
        notes.append(NO_BUDGET)
    rows = "".join(map(_budget_row, budgets))
    small = f"<small>{' '.join(notes)}</small>"
    return f"{_heading('What is left')}<table>{rows}</table>{small}"


def _budget_row(budget: Budget) -> str:
    spent, limit, left = (f"{round(x, 2):g}" for x in (*budget[1:], budget.left))
    bar = f"<progress max='{limit}' value='{left}'></progress>"
    many = f"<b>{left} of {limit} left</b> {bar}"
    rest = "no limit" if math.isinf(budget.limit) else many
    unit = UNITS[budget.name]
    return f"<tr><td>{unit}</td><td>{spent} spent</td><td>{rest}</td></tr>"


def prompt_html(playback: Playback) -> str:
    """Return the exact prompt that was sent last, its new part marked."""
    sent = playback.sent()
    if sent is None:
        return f"{_heading('What the model was sent')}<i>Nothing yet.</i>"
    who = "a tool asked" if sent.nested else "the agent asked"
    title = (
        f"What the model was sent (event {sent.seq}, {who}): "
        f"{len(sent.old)} characters as before, {len(sent.new)} new"
    )
    new = f"<mark class='new'>{html.escape(sent.new)}</mark>"
    text = f"<div class='code'>{html.escape(sent.old)}{new}</div>"
    return f"{_heading(title)}{_box('prompt', text)}"


def turn_html(playback: Playback) -> str:
    """Return what the model answered to that, and what was read in it."""
    event = playback.turn()
    title = _heading("What it answered")
    if event is None:
        over = any(seen["kind"] == Kind.RUN_FINISHED for seen in playback.seen)
        waits = "It did not answer." if over else "It has not answered yet."
        return f"{title}<i>{waits if playback.sent() else 'Nothing yet.'}</i>"
    text = f"<div class='code'>{html.escape(event['text'])}</div>"
    usage = event["usage"] or {}
    read, cached, wrote = (usage.get(k, 0) for k in ("input", "cached", "output"))
    tokens = f"{read} tokens read, {cached} of them cached, {wrote} written"
    by = "" if playback.table else " (as parse_turn of lesson 01 reads it)"
    rows = "".join(
        f"<tr><td>{html.escape(name)}</td><td>{html.escape(str(value))}</td></tr>"
        for name, value in (event["turn"] or {}).items()
    )
    return (
        f"{title}{_box('turn', text)}<small>{tokens}</small>"
        f"{_heading(f'What was read in it{by}')}<table class='code'>{rows}</table>"
    )


def _heading(text: str) -> str:
    return f"<div class='heading'>{html.escape(text)}</div>"


def _box(label: str, content: str) -> str:
    """Return a box that scrolls, with the keyboard too."""
    return f"<div class='box' tabindex='0' aria-label='{label}'>{content}</div>"


PARTS = {
    "now": now_html,
    "events": events_html,
    "budgets": budgets_html,
    "prompt": prompt_html,
    "turn": turn_html,
}
"""What is shown of a playback; each stands in an element of that class."""


def static_html(playback: Playback, title: str) -> str:
    """Return the whole trace as a table, and the diagram, for pages without widgets."""
    return (
        f"<p><b>{html.escape(title)}</b><br><i>This is a widget; in JupyterLab you "
        "step through it. Here is all that happened.</i></p>"
        f"{Trace(tuple(playback.events)).to_html()}<div class='jp-Mermaid'>"
        f"<pre class='mermaid'>{html.escape(playback.diagram())}</pre></div>"
    )
