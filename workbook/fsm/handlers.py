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
from workbook.fsm.reading import PendingCall
from workbook.fsm.run import Parallel, Run
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
    parallel = run.options.parallel
    if parallel is None or run.waiting[0].made:
        return
    ahead: list[PendingCall] = []
    for asked in run.waiting:
        more = replace(run.spent, tool_calls=run.spent.tool_calls + len(ahead))
        if asked.refusal or not (_is_read(run, asked.call) and may(asked.call, more)):
            break
        ahead.append(asked)
    if len(ahead) < 2:
        return
    for asked in ahead:
        run.begin(asked)
    for asked in ahead:
        asked.made = True
    if run.coming() is None:  # a record has their answers one after the other
        for asked, seen in zip(ahead, _made_at_once(run, parallel, ahead), strict=True):
            asked.observation = seen


def _made_at_once(
    run: Run, parallel: Parallel, ahead: list[PendingCall]
) -> list[Observation]:
    """Return an observation a call, in their order."""
    calls, context = [asked.call for asked in ahead], copy_context()
    at_once = partial(
        parallel,
        calls,
        lambda call: context.copy().run(run.signals.outside.make, call),
        partial(_is_read, run),
    )
    try:
        seen: list[Observation] = run.signals.wait_for(at_once, run.left_s())
    except TimedOut:
        error = ToolError(ErrorKind.TIMEOUT, "it had no answer when time was over.")
        seen = [Observation.failed(call.call_id, error, call.name) for call in calls]
    if [each.call_id for each in seen] != [call.call_id for call in calls]:
        raise LookupError(f"run_in_parallel owes an observation a call, not {seen!r}")
    return seen


def _is_read(run: Run, call: ToolCall) -> bool:
    return run.tools[call.name].effect is Effect.READ


HANDLERS: Mapping[str, Handler] = {
    State.THINK: think,
    State.EXECUTE_TOOL: execute_tool,
    State.OBSERVE: Run.hand_over,
}

_ENDINGS = {
    State.CANCELLED: ("cancelled", "the user stopped the run"),
    State.EXHAUSTED: ("budget", "the run had spent what it may spend"),
}


def refuse_the_rest(run: Run, state: str) -> None:
    """Give each call that still waits its one observation: the run ended first."""
    kind, what = _ENDINGS.get(state, ("run_ended", f"the run ended in {state}"))
    while run.waiting:
        made = run.waiting[0].made
        effect = "; it may have had its effect" if made else "; it was not made"
        try:
            run.refuse(ToolError(kind, f"{what} before this call had a result{effect}"))
        except BaseException:  # each round closes a call, or begins it
            continue


def stoppable(handler: Handler) -> Handler:
    """Let a cancel take effect before a handler does its work, and right after it."""

    def stoppable(run: Run) -> str:
        event = run.signals.stop() or handler(run)
        return run.signals.stop() or event

    return stoppable
