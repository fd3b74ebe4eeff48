"""A guard: a rule of a run as a plain value."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .table import Transition

Handler = Callable[[Any], str]
"""The work of a state: gets the run, returns an event."""
Ask = Callable[[Any], str | None]
"""Asked before the work of a state: returns an event in its place, or None."""


class Guard(NamedTuple):
    """A rule as a value: asked before the work of a state, with rows for its events.

    Args:
        ask: by state.
        rows: for its events; one replaces the row of the same state and event.
        work: of states of its own.
        settings: what a person has set; recorded, and read from `run.settings[name]`.
        ends: states of its own in which a run ends.
    """

    name: str
    ask: Mapping[str, Ask]
    rows: Sequence[Transition] = ()
    work: Mapping[str, Handler] = {}
    settings: Mapping[str, Any] = {}
    ends: Sequence[str] = ()
