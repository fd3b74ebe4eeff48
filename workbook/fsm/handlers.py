"""The work of each state of the core. A handler returns an event, and never a state.

Whatever a tool does is an observation here. What a model or the hook raises is not
caught: the driver makes it FAILED.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbook.fsm.run import Run
from workbook.fsm.table import Event, State
from workbook.tools.calls import ToolError
from workbook.tools.timeouts import TimedOut

Handler = Callable[[Run], str]


def think(run: Run) -> str:
    """Ask the model, and return what it did with its turn."""
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    try:
        completion = run.ask()
    except TimedOut:
        return Event.OUT_OF_TIME
    return run.heard(completion).event


def execute_tool(run: Run) -> str:
    """Make the first call that waits. A result and an error are both observations."""
    if ran_out := run.limits.before_tool_call(run.elapsed()):
        return ran_out
    run.call_tool()
    return Event.TOOL_RETURNED


def observe(run: Run) -> str:
    """Put the observation where the model will read it."""
    run.hand_over()
    return Event.MORE_CALLS if run.waiting else Event.OBSERVED


HANDLERS: Mapping[str, Handler] = {
    State.THINK: think,
    State.EXECUTE_TOOL: execute_tool,
    State.OBSERVE: observe,
}

_ENDINGS = {
    State.CANCELLED: ("cancelled", "the user stopped the run"),
    State.EXHAUSTED: ("budget", "the run had spent what it may spend"),
}


def refuse_the_rest(run: Run, state: str) -> None:
    """Give each call that still waits its one observation: the run ended first."""
    kind, what = _ENDINGS.get(state, ("run_ended", f"the run ended in {state}"))
    while run.waiting:
        effect = "; it may have had its effect" if run.made else "; it was not made"
        try:
            run.refuse(ToolError(kind, f"{what} before this call had a result{effect}"))
        except BaseException:  # each round closes a call, or begins it
            continue
