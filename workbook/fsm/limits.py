"""What a run may spend, what it has spent, and the word for what ran out.

A limit is asked before something is spent and never after: with `steps=5` exactly five
model calls are made, and an answer that is already there is not thrown away.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field

from workbook.fsm.table import Event
from workbook.models.base import Usage


@dataclass(slots=True)
class Spent:
    """What a run has used up; calls that raised or were refused cost too."""

    steps: int = 0  # model calls
    tool_calls: int = 0
    wall_s: float = 0.0  # seconds since the start
    usage: Usage = field(default_factory=Usage)  # tokens, as the model counts them


@dataclass(frozen=True, slots=True)
class Limits:
    """The most that a run may spend; `math.inf` is no limit.

    Raises:
        ValueError: a limit below one step, no tool call, or above no time.
    """

    steps: float = 15
    tool_calls: float = 30
    wall_s: float = 120.0

    def __post_init__(self) -> None:
        if not (self.steps >= 1 and self.tool_calls >= 0 and self.wall_s > 0):
            raise ValueError(
                f"{self}: a run needs at least 1 step, 0 tool calls or more, "
                "and some time"
            )

    def to_dict(self) -> dict[str, float | None]:
        """Return the limits as JSON has them: null for no limit."""
        most = asdict(self)
        return {name: None if n == math.inf else n for name, n in most.items()}

    def before_model_call(self, spent: Spent) -> str | None:
        """Return what has run out, or None while another model call is allowed."""
        if spent.steps + 1 > self.steps:
            return Event.OUT_OF_STEPS
        return Event.OUT_OF_TIME if spent.wall_s >= self.wall_s else None

    def before_tool_call(self, spent: Spent) -> str | None:
        """Return what has run out, or None while another tool call is allowed."""
        if spent.tool_calls + 1 > self.tool_calls:
            return Event.OUT_OF_TOOL_CALLS
        return Event.OUT_OF_TIME if spent.wall_s >= self.wall_s else None
