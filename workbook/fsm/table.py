"""The machine as data: a table of rows that say which state and event lead where.

The table is the program. Whatever wants to know what the machine can do reads it: the
driver, the audit, the diagram, the tests. It knows no model, no tool and no clock.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple


class State(StrEnum):
    """Where a run can be. The last six are ends."""

    SCREEN = "SCREEN"
    THINK = "THINK"
    POLICY = "POLICY"
    PENDING_APPROVAL = "PENDING_APPROVAL"
    EXECUTE_TOOL = "EXECUTE_TOOL"
    OBSERVE = "OBSERVE"
    VERIFY = "VERIFY"
    DONE = "DONE"
    REFUSED = "REFUSED"
    EXHAUSTED = "EXHAUSTED"
    STUCK = "STUCK"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"


TERMINAL = frozenset(
    {
        State.DONE,
        State.REFUSED,
        State.EXHAUSTED,
        State.STUCK,
        State.CANCELLED,
        State.ERROR,
    }
)


class Event(StrEnum):
    """What can happen. A handler returns one of these, and never a state."""

    # lesson 05: the core
    TOOL_REQUESTED = "tool_requested"
    FINAL_ANSWER = "final_answer"
    UNREADABLE_TURN = "unreadable_turn"
    TOOL_RETURNED = "tool_returned"
    OBSERVED = "observed"
    MORE_CALLS = "more_calls"
    OUT_OF_STEPS = "out_of_steps"
    OUT_OF_TOOL_CALLS = "out_of_tool_calls"
    OUT_OF_TIME = "out_of_time"
    CANCEL = "cancel"
    FAILED = "failed"
    # lesson 06: who says stop?
    ALLOWED = "allowed"
    DENIED = "denied"
    APPROVAL_NEEDED = "approval_needed"
    APPROVED = "approved"
    REJECTED = "rejected"
    OUT_OF_TOKENS = "out_of_tokens"
    OUT_OF_MONEY = "out_of_money"
    LOOP_FOUND = "loop_found"
    # lesson 08: is it true, and is it safe?
    SCREENED = "screened"
    SUSPICIOUS = "suspicious"
    DRAFTED = "drafted"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNANSWERABLE = "unanswerable"


class Rule(NamedTuple):
    """One row: in `source`, when `event` happens, go to `target`, and `why`."""

    source: State
    event: Event
    target: State
    why: str


class IllegalTransition(LookupError):  # noqa: N818 - what happened, not an error's name
    """A state was asked about an event for which the table has no row."""


@dataclass(frozen=True, repr=False)
class Table:
    """Rows, and the state in which a run starts.

    It contains the states that its rows mention, and no others.
    """

    rules: tuple[Rule, ...]
    start: State = State.THINK

    @cached_property
    def rows(self) -> dict[tuple[State, Event], Rule]:
        """The rows by source and event."""
        return {(rule.source, rule.event): rule for rule in self.rules}

    @cached_property
    def states(self) -> tuple[State, ...]:
        """The start and every state that a row mentions, in the order of `State`."""
        named = {self.start}.union(*((rule.source, rule.target) for rule in self.rules))
        return tuple(state for state in State if state in named)

    def with_rules(self, *rules: Rule, start: State | None = None) -> Table:
        """Return a table with more rows; a row for the same event replaces the old."""
        rows = {(rule.source, rule.event): rule for rule in (*self.rules, *rules)}
        return Table(tuple(rows.values()), start or self.start)

    def __repr__(self) -> str:
        rows = ", ".join(f"{r.source} -{r.event}-> {r.target}" for r in self.rules)
        return f"<Table from {self.start}: {rows}>"

    def advance(self, state: State, event: Event) -> State:
        """Return the next state; see `advance`."""
        return advance(self, state, event)

    def audit(self) -> list[str]:
        """Return what is wrong with the table, in sentences; see `audit`."""
        return audit(self)

    def mermaid(self, highlight: State | None = None) -> str:
        """Return the diagram; see `mermaid`."""
        return mermaid(self, highlight)


def advance(table: Table, state: State, event: Event) -> State:
    """Return the state that follows. The only place where a state changes.

    Raises:
        IllegalTransition: the table has no such row.

    >>> advance(CORE, State.THINK, Event.FINAL_ANSWER)
    <State.DONE: 'DONE'>
    """
    rule = table.rows.get((state, event))
    if rule is None:
        legal = [rule.event for rule in table.rules if rule.source == state]
        raise IllegalTransition(
            f"in {state} nothing is said about {event}; "
            f"legal there: {', '.join(legal) or 'nothing, it is an end'}"
        )
    return rule.target


def audit(table: Table) -> list[str]:
    """Return a sentence for each breach of the four promises; none when honest.

    One event, one way; every state can be reached; from every live state an end can
    be reached; nothing leads out of an end.

    >>> audit(Table((Rule(State.THINK, Event.OBSERVED, State.THINK, "again"),)))
    ['THINK is a trap: no path leads from it to an end']
    """
    counts = Counter((rule.source, rule.event) for rule in table.rules)
    reached = _closure({table.start}, [(r.source, r.target) for r in table.rules])
    ending = _closure(TERMINAL, [(r.target, r.source) for r in table.rules])
    breaches = [
        f"{state} has {n} rows for {event}: one event, one way"
        for (state, event), n in counts.items()
        if n > 1
    ]
    breaches += [
        f"{state} is never reached: no path leads to it from {table.start}"
        for state in table.states
        if state not in reached
    ]
    breaches += [
        f"{state} is a trap: no path leads from it to an end"
        for state in table.states
        if state not in ending
    ]
    breaches += [
        f"{rule.source} is an end, but {rule.event} leads on to {rule.target}"
        for rule in table.rules
        if rule.source in TERMINAL
    ]
    return breaches


def mermaid(table: Table, highlight: State | None = None) -> str:
    """Return a Mermaid `stateDiagram-v2` of the table, `highlight` lit."""
    lines = ["stateDiagram-v2", "    direction LR", f"    [*] --> {table.start}"]
    lines += [f"    {r.source} --> {r.target} : {r.event}" for r in table.rules]
    lines += [f"    {state} --> [*]" for state in table.states if state in TERMINAL]
    if highlight in table.states:
        lines.append("    classDef now fill:#ffd54f,stroke:#5d4037,color:#000")
        lines.append(f"    class {highlight} now")
    return "\n".join(lines)


def _closure(seeds: Iterable[State], arrows: list[tuple[State, State]]) -> set[State]:
    """Return the seeds and all states to which arrows lead from them."""
    found = set(seeds)
    while new := {end for begin, end in arrows if begin in found} - found:
        found |= new
    return found


def exits(*states: State) -> tuple[Rule, ...]:
    """Return the two rows that every live state needs: cancel and failure."""
    return tuple(
        rule
        for state in states
        for rule in (
            Rule(state, Event.CANCEL, State.CANCELLED, "the user said stop"),
            Rule(state, Event.FAILED, State.ERROR, "something raised"),
        )
    )


# In each state the ends come first: so Mermaid draws no label on top of another.
# fmt: off
CORE = Table((
    Rule(State.THINK, Event.FINAL_ANSWER, State.DONE,
         "the model gave its answer"),
    Rule(State.THINK, Event.OUT_OF_STEPS, State.EXHAUSTED,
         "another model call is not allowed"),
    Rule(State.THINK, Event.OUT_OF_TIME, State.EXHAUSTED,
         "no time is left for a model call"),
    Rule(State.THINK, Event.TOOL_REQUESTED, State.EXECUTE_TOOL,
         "the model asked for a tool"),
    Rule(State.THINK, Event.UNREADABLE_TURN, State.OBSERVE,
         "tell the model what could not be read"),
    Rule(State.EXECUTE_TOOL, Event.OUT_OF_TOOL_CALLS, State.EXHAUSTED,
         "another tool call is not allowed"),
    Rule(State.EXECUTE_TOOL, Event.OUT_OF_TIME, State.EXHAUSTED,
         "no time is left for a tool call"),
    Rule(State.EXECUTE_TOOL, Event.TOOL_RETURNED, State.OBSERVE,
         "a result or an error: both are observations"),
    Rule(State.OBSERVE, Event.MORE_CALLS, State.EXECUTE_TOOL,
         "the same message asked for more"),
    Rule(State.OBSERVE, Event.OBSERVED, State.THINK,
         "the model has seen it, its turn"),
    *exits(State.THINK, State.EXECUTE_TOOL, State.OBSERVE),
))
"""The machine of lesson 05."""
# fmt: on
