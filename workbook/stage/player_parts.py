"""The parts of the player's view as HTML, made from a playback.

Everything that a model, a tool or a user wrote is escaped here. Colours come in pairs,
ink with its paper, or not at all, so that a dark theme stays readable.
"""

from __future__ import annotations

import html
import math
from typing import Any

from workbook.record.events import Kind, TraceEvent
from workbook.record.show import summary
from workbook.record.trace import Trace
from workbook.stage.playback import Budget, Playback

ROWS = 12
MAX_CHARS = 90
MAX_CHARS_NOW = 240
UNITS = {"steps": "steps", "tool_calls": "tool calls", "wall_s": "seconds"}
NO_BUDGET = (
    "This engine asks no budget before it spends. A fuse, or a limit on its turns, may "
    "stop it from outside."
)
MORE_CALLS = "Calls of the model that a tool made, not among these steps:"
NOW = "background:#ffd54f;color:#000"
BOX = "border:1px solid #8888;padding:4px 8px"
CODE = "font-family:monospace;font-size:12px;white-space:pre-wrap;line-height:1.35"


def heading(text: str) -> str:
    """Return a small heading."""
    return f"<div style='margin:6px 0 2px'><b>{html.escape(text)}</b></div>"


def part(name: str, *pieces: str) -> str:
    """Return a part of the view; the class says which."""
    content = "".join(pieces)
    return f"<div class='{name}' style='line-height:1.35'>{content}</div>"


def now_html(playback: Playback) -> str:
    """Return what the current event holds, in full where the list of events cuts it.

    Of a run that ended without an answer, this says why.
    """
    event = playback.current
    if event is None:
        return part("told")
    text = _flat(summary(event), MAX_CHARS_NOW)
    if event["kind"] == Kind.RUN_FINISHED and event["answer"] is None:
        why = _flat(event.get("message") or "", MAX_CHARS_NOW)
        text = f"{text}: {why}" if why else text
    return part("told", f"<code>{event['kind']}</code> {html.escape(text)}")


def events_html(playback: Playback) -> str:
    """Return the events up to the current one, which is marked; no later one is told.

    Who steps through a run is asked what comes next.
    """
    here = playback.position - 1
    first = max(0, playback.position - ROWS)
    shown = playback.seen[first:]
    rows = "".join(_row(event, here) for event in shown)
    below = len(playback.events) - playback.position
    table = "width:100%;table-layout:fixed;border-collapse:collapse;font-size:12px"
    return part(
        "events",
        heading("What happened"),
        f"<small>{first} earlier</small><table style='{table}'>{rows}</table>",
        f"<small>{below} later</small>",
    )


def _row(event: TraceEvent, here: int) -> str:
    seq, now = event["seq"], event["seq"] == here
    style = NOW if now else ""
    text = _flat(summary(event), MAX_CHARS)
    indent = "padding-left:16px" if "parent" in event else ""
    right = "text-align:right;padding-right:6px"
    cells = (
        (f"{'▶ ' if now else ''}{seq}", f"width:46px;white-space:nowrap;{right}"),
        (f"{event['at_s']:.3f} s", f"width:64px;{right}"),
        (event["kind"], f"width:104px;text-align:left;font-family:monospace;{indent}"),
        (text, "text-align:left;overflow:hidden;white-space:nowrap;"
               "text-overflow:ellipsis"),
    )  # fmt: skip
    shown = "".join(f"<td style='{css}'>{html.escape(s)}</td>" for s, css in cells)
    attributes = " class='now' aria-current='step'" if now else ""
    return f"<tr{attributes} style='{style}'>{shown}</tr>"


def _flat(text: str, max_chars: int) -> str:
    text = " ".join(text.split())
    return text if len(text) <= max_chars else f"{text[:max_chars]}…"


