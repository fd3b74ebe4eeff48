"""A trace and a place in it: what had happened by then, and what was about to.

A run that still goes on and one that was saved are the same: events, some of them seen.
What the player says is in `data/pages/player.toml`.
"""

from __future__ import annotations

import itertools
import math
import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbook.fsm.table import CORE, State, Table
from workbook.grounding.grounded import Ground
from workbook.guardrails.table import GUARDED, GuardState
from workbook.models.prompts import render_messages
from workbook.paths import DATA
from workbook.playground.engines import SUSPICIOUS
from workbook.playground.punchline import DEFAULT, Pin, Punchline, pins
from workbook.playground.spent import Budget, budgets
from workbook.security.tainted import ADDRESS
from workbook.traces import Kind, Trace, TraceEvent
from workbook.traces.mermaid import escape_mermaid

TEXTS = tomllib.loads((DATA / "pages/player.toml").read_text(encoding="utf-8"))
START = "ASK_MODEL"
PHASES: dict[str, str] = TEXTS["phases"]
LOOP = {(source, target): label for source, target, label in TEXTS["loop"]}
WORDS: dict[str, str] = TEXTS["words"]

Arrow = tuple[str, str, str]  # from one state, or phase, to another, and why


class Sent(NamedTuple):
    """A prompt: what the model had been sent before, and what is new."""

    seq: int
    old: str
    new: str
    nested: bool  # a tool asked, and not the agent itself


