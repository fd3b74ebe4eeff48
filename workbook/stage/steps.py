"""The state of a run after some of its events, and the player's page of it.

Functions of events, which know no widget. The HTML is in
`data/pages/stage_player.html`.
"""

import re
from collections.abc import Sequence
from typing import Any

from workbook.checks.display import template
from workbook.lessons.traces_and_replay import summary
from workbook.runtime.calls import to_json
from workbook.runtime.permission import SUSPENDED
from workbook.runtime.replay import as_response
from workbook.runtime.table import Table
from workbook.runtime.trace import Event, Kind, Trace
from workbook.stage.machines import table_of
from workbook.stage.scenarios import Punchline
from workbook.stage.shown import (
    VOICES,
    legend_html,
    parts_of,
    prompt_parts,
    transcript_html,
)

Events = Sequence[Event]
PARTS = ("status", "question", "phases", "budgets", "pins", "asks", "prompt", "lately")
MANY = 11  # ways, of which only those about the lit state are drawn
PHASES = {  # of a loop without states, by the event that it wrote last
    "model_request": "ask the model",
    "model_turn": "read its turn",
    "tool_call": "call the tool",
    "observation": "append the result",
}


def table_at(events: Events) -> Table | None:
    """Return the table of the machine that wrote a trace; None: it was a loop."""
    settings = events[0].get("settings") if events else None
    if settings is None:
        return None
    guards = "guarded" if "permission" in settings else "fsm"
    return table_of("grounded" if "grounding" in settings else guards)


def state_at(seen: Events, table: Table | None) -> str:
    """Return the state of the run, or a loop's phase; "" where it has not begun."""
    for event in reversed(seen):
        if table and event["kind"] == Kind.TRANSITION:
            return str(event["target"])
        if table is None and event["kind"] == Kind.RUN_FINISHED:
            return str(event["state"])
        if table is None and event["kind"] in PHASES and "parent" not in event:
            return PHASES[event["kind"]]
    return table.start if table and seen else ""


def prompt_at(seen: Events) -> dict[str, Any]:
    """Return the last prompt and its answer in parts, and the first new part's number.

    `is_nested`: a tool sent it, to a model of its own.
    """
    kinds = (Kind.MODEL_REQUEST, Kind.MODEL_TURN)
    *before, last = [None, *(event for event in seen if event["kind"] in kinds)]
    is_turn = last is not None and last["kind"] == Kind.MODEL_TURN
    asked = before[-1] if is_turn else last
    parts, new_from = prompt_parts(Trace(seen))
    if is_nested := asked is not None and "parent" in asked:
        parts, new_from = parts_of(asked["prompt"]), 0
    about = {"parts": parts, "new_from": new_from, "is_nested": is_nested}
    return about | {"turn": parts_of(as_response(last)) if is_turn else []}


def budgets_at(seen: Events) -> list[tuple[str, int, float | None]]:
    """Return of each budget its name, what was spent of it, and its limit, if any."""
    own = [event for event in seen if "parent" not in event]
    limits, refused = dict[str, Any](), refused_at(seen)
    spent = {"steps": 0, "tool_calls": 0, "tokens": 0}
    for event in own:
        limits = event.get("settings", {}).get("limits", limits)
        used = event.get("usage") or {}
        spent["steps"] += event["kind"] == Kind.MODEL_REQUEST
        is_made = event["kind"] == Kind.TOOL_CALL and event["call_id"] not in refused
        spent["tool_calls"] += is_made
        spent["tokens"] += used.get("input", 0) + used.get("output", 0)
    return [(name, number, limits.get(name)) for name, number in spent.items()]


def refused_at(seen: Events) -> set[str]:
    """Return the call_ids that a policy, a guard or a person refused: no such call."""
    by_rows = [event for event in seen if event.get("event") in ("denied", "rejected")]
    decided = [event for event in seen if event.get("what") in ("deny", "reject")]
    return {e["call_id"] for e in [*by_rows, *decided] if e.get("call_id")}


