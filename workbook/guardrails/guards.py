"""What the guards of one run go by and keep, and how a switch of the mode gets in.

As everywhere, a handler returns an event, and never a state. What a guard decides is
told to the trace as a `decision`: who, what, why.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from workbook.fsm.handlers import Handler
from workbook.fsm.run import Run
from workbook.guardrails.budget import Budget
from workbook.guardrails.permission import POLICY, Answer, PolicyRule, Request
from workbook.guardrails.stuck import StepSeen

Ask = Callable[[Request], Answer | None]
"""Asks a person about a call; None is: nobody answers now."""

Switch = tuple[str, str, str]
"""A mode, who switched to it, and why."""

LOOK_BACK = 15  # calls: three times a cycle of five


@dataclass(slots=True)
class Guards:
    """What the guards of one run go by, and what they keep of it."""

    budget: Budget
    mode: str
    rules: Sequence[PolicyRule] = POLICY
    converge: bool = True
    parts: Mapping[str, Callable[..., Any]] = field(default_factory=dict)
    switches: deque[Switch] = field(default_factory=deque)  # of the mode, to come

    seen: deque[StepSeen] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))
    warned: bool = False
    approved: dict[str, str] = field(default_factory=dict)  # call_id to digest
    edits: int = 0  # of the call that waits
    problem: str = ""  # with the last of them
    why: str = ""  # the policy's last word

    def part(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Return your function of that name, or ours."""
        return self.parts.get(ours.__name__, ours)


def guards_of(run: Run) -> Guards:
    """Return the guards of a run."""
    guards: Guards = run.notes["guards"]
    return guards


def in_its_mode(handler: Handler) -> Handler:
    """Let a switch of the mode take effect before a handler does its work."""

    def work(run: Run) -> str:
        guards = guards_of(run)
        while switch := _switched(run, guards):
            guards.mode, who, why = switch
            run.emit("decision", who=who, what="mode", why=why, mode=guards.mode)
        return handler(run)

    return work


def _switched(run: Run, guards: Guards) -> Switch | None:
    """Return the next switch of the mode that takes effect now: a record's, or new."""
    if (coming := run.coming()) is None:
        return guards.switches.popleft() if guards.switches else None
    if coming.get("what") != "mode":
        return None
    return coming["mode"], coming["who"], coming["why"]
