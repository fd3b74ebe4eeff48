"""A trace and a place in it: what had happened by then, and what was about to.

The player shows this; it knows no widget, no thread and no file. A run that is still
going on and one that was saved last week are the same here: events, some of them seen.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from workbook.fsm.table import CORE, TERMINAL, Event, Rule, State, Table, mermaid
from workbook.record.events import Kind, TraceEvent
from workbook.record.trace import Trace
from workbook.stage.phases import loop_diagram, phases_of

SELDOM = (
    Event.CANCEL,
    Event.FAILED,
    Event.OUT_OF_STEPS,
    Event.OUT_OF_TOOL_CALLS,
    Event.OUT_OF_TIME,
    Event.OUT_OF_TOKENS,
    Event.OUT_OF_MONEY,
)
"""Events whose rows are drawn only when they were taken, so that one can read the rest.

The whole table has its own diagram: `table.mermaid()`.
"""


class Sent(NamedTuple):
    """A prompt in two parts: what the model had been sent before, and what is new.

    `nested` is true when a tool asked, and not the agent itself.
    """

    seq: int
    old: str
    new: str
    nested: bool

    def to_html(self) -> str:
        """Return the prompt with its new part marked; all of it is escaped."""
        mark = "background:#ffe08a;color:#000"
        return (
            f"{html.escape(self.old)}<mark class='new' style='{mark}'>"
            f"{html.escape(self.new)}</mark>"
        )


class Budget(NamedTuple):
    """What may be spent of one thing; `limit` is infinite where there is none."""

    name: str
    spent: float
    limit: float

    @property
    def left(self) -> float:
        """What may still be spent, never below nothing."""
        return max(0, self.limit - self.spent)


@dataclass
class Playback:
    """Events, and how many of them are wanted on view.

    Args:
        events: in order; `add` appends to them.
        wanted: how many are to be shown once they are there; infinite follows a run.
        table: the table of the machine that wrote them; rows that it lacks and that
            the events show are added.
        engine: which one is going to play, where no event says so yet.
    """

    events: list[TraceEvent] = field(default_factory=list)
    wanted: float = 0
    table: Table = CORE
    engine: str = ""

    @classmethod
    def of(cls, trace: Trace, table: Table = CORE, engine: str = "") -> Playback:
        """Return a playback of a trace, before its first event."""
        return cls(list(trace), table=table, engine=engine)

    def add(self, event: TraceEvent) -> None:
        """Take the next event of a run that goes on."""
        self.events.append(event)

    @property
    def position(self) -> int:
        """How many events have been seen."""
        return int(min(self.wanted, len(self.events)))

    @property
    def seen(self) -> list[TraceEvent]:
        """The events up to here."""
        return self.events[: self.position]

    @property
    def current(self) -> TraceEvent | None:
        """The event seen last, or None before the first."""
        return self.events[self.position - 1] if self.position else None

    @property
    def at_end(self) -> bool:
        """Whether every event has been seen."""
        return self.position == len(self.events)

    def forward(self) -> None:
        """See one more event, as soon as there is one."""
        self.wanted = self.position + 1

    def back(self) -> None:
        """See one less."""
        self.wanted = max(0, self.position - 1)

    def seek(self, position: int) -> None:
        """See so many."""
        self.wanted = max(0, position)

    def follow(self) -> None:
        """See everything, also what is still to come."""
        self.wanted = math.inf

    def reset(self) -> None:
        """See nothing."""
        self.wanted = 0

    @property
    def is_machine(self) -> bool:
        """Whether the engine has states: it wrote transitions, or says that it will."""
        if not self.events:
            return self.engine == "fsm"
        return any(
            event["kind"] == Kind.TRANSITION or event.get("engine") == "fsm"
            for event in self.events
        )

    @property
    def lit(self) -> str | None:
        """The state, or the phase, in which the run is now."""
        if not self.is_machine:
            phases = phases_of(self.seen)
            return phases[-1] if phases else None
        rules = _rules(self.seen)
        if rules:
            return rules[-1].target
        return self.table.start if self.seen else None

    def diagram(self) -> str:
        """Return the engine's states or phases as Mermaid, the lit one marked."""
        if not self.is_machine:
            return loop_diagram(self.events, self.lit)
        taken = {rule[:3]: rule for rule in _rules(self.events)}
        rows = {
            rule[:3]: rule
            for rule in self.table.rules
            if rule.event not in SELDOM or rule[:3] in taken
        }
        lit = State(self.lit) if self.lit else None
        shown = Table(tuple({**rows, **taken}.values()), self.table.start)
        # Upright: in half a page's width its words stay large enough for a class.
        return mermaid(shown, lit).replace("direction LR", "direction TB")

    def sent(self) -> Sent | None:
        """Return the prompt that was sent last, or None when none was."""
        requests = [e for e in self.seen if e["kind"] == Kind.MODEL_REQUEST]
        if not requests:
            return None
        event = requests[-1]
        whole = Trace(tuple(self.seen)).prompt(event["seq"])
        old, new = whole[: event["kept"]], whole[event["kept"] :]
        return Sent(event["seq"], as_text(old), as_text(new), "parent" in event)

    def turn(self) -> TraceEvent | None:
        """Return the answer to that prompt, or None while there is none."""
        for event in reversed(self.seen):
            if event["kind"] == Kind.MODEL_TURN:
                return event
            if event["kind"] == Kind.MODEL_REQUEST:
                return None
        return None

    def budgets(self) -> list[Budget]:
        """Return what the run has spent and may spend, as far as it says so."""
        if not self.seen:
            return []
        limits = self.seen[0].get("limits") or {}
        own = [event for event in self._while_live() if "parent" not in event]
        kinds = [event["kind"] for event in own]
        spent = {
            "steps": kinds.count(Kind.MODEL_REQUEST),
            "tool_calls": kinds.count(Kind.TOOL_CALL),
            "wall_s": self.seen[-1]["at_s"] - self.seen[0]["at_s"],
        }
        return [Budget(name, spent[name], _limit(limits, name)) for name in spent]

    @property
    def asked_by_tools(self) -> int:
        """How often a tool asked the model; these are no steps of the agent."""
        asked = (e for e in self.seen if e["kind"] == Kind.MODEL_REQUEST)
        return sum("parent" in event for event in asked)

    def _while_live(self) -> list[TraceEvent]:
        """Leave out the calls that were closed unmade after the end was reached."""
        for number, event in enumerate(self.seen):
            if event["kind"] == Kind.TRANSITION and event["target"] in TERMINAL:
                return self.seen[:number]
        return self.seen


def as_text(prompt: str | list[Any]) -> str:
    """Return a prompt as text; of messages, role and content, one after the other.

    >>> as_text([{"role": "user", "content": "2+2?"}])
    'user: 2+2?\\n'
    """
    if isinstance(prompt, str):
        return prompt
    lines = []
    for message in prompt:
        role, content = message.get("role", "?"), message.get("content", "")
        calls = message.get("tool_calls")
        shown = (
            f"{content} {json.dumps(calls, ensure_ascii=False)}" if calls else content
        )
        lines.append(f"{role}: {str(shown).strip()}\n")
    return "".join(lines)


def _limit(limits: dict[str, Any], name: str) -> float:
    value = limits.get(name)
    return math.inf if value is None else float(value)


def _rules(events: Iterable[TraceEvent]) -> list[Rule]:
    """Return the rows that were taken; a word that no machine has is left out."""
    rules = []
    for event in events:
        if event["kind"] == Kind.TRANSITION:
            try:
                source, target = State(event["source"]), State(event["target"])
                rules.append(Rule(source, Event(event["event"]), target, event["why"]))
            except ValueError:
                continue
    return rules
