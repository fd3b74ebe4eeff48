"""The machine as data: a table of rows that say which state and event lead where.

The table is the program. Whatever wants to know what the machine can do reads it: the
driver, the audit, the diagram, the tests. It knows no model, no tool and no clock, and
its words are plain: a state and an event are any names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, TypeVar

C = TypeVar("C")


class State:
    """The states of `agent_table`. Another table may have any others."""

    THINK = "THINK"
    EXECUTE_TOOL = "EXECUTE_TOOL"
    OBSERVE = "OBSERVE"
    DONE = "DONE"
    EXHAUSTED = "EXHAUSTED"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"


class Event:
    """What can happen in `agent_table`. A handler returns an event, never a state."""

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


ENDS = frozenset({State.DONE, State.EXHAUSTED, State.CANCELLED, State.ERROR})


class Transition(NamedTuple):
    """One row: in `source`, when `event` happens, go to `target`, and `why`."""

    source: str
    event: str
    target: str
    why: str = ""


class IllegalTransition(LookupError):  # noqa: N818 - what happened, not an error's name
    """A state has no row for an event."""


@dataclass(frozen=True, repr=False)
class Table:
    """Rows, the state in which a run starts, and the states in which it ends."""

    rules: tuple[Transition, ...]
    start: str = State.THINK
    ends: Iterable[str] = ENDS
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict, compare=False)
    """An `advance` and an `audit` of your own."""

    def __post_init__(self) -> None:
        if isinstance(self.ends, str):
            raise TypeError(f"ends is the text {self.ends!r}: give a set of states")
        object.__setattr__(self, "rules", tuple(Transition(*row) for row in self.rules))
        object.__setattr__(self, "ends", frozenset(self.ends))

    @cached_property
    def rows(self) -> dict[tuple[str, str], Transition]:
        """The rows by source and event."""
        return {(rule.source, rule.event): rule for rule in self.rules}

    @cached_property
    def states(self) -> tuple[str, ...]:
        """The start and every state that a row mentions; the ends come last."""
        named = [self.start]
        for rule in self.rules:
            named += [rule.source, rule.target]
        return tuple(sorted(dict.fromkeys(named), key=lambda state: state in self.ends))

    def with_rules(
        self, *rules: Transition, start: str | None = None, ends: Iterable[str] = ()
    ) -> "Table":
        """Return a table with more rows; one for the same state and event replaces."""
        rows = {(rule.source, rule.event): rule for rule in (*self.rules, *rules)}
        start, ends = start or self.start, {*self.ends, *ends}
        return replace(self, rules=tuple(rows.values()), start=start, ends=ends)

    def using(self, **parts: Callable[..., Any]) -> "Table":
        """Return the same table with an `advance` or `audit` of your own."""
        return replace(self, parts={**self.parts, **parts})

    def __repr__(self) -> str:
        rows = [f"{r.source} -{r.event}-> {r.target}" for r in self.rules]
        shown = ", ".join(rows) if len(rows) <= 6 else f"{len(rows)} rows"
        return f"<Table from {self.start}: {shown}>"

    @cached_property
    def advance(self) -> Callable[[str, str], str]:
        """The function from a state and an event to the next state; see `advance`."""
        return partial(self.parts.get("advance", advance), self)

    def audit(self) -> list[str]:
        """Return what is wrong with the table, in sentences; see `audit`."""
        breaches: list[str] = self.parts.get("audit", audit)(self)
        return breaches

    def mermaid(self, highlight: str | None = None) -> str:
        """Return a Mermaid `stateDiagram-v2` of the rows, one state highlighted."""
        lines = ["stateDiagram-v2", "    direction LR", f"    [*] --> {self.start}"]
        lines += [f"    {r.source} --> {r.target} : {r.event}" for r in self.rules]
        lines += [f"    {state} --> [*]" for state in self.states if state in self.ends]
        if highlight in self.states:
            lines.append("    classDef now fill:#ffd54f,stroke:#5d4037,color:#000")
            lines.append(f"    class {highlight} now")
        return "\n".join(lines)


def advance(table: Table, state: str, event: str) -> str:
    """Return the state that follows, or raise IllegalTransition."""
    row = table.rows.get((state, event))
    if row is None:
        legal = [rule.event for rule in table.rules if rule.source == state]
        words = f"legal there: {', '.join(legal) or 'nothing'}"
        raise IllegalTransition(f"{state} has no row for {event}; {words}")
    return row.target


def audit(table: Table) -> list[str]:
    """Return a sentence for each violation of an invariant; [] if all four hold."""
    counts = Counter((rule.source, rule.event) for rule in table.rules)
    reached = _closure({table.start}, [(r.source, r.target) for r in table.rules])
    ending = _closure(table.ends, [(r.target, r.source) for r in table.rules])
    twice = [row for row, n in counts.items() if n > 1]
    lost = [state for state in table.states if state not in reached]
    traps = [state for state in table.states if state not in ending]
    after = [rule for rule in table.rules if rule.source in table.ends]
    start = table.start
    found = [
        f"{s} has {counts[s, e]} rows for {e}: one event, one way" for s, e in twice
    ]
    found += [f"{s} is never reached: no path leads to it from {start}" for s in lost]
    found += [f"{s} is a trap: no path leads from it to an end" for s in traps]
    return found + [f"{s} is an end, but {e} leads on to {t}" for s, e, t, _ in after]


def _closure(seeds: Iterable[str], arrows: list[tuple[str, str]]) -> set[str]:
    found = set(seeds)
    while new := {end for begin, end in arrows if begin in found} - found:
        found |= new
    return found


def exits(*states: str) -> tuple[Transition, ...]:
    """Return the two rows that every live state needs: cancel and failure."""
    T, rows = Transition, list[Transition]()  # noqa: N806
    for state in states:
        rows.append(T(state, Event.CANCEL, State.CANCELLED, "the user pressed stop"))
        rows.append(T(state, Event.FAILED, State.ERROR, "something raised"))
    return tuple(rows)


def agent_table() -> Table:
    """Return the table of an agent: what may follow what, from question to answer."""
    S, E, T = State, Event, Transition  # noqa: N806
    rows = (
        T(S.THINK, E.FINAL_ANSWER, S.DONE, "the model gave its answer"),
        T(S.THINK, E.OUT_OF_STEPS, S.EXHAUSTED, "another model call is not allowed"),
        T(S.THINK, E.OUT_OF_TIME, S.EXHAUSTED, "no time is left for a model call"),
        T(S.THINK, E.TOOL_REQUESTED, S.EXECUTE_TOOL, "the model asked for a tool"),
        T(S.THINK, E.UNREADABLE_TURN, S.OBSERVE, "the model reads what was unreadable"),
        T(S.EXECUTE_TOOL, E.OUT_OF_TOOL_CALLS, S.EXHAUSTED, "no call is allowed"),
        T(S.EXECUTE_TOOL, E.OUT_OF_TIME, S.EXHAUSTED, "no time is left for a call"),
        T(S.EXECUTE_TOOL, E.TOOL_RETURNED, S.OBSERVE, "a result or an error"),
        T(S.OBSERVE, E.MORE_CALLS, S.EXECUTE_TOOL, "the same message has more"),
        T(S.OBSERVE, E.OBSERVED, S.THINK, "the prompt is ready for the model"),
    )
    return Table((*rows, *exits(S.THINK, S.EXECUTE_TOOL, S.OBSERVE)))


CORE = agent_table()


def drive(
    table: Table,
    handlers: Mapping[str, Callable[[C], str]],
    context: C,
    emit: Callable[[Transition, BaseException | None], object],
) -> str:
    """Ask the state's handler what happened, advance, emit, until an end is reached.

    What a handler raises, or returns without a row, is FAILED; Ctrl-C is CANCEL.
    """
    state = table.start
    while state not in table.ends:
        raised: BaseException | None = None
        try:
            event = handlers[state](context)
            target = table.advance(state, event)
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt)
            event, raised = Event.CANCEL if stopped else Event.FAILED, error
            target = table.advance(state, event)
        row, state = table.rows[state, event], target
        emit(row if row.target == target else row._replace(target=target), raised)
    return state
