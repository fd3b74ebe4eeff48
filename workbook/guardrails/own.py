"""A guard of one's own: it is asked before each call is made, and only looks."""

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from typing import TypeVar

from workbook.fsm.machine import Machine
from workbook.fsm.run import Run
from workbook.fsm.table import Event, State
from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError

M = TypeVar("M", bound=Machine)
OwnGuard = Callable[[ToolCall, Sequence[Observation]], str | None]
"""Says why a call may not be made, after what was observed; None lets it pass."""
STOPPED = "was stopped by a guard"
"""What the model reads of a call that such a guard has stopped."""


def with_guard(machine: M, guard: OwnGuard) -> M:
    """Return a copy of a machine that asks a guard of yours before each call is made.

    What it refuses is told to the model with its reason, and to the trace. It looks at
    what was observed before: so no calls are made at once.
    """
    again, make = copy(machine), machine.handlers[State.EXECUTE_TOOL]
    again.parallel = None

    def ask_first(run: Run) -> str:
        asked, why = run.waiting[0], None
        if asked.refusal is None:
            why = guard(*deepcopy((asked.call, tuple(run.observed))))  # it only looks
        if why is None:
            return make(run)
        if not isinstance(why, str) or not why.strip():
            raise TypeError(f"your guard returned {why!r}: it owes a reason, or None")
        about = {"tool": asked.call.name, "call_id": asked.call.call_id}
        run.emit("decision", who="guard", what="deny", why=why, **about)
        message = f"{asked.call.name} {STOPPED}: {why}."
        run.refuse(ToolError(ErrorKind.DENIED, message))
        return Event.TOOL_RETURNED

    again.handlers = {**machine.handlers, State.EXECUTE_TOOL: ask_first}
    return again