def waits_for(events: Events) -> Event | None:
    """Return what a suspended run asks: tool, arguments, why, and a preview."""
    if not events or events[-1].get("target") != SUSPENDED:
        return None
    later = next(e for e in reversed(events) if e.get("what") == "later")
    asked = next(e for e in reversed(events) if e.get("what") == "ask")
    arguments = asked.get("arguments") or {"address": later["address"]}
    preview = asked.get("preview", "")
    about = {"arguments": arguments, "why": asked["why"], "tool": later["tool"]}
    return about | {"preview": preview if preview != to_json(arguments) else ""}


def pins_at(entries: Sequence[Punchline], seen: Events) -> list[tuple[str, str]]:
    """Return label and text of the punchlines that have happened: four at most."""
    found = []
    for entry in entries:
        same = [e for e in seen if e["kind"] == entry.kind]
        same = [e for e in same if ("parent" in e) == entry.nested]
        texts = [summary(e) for e in same if entry.fields.items() <= e.items()]
        if entry.says:
            matches = [m for text in texts if (m := entry.says.search(text))]
            texts = [(m[min(entry.says.groups, 1)] or "").strip() for m in matches]
        numbered = enumerate(texts, 1)
        pairs = [(entry.label.replace("{n}", str(n)), text) for n, text in numbered]
        found += pairs[-1:] if entry.latest else pairs
    return found[:1] + found[1:][-3:]


def ways_at(seen: Events, table: Table) -> tuple[list[Any], bool]:
    """Return the ways to draw, (source, event, target), and if others are left out.

    These are the ways of a run in which all goes well, and those that were taken; of
    many ways, those on from the state of the run, and the last that was taken.
    """
    odd = {*table.ends} - {"DONE"}
    ways = [row[:3] for row in table.rules if row[0] != row[2] and row[2] not in odd]
    taken = [event for event in seen if event["kind"] == Kind.TRANSITION]
    ways += [(e["source"], e["event"], e["target"]) for e in taken]
    is_part = len({(source, target) for source, _, target in ways}) > MANY
    if is_part:
        here = state_at(seen, table) or table.start
        ways = [way for way in ways if way[0] == here] + ways[-1:] * bool(taken)
    return list(dict.fromkeys(ways)), is_part


def diagram(seen: Events, table: Table) -> str:
    """Return the states in Mermaid's language, in the colours of actors, one lit."""
    labels: dict[tuple[str, str], list[str]] = {}
    for way in ways_at(seen, table)[0]:  # a name has no sign of Mermaid's
        source, event, target = (re.sub(r"\W", "_", name) for name in way)
        labels.setdefault((source, target), []).append(event)
    here = re.sub(r"\W", "_", state_at(seen, table))
    return str(macros().diagram(labels, here))


def page(
    events: Events,
    position: int,
    table: Table | None = None,
    entries: Sequence[Punchline] = (),
    **about: Any,
) -> dict[str, str]:
    """Return the parts of the page by name, as HTML, after so many events."""
    seen = events[:position]
    run = {"seen": seen, "all": len(events), "pins": pins_at(entries, seen)}
    run |= {
        "refused_calls": refused_at(seen),
        "budgets": budgets_at(seen or events[:1]),
    }
    run |= {"state": state_at(seen, table), **prompt_at(seen), **about}
    run |= {"phases": [*PHASES.values()] if events and not table else []}
    run |= {"is_part": bool(table and ways_at(seen, table)[1])}
    run |= {"asked": events[0].get("question", "") if events else ""}
    return {name: str(getattr(macros(), name)(run)).strip() for name in PARTS}


def macros() -> Any:
    """Return the macros of the player's page."""
    known: Any = {"summary": summary, "voices": VOICES, "legend": legend_html}
    return template("stage_player.html", transcript=transcript_html, **known).module