@dataclass
class Playback:
    """Events, to which a run may append, how many are wanted, a machine's table."""

    events: list[TraceEvent] = field(default_factory=list)
    wanted: float = 0
    table: Table | None = None
    written: str = ""  # of the turn that is being written
    punchline: Sequence[Punchline] = DEFAULT  # what stays in view
    until_turn: bool = False  # the next turn is wanted, and has yet to come

    @classmethod
    def of(cls, trace: Trace) -> Playback:
        """Return a playback of a trace; without transitions it has no states."""
        moved = [event["source"] for event in trace.of(Kind.TRANSITION)]
        table = GUARDED if trace and "mode" in trace.events[0] else CORE
        table = SUSPICIOUS if Ground.RECALL in moved else table
        return cls(list(trace), table=table if moved else None)

    def add(self, event: TraceEvent) -> None:
        """Take down one more event."""
        if event["kind"] == Kind.MODEL_REQUEST:
            self.written = ""
        self.events.append(event)
        if self.until_turn and _is_turn(event):
            self.seek(len(self.events))

    def hear(self, piece: str) -> None:
        """Take down one more piece of the turn that is being written."""
        self.written += piece

    @property
    def position(self) -> int:
        """How many events have been seen."""
        return int(min(self.wanted, len(self.events)))

    @property
    def seen(self) -> list[TraceEvent]:
        """The events up to here."""
        return self.events[: self.position]

    @property
    def at_end(self) -> bool:
        """Whether every event has been seen."""
        return self.position == len(self.events)

    def seek(self, position: float) -> None:
        """See so many, as soon as they are there; infinitely many are all of them."""
        self.until_turn, self.wanted = False, max(0, position)

    def move(self, events: int) -> None:
        """See so many more, or less."""
        self.seek(self.position + events)

    def next_turn(self) -> None:
        """See what the model says next, or all that is still to come without it."""
        at = self.position
        self.until_turn, self.wanted = True, math.inf
        if later := [n for n in self.turns if n > at]:
            self.seek(later[0])

    def last_turn(self) -> None:
        """See what the model had said before, or nothing."""
        self.seek(max([n for n in self.turns if n < self.position], default=0))

    @property
    def turns(self) -> list[int]:
        """After how many events each of the agent's turns had been written."""
        return [n for n, e in enumerate(self.events, start=1) if _is_turn(e)]

    @property
    def used_up(self) -> bool:
        """Whether a script ended the run: it has no turn for what it was asked."""
        last: dict[str, Any] = self.seen[-1] if self.seen else {}
        why = f"{last.get('reason')} {last.get('message')}"
        return "ScriptExhausted" in why and last["kind"] == Kind.RUN_FINISHED

    def pins(self) -> list[Pin]:
        """Return what stays in view, of what has been seen."""
        return pins(self.punchline, self.seen)

    @property
    def stations(self) -> list[str]:
        """Where the run can stand if all goes well, and where it does."""
        arrows = [*self._usual(), *self._taken(self.seen)[-1:]]
        ends = [end for end in _ends(arrows) if end in (State.DONE, self.lit)]
        return [*dict.fromkeys(source for source, *_ in arrows), *ends]

    @property
    def lit(self) -> str | None:
        """The state, or the phase, in which the run is now; None before it begins."""
        if not self.seen:
            return None
        taken = self._taken(self.seen)
        return taken[-1][1] if taken else self._start

    @property
    def phase(self) -> str:
        """What goes on in that state, in words; "" at an end, and without states."""
        last = next((e for e in reversed(self.seen) if "parent" not in e), None)
        if last is None or self.table is None or last["kind"] == Kind.RUN_FINISHED:
            return ""
        if last["kind"] == Kind.DECISION:
            return f"{last['who']}: {last['what']}"
        return WORDS.get(str(last["kind"])) or WORDS.get(self.lit or "", "")

    @property
    def labels(self) -> list[str]:
        """What the run carries by now: "outside" once it has read such a text."""
        said = [e for e in self.seen if e.get("who") == "taint" and "labels" in e]
        return list(said[-1]["labels"]) if said else []

    def from_outside(self, event: TraceEvent) -> bool:
        """Whether this tells the model what others wrote: between the run's fences."""
        nonces = [e["nonce"] for e in self.seen if "nonce" in e]
        text = str(event.get("prompt", ""))
        return any(f"<<outside {nonce}>>" in text for nonce in nonces)

    def asked(self) -> str:
        """Say which call waits for a person, as the model wrote it; "" for none."""
        turns = Trace(tuple(self.seen)).of(Kind.MODEL_TURN)
        moved = Trace(tuple(self.seen)).of(Kind.TRANSITION)
        if moved and ADDRESS in (self.lit, moved[-1]["source"]):
            said = [
                e for e in self.seen if e.get("who") == "taint" and "addresses" in e
            ]
            return ", ".join(said[-1]["addresses"])
        if (
            self.lit not in (GuardState.PENDING_APPROVAL, GuardState.PENDING)
            or not turns
        ):
            return ""
        calls = (turns[-1]["turn"] or {}).get("calls") or [turns[-1]["turn"]]
        asked = (call for call in calls if call.get("call_id") == moved[-1]["call_id"])
        call = next(asked, calls[0])
        return f"{moved[-1]['tool']}({call.get('arguments', call.get('input'))})"

    def diagram(self) -> str:
        """Return the engine's states or phases as Mermaid, the lit one marked."""
        arrows = dict.fromkeys([*self._usual(), *self._taken(self.seen)])
        # Upright: in half a page's width its words stay large enough for a class.
        lines = ["stateDiagram-v2", "    direction TB", f"    [*] --> {self._start}"]
        for source, target, label in arrows:
            told = f" : {escape_mermaid(label)}" if label else ""
            lines.append(f"    {source} --> {target}{told}")
        lines += [f"    {end} --> [*]" for end in _ends(arrows)]
        if self.lit:
            lines.append("    classDef now fill:#ffd54f,stroke:#5d4037,color:#000")
            lines.append(f"    class {self.lit} now")
        return "\n".join(lines)

    @property
    def _start(self) -> str:
        return self.table.start if self.table else START

    def _usual(self) -> list[Arrow]:
        if self.table is None:
            return [(*arrow, label) for arrow, label in LOOP.items()]
        return [
            (rule.source, rule.target, rule.event)
            for rule in self.table.rules  # but not the ways to its odd ends
            if rule.target == State.DONE or rule.target not in self.table.ends
        ]

    def _taken(self, events: list[TraceEvent]) -> list[Arrow]:
        if self.table is None:
            return _phases_taken(events)
        return [
            (_word(event["source"]), _word(event["target"]), event["event"])
            for event in events
            if event["kind"] == Kind.TRANSITION
        ]

    def sent(self) -> Sent | None:
        """Return the prompt that was sent last, or None when none was."""
        trace = Trace(tuple(self.seen))
        if not (requests := trace.of(Kind.MODEL_REQUEST)):
            return None
        seq, kept = requests[-1]["seq"], requests[-1]["kept"]
        whole = trace.prompt(seq)
        parts = (whole[:kept], whole[kept:])
        old, new = (p if isinstance(p, str) else render_messages(p) for p in parts)
        return Sent(seq, old, new, "parent" in requests[-1])

    def turn(self) -> TraceEvent | None:
        """Return the answer to that prompt, or None while there is none."""
        said = Trace(tuple(self.seen)).of(Kind.MODEL_REQUEST, Kind.MODEL_TURN)
        return said[-1] if said and said[-1]["kind"] == Kind.MODEL_TURN else None

    def budgets(self) -> list[Budget]:
        """Return what was spent, not counting calls closed unmade, and what is left."""
        return budgets(self.seen, self.table)


def _is_turn(event: TraceEvent) -> bool:
    return event["kind"] == Kind.MODEL_TURN and "parent" not in event


def _phases_taken(events: list[TraceEvent]) -> list[Arrow]:
    """Return the arrows between a loop's phases, and to its end with the reason."""
    own = (event["kind"] for event in events if "parent" not in event)
    phases = [(PHASES[kind], "") for kind in own if kind in PHASES]
    if events and events[-1]["kind"] == Kind.RUN_FINISHED:
        phases = phases or [(START, "")]  # it may have ended before it asked
        phases.append((_word(events[-1]["state"]), str(events[-1]["reason"])))
    return [
        (source, target, LOOP.get((source, target), reason))
        for (source, _), (target, reason) in itertools.pairwise(phases)
    ]


def _ends(arrows: Iterable[Arrow]) -> list[str]:
    """Return where arrows lead and none leads on, in the order of the arrows."""
    arrows = list(arrows)
    sources = {source for source, *_ in arrows}
    return list(dict.fromkeys(end for _, end, _ in arrows if end not in sources))


def _word(name: Any) -> str:
    """Return a name that is one word in Mermaid, whatever a trace has there."""
    return re.sub(r"\W", "_", str(name)) or "_"