def prompt_html(playback: Playback) -> str:
    """Return the exact prompt that was sent last, its new part marked."""
    sent = playback.sent()
    if sent is None:
        return part("prompt", heading("What the model was sent"), "<i>Nothing yet.</i>")
    who = "a tool asked" if sent.nested else "the agent asked"
    title = (
        f"What the model was sent (event {sent.seq}, {who}): "
        f"{len(sent.old)} characters as before, {len(sent.new)} new"
    )
    # A reversed column opens at its end, where the new part is.
    box = f"{BOX};height:220px;overflow:auto;display:flex;flex-direction:column-reverse"
    return part(
        "prompt",
        heading(title),
        f"<div tabindex='0' aria-label='prompt' style='{box}'>"
        f"<div style='{CODE};margin-bottom:auto'>{sent.to_html()}</div></div>",
    )


def turn_html(playback: Playback) -> str:
    """Return what the model answered to that, and what was read in it."""
    event = playback.turn()
    if event is None:
        asked = playback.sent() is not None
        over = any(seen["kind"] == Kind.RUN_FINISHED for seen in playback.seen)
        waits = "It did not answer." if over else "It has not answered yet."
        wait = waits if asked else "Nothing yet."
        return part("turn", heading("What it answered"), f"<i>{wait}</i>")
    by = "" if playback.is_machine else " (as parse_turn of lesson 01 reads it)"
    turn = event["turn"] or {}
    parts = "".join(
        f"<tr><td style='{CODE};vertical-align:top;text-align:left'>"
        f"{html.escape(name)}</td><td style='{CODE};text-align:left'>"
        f"{html.escape(_shown(value))}</td></tr>"
        for name, value in turn.items()
    )
    usage = event["usage"] or {}
    tokens = (
        f"{usage.get('input', 0)} tokens read, "
        f"{usage.get('cached', 0)} of them cached, "
        f"{usage.get('output', 0)} written"
    )
    box = f"{BOX};{CODE};max-height:110px;overflow:auto"
    return part(
        "turn",
        heading("What it answered"),
        f"<div tabindex='0' aria-label='turn' style='{box}'>"
        f"{html.escape(event['text'])}</div><small>{tokens}</small>",
        heading(f"What was read in it{by}"),
        f"<table>{parts}</table>",
    )


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else repr(value)


def left_out_html(playback: Playback) -> str:
    """Return which rows of a machine's table its diagram leaves out."""
    if not playback.is_machine:
        return part("left_out")
    return part(
        "left_out",
        "<small>Drawn only when taken: out of a budget to EXHAUSTED, cancel to "
        "CANCELLED, failed to ERROR.</small>",
    )


def budgets_html(playback: Playback) -> str:
    """Return what is left of each budget."""
    budgets = playback.budgets()
    if not budgets:
        return part("budgets", heading("What is left"), "<i>Nothing is spent yet.</i>")
    rows = "".join(
        f"<tr><td style='text-align:left'>{UNITS[b.name]}</td>"
        f"<td style='white-space:nowrap'>{_amount(b.spent)} spent</td>"
        f"<td style='white-space:nowrap'>{_left(b)}</td></tr>"
        for b in budgets
    )
    none = all(math.isinf(budget.limit) for budget in budgets)
    note = f"<small>{NO_BUDGET}</small>" if none else ""
    if more := playback.asked_by_tools:
        note = f"<small>{MORE_CALLS} {more}.</small> {note}"
    return part("budgets", heading("What is left"), f"<table>{rows}</table>{note}")


def _left(budget: Budget) -> str:
    if math.isinf(budget.limit):
        return "no limit"
    bar = f"<progress max='{budget.limit:g}' value='{budget.left:g}'></progress>"
    return f"<b>{_amount(budget.left)} of {budget.limit:g} left</b> {bar}"


def _amount(value: float) -> str:
    return f"{value:g}" if value == int(value) else f"{value:.2f}"


def static_html(playback: Playback, title: str) -> str:
    """Return the whole trace as a table, and the diagram, for pages without widgets."""
    source = html.escape(playback.diagram())
    return (
        f"<p><b>{html.escape(title)}</b><br><i>This is a widget; in JupyterLab you "
        "step through it. Here is all that happened.</i></p>"
        f"{Trace(tuple(playback.events)).to_html()}"
        f"<div class='jp-Mermaid'><pre class='mermaid'>{source}</pre></div>"
    )
