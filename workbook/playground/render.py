"""What the player shows of a run: events and a place among them in, HTML out.

`render` knows no widget and no thread, and keeps nothing. Its words are in
`data/pages/player.toml`, its HTML in `player.html` beside it.
"""

import itertools
import tomllib
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from workbook.pages import template
from workbook.paths import DATA
from workbook.playground.engines import GUARDED, SUSPICIOUS
from workbook.playground.punchline import DEFAULT, Punchline, pins, told
from workbook.runtime.messages import render_messages
from workbook.runtime.table import CORE, State, Table
from workbook.runtime.trace import Event, Kind, Trace
from workbook.views.drawing import Arrow, states
from workbook.views.show import VOICES, call, summary, to_html, turn_of, voice

TEXTS = tomllib.loads((DATA / "pages/player.toml").read_text(encoding="utf-8"))
PARTS = ["status", "question", "diagram", "budgets", "pins", "events", "now"]
PARTS += ["prompt", "turn"]
REFUSED = ("denied", "rejected")  # events after which a call was not made
MANY = 10  # arrows, of which only those about the lit state are drawn
START = "ASK_MODEL"  # of a loop, which has phases in place of states
PHASES: Mapping[str, str] = TEXTS["phases"]
Events = Sequence[Event]


def render(
    events: Events,
    position: int,
    table: Table | None,
    entries: Sequence[Punchline] = DEFAULT,
    **told: object,
) -> dict[str, str]:
    """Return the parts of the page by name, as HTML; what others wrote is escaped.

    Args:
        events: what has happened; of it, `position` events have been seen.
        table: the machine's; None where an engine has no states.
        entries: what stays in view once it has happened.
        told: what is in no event: `title`, `problem` (why there is no run), `running`,
            `waits` (the tool about which a person is asked), `stopped` (by the user),
            `written` (of a turn so far), `shown` (how often the page was).
    """
    seen = events[:position]
    ways = taken(seen, table)
    arrows = tuple(dict.fromkeys([*usual(table), *ways]))
    start = table.start if table else START
    here = (ways[-1][1] if ways else start) if seen else None
    near, last = None, ways[-1] if ways else None
    if len(arrows) > MANY:  # all of them would be a thicket
        near = frozenset(a for a in arrows if a[0] == (here or start) or a == last)
    title = f"The states of the run, now {here or 'not begun'}"
    run = {
        "seen": seen,
        "later": len(events) - position,
        "table": table,
        "labels": [e["labels"] for e in seen if "labels" in e][-1:],
        "outside": [f"<<outside {e['nonce']}>>" for e in seen if "nonce" in e],
        "diagram": states(arrows, start, title, here, near, last),
        "near": near,
        "lit": here,
        "budgets": budgets(seen),
        "pins": pins(entries, seen),
        "prompt": sent(seen),
        "turn": turn(seen),
        "told": told,
    }
    return {name: str(getattr(macros(), name)(run)).strip() for name in PARTS}


def macros() -> Any:
    """Return the macros of the player's page."""
    known: Any = {"summary": summary, "voice": voice, "voices": VOICES, "told": told}
    known |= {"as_call": call, "texts": TEXTS}
    return template("player.html", **known).module


def static_html(trace: Trace, table: Table | None, title: str) -> str:
    """Return the whole run as text, for pages on which widgets do not run."""
    parts = render(trace.events, len(trace), table)
    return str(macros().static(title, to_html(trace), parts))


def table_of(trace: Trace) -> Table | None:
    """Return the table of the machine that wrote a trace; None of an engine without."""
    guards = trace.events[0].get("settings") if trace.events else None
    if guards is None:
        return None
    guarded = GUARDED if "permission" in guards else CORE
    return SUSPICIOUS if "grounding" in guards else guarded


def is_turn(event: Event) -> bool:
    """Say whether the agent's model has spoken here, and not one that a tool asked."""
    return event["kind"] == Kind.MODEL_TURN and "parent" not in event


def usual(table: Table | None) -> list[Arrow]:
    """Return the ways that a run takes if all goes well, and those to DONE."""
    if table is None:
        return [(source, target, label) for source, target, label in TEXTS["loop"]]
    return [
        (rule.source, rule.target, rule.event)
        for rule in table.rules  # but not the ways to its odd ends
        if rule.target == State.DONE or rule.target not in table.ends
    ]


def taken(seen: Events, table: Table | None) -> list[Arrow]:
    """Return the ways that were taken, in their order."""
    if table is not None:
        moves = [event for event in seen if event["kind"] == Kind.TRANSITION]
        return [(e["source"], e["target"], e["event"]) for e in moves]
    kinds = [event["kind"] for event in seen if "parent" not in event]
    places = [(PHASES[kind], "") for kind in kinds if kind in PHASES]
    if seen and seen[-1]["kind"] == Kind.RUN_FINISHED:  # perhaps before it asked
        end = (seen[-1]["state"], seen[-1]["reason"])
        places = [*(places or [(START, "")]), end]
    words = {(source, target): label for source, target, label in usual(None)}
    return [
        (source, target, words.get((source, target), reason))
        for (source, _), (target, reason) in itertools.pairwise(places)
    ]


def sent(seen: Events) -> dict[str, Any] | None:
    """Return the prompt that was sent last, the old part and the new; None of none."""
    trace = Trace(tuple(seen))
    if not (requests := trace.of(Kind.MODEL_REQUEST)):
        return None
    seq, kept = requests[-1]["seq"], requests[-1]["kept"]
    whole = trace.prompt(seq)
    parts = (whole[:kept], whole[kept:])
    old, new = (p if isinstance(p, str) else render_messages(p) for p in parts)
    return {"seq": seq, "old": old, "new": new, "nested": "parent" in requests[-1]}


def turn(seen: Events) -> Event | None:
    """Return the answer to that prompt, with what was read in it as its `turn`."""
    both = (Kind.MODEL_REQUEST, Kind.MODEL_TURN)
    last = next((event for event in reversed(seen) if event["kind"] in both), None)
    if last is None or last["kind"] != Kind.MODEL_TURN:
        return None
    run = seen[0]
    return {**last, "turn": turn_of(last, run.get("chat", False), run.get("tools", ()))}


class Budget(NamedTuple):
    """What was spent of one thing, and is left; without a limit both are None."""

    name: str
    spent: int
    limit: int | None
    left: int | None


def budgets(seen: Events) -> list[Budget]:
    """Return what was spent, not counting calls that were refused, and what is left."""
    if not seen:
        return []
    kinds = [event["kind"] for event in seen if "parent" not in event]
    limits: Mapping[str, Any] = {}
    for event in seen:
        limits = event.get("settings", {}).get("limits", limits)
    refused = {e.get("call_id") for e in seen if e.get("event") in REFUSED} - {None}
    usages = [event["usage"] or {} for event in seen if is_turn(event)]
    read, wrote = (sum(u.get(n, 0) for u in usages) for n in ("input", "output"))
    spent = {
        "steps": kinds.count(Kind.MODEL_REQUEST),
        "tool_calls": kinds.count(Kind.TOOL_CALL) - len(refused),
    }
    tokens = {"input_tokens": read, "output_tokens": wrote, "tokens": read + wrote}
    spent |= {name: n for name, n in tokens.items() if limits.get(name) is not None}
    found = []
    for name, used in spent.items():
        limit = limits.get(name)
        left = None if limit is None else max(0, limit - used)
        found.append(Budget(name, used, limit, left))
    return found
