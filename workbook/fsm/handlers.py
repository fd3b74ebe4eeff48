"""The work of each state of the core. A handler returns an event, and never a state.

Whatever a tool does is an observation here. What a model or the hook raises is not
caught: the driver makes it FAILED.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import copy_context
from dataclasses import replace
from functools import partial

from workbook.fsm.limits import Spent
from workbook.fsm.run import Run
from workbook.fsm.table import Event, State
from workbook.tools.calls import Effect, ErrorKind, Observation, ToolCall, ToolError
from workbook.tools.threads import TimedOut

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
    make_ahead(run, lambda call, more: not run.limits.before_tool_call(more))
    run.call_tool()
    return Event.TOOL_RETURNED


def make_ahead(run: Run, may: Callable[[ToolCall, Spent], bool]) -> None:
    """Make the READ calls that wait at once, up to the first one that may not be made.

    They are written down before, and each one's observation is kept until its turn.

    Args:
        may: whether a call may be made, with what will be spent before it.
    """
    if run.parallel is None or run.waiting[0].call.call_id in run.ahead:
        return
    calls: list[ToolCall] = []
    for asked in run.waiting:
        more = replace(run.spent, tool_calls=run.spent.tool_calls + len(calls))
        if asked.refusal or not (_is_read(run, asked.call) and may(asked.call, more)):
            break
        calls.append(asked.call)
    if len(calls) < 2:
        return
    for call in calls:
        run.begin(call)
    run.made, run.ahead = True, {call.call_id: None for call in calls}
    if run.is_recorded:  # its answers come one after the other
        return
    context, make = copy_context(), run.make or run.tools.run
    at_once = partial(
        run.parallel,
        calls,
        lambda call: context.copy().run(make, call),
        partial(_is_read, run),
    )
    try:
        seen = run.wait_for(at_once, run.left_s())
    except TimedOut:
        error = ToolError(ErrorKind.TIMEOUT, "it had no answer when time was over.")
        seen = [Observation.failed(call.call_id, error, call.name) for call in calls]
    if [each.call_id for each in seen] != list(run.ahead):
        raise LookupError(f"run_in_parallel owes an observation a call, not {seen!r}")
    run.ahead |= zip(run.ahead, seen, strict=True)


def _is_read(run: Run, call: ToolCall) -> bool:
    return run.tools[call.name].effect is Effect.READ


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
        made = run.made or run.waiting[0].call.call_id in run.ahead
        effect = "; it may have had its effect" if made else "; it was not made"
        try:
            run.refuse(ToolError(kind, f"{what} before this call had a result{effect}"))
        except BaseException:  # each round closes a call, or begins it
            continue


def stoppable(handler: Handler) -> Handler:
    """Let a cancel take effect before a handler does its work, and right after it."""

    def stoppable(run: Run) -> str:
        event = run.stop() or handler(run)
        return run.stop() or event

    return stoppable
