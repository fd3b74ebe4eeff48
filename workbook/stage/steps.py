"""The state of a run after some of its events, and the player's page of it.

Functions of events, which know no widget. The HTML is in
`data/pages/stage_player.html`.
"""

import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from workbook.lessons.traces_and_replay import summary
from workbook.runtime.calls import to_json
from workbook.runtime.permission import SUSPENDED
from workbook.runtime.replay import as_response
from workbook.runtime.table import Table
from workbook.runtime.trace import Event, Kind, Trace
from workbook.stage import shown
from workbook.stage.machines import machine_for
from workbook.stage.scenarios import Punchline, load

write = partial(shown.write, "player")
Events = Sequence[Event]
PARTS = ("status", "question", "phases", "budgets", "pins", "asks", "prompt", "lately")
REFUSED = {"denied", "rejected", "deny", "reject"}  # of a row, and of a decision
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
    engine = "grounded" if "grounding" in settings else guards
    with TemporaryDirectory() as passing:  # any scenario's machine has this table
        return machine_for(load("price_question"), Path(passing), engine).table


def state_at(seen: Events, table: Table | None) -> str:
    """Return the state of the run, or a loop's phase; "" where it has not begun."""
    if table:
        moves = [event["target"] for event in seen if event["kind"] == Kind.TRANSITION]
        return str([table.start, *moves][-1]) if seen else ""
    own = [event for event in seen if "parent" not in event]
    phases = [PHASES.get(event["kind"], event.get("state")) for event in own]
    return next(filter(None, reversed(phases)), "")


def budgets_at(seen: Events) -> list[tuple[str, int, float | None]]:
    """Return of each budget its name, what was spent of it, and its limit, if any."""
    own = [event for event in seen if "parent" not in event]
    refused, used = refused_at(seen), [event.get("usage") or {} for event in own]
    calls = [event["call_id"] for event in own if event["kind"] == Kind.TOOL_CALL]
    spent = {
        "steps": sum(event["kind"] == Kind.MODEL_REQUEST for event in own),
        "tool_calls": sum(call_id not in refused for call_id in calls),
        "tokens": sum(each.get("input", 0) + each.get("output", 0) for each in used),
    }
    settings = [event.get("settings", {}) for event in own]
    *_, limits = [{}, *(each["limits"] for each in settings if "limits" in each)]
    return [(name, number, limits.get(name)) for name, number in spent.items()]


def refused_at(seen: Events) -> set[str]:
    """Return the call_ids that a policy, a guard or a person refused: no such call."""
    found = [e for e in seen if e.get("event") in REFUSED or e.get("what") in REFUSED]
    return {event["call_id"] for event in found if event.get("call_id")}


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
    found = list[tuple[str, str]]()
    for entry in entries:
        wanted = entry.fields | {"kind": entry.kind}
        same = [event for event in seen if wanted.items() <= event.items()]
        texts = [summary(e) for e in same if ("parent" in e) == entry.nested]
        if entry.says:
            matches = [match for text in texts if (match := entry.says.search(text))]
            texts = [(m[min(entry.says.groups, 1)] or "").strip() for m in matches]
        numbered = enumerate(texts, 1)
        pairs = [(entry.label.replace("{n}", str(n)), text) for n, text in numbered]
        found += pairs[-1:] if entry.latest else pairs
    return found[:1] + found[1:][-3:]


def ways_at(seen: Events, table: Table) -> tuple[dict[Any, list[str]], bool]:
    """Return the ways to draw, events by (source, target), and if others are left out.

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
    labels = dict[Any, list[str]]()
    for way in dict.fromkeys(ways):  # a name has no sign of Mermaid's
        source, event, target = (re.sub(r"\W", "_", name) for name in way)
        labels.setdefault((source, target), []).append(event)
    return labels, is_part


def page(
    events: Events,
    position: int,
    table: Table | None = None,
    entries: Sequence[Punchline] = (),
    **about: Any,
) -> dict[str, str]:
    """Return the parts of the page by name, as HTML, and the diagram in Mermaid's."""
    seen = events[:position]
    talk = [e for e in seen if e["kind"] in (Kind.MODEL_REQUEST, Kind.MODEL_TURN)]
    asked = [event for event in talk if event["kind"] == Kind.MODEL_REQUEST][-1:]
    is_nested = any("parent" in event for event in asked)  # to a tool's own model
    parts, new_from = shown.prompt_parts(Trace(seen))
    if is_nested:
        parts, new_from = shown.parts_of(asked[0]["prompt"]), 0
    turn = talk[-1:] if talk[-1:] != asked else []
    ways, is_part = ways_at(seen, table) if table else ({}, False)
    run = {"seen": seen, "all": len(events), "pins": pins_at(entries, seen)}
    run |= {"budgets": budgets_at(seen or events[:1]), "ways": ways, "is_part": is_part}
    run |= {"state": state_at(seen, table), "refused_calls": refused_at(seen)}
    run |= {"parts": parts, "new_from": new_from, "is_nested": is_nested}
    run |= {"turn": [part for e in turn for part in shown.parts_of(as_response(e))]}
    run |= {"phases": [*PHASES.values()] if events and not table else []}
    run |= {"asked": events[0].get("question", "") if events else "", **about}
    return {name: write(name, run).strip() for name in (*PARTS, "diagram")}
