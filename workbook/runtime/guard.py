"""A guard: a rule of a run as a plain value."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .table import Transition

Handler = Callable[[Any], str]
"""The work of a state: gets the run, returns an event."""
Ask = Callable[[Any], str | None]
"""Asked before the work of a state: returns an event in its place, or None."""


class Guard(NamedTuple):
    """A rule as a value: asked before the work of a state, with rows for its events."""

    name: str
    ask: Mapping[str, Ask]  # by state
    rows: Sequence[Transition] = ()  # one replaces the row of the same state and event
    work: Mapping[str, Handler] = {}  # of states of its own
    settings: Mapping[str, Any] = {}  # of a person; recorded, in `run.settings[name]`
    ends: Sequence[str] = ()  # states of its own in which a run ends
