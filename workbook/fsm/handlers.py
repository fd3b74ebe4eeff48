"""The work of each state of the core. A handler returns an event, and never a state.

Whatever a tool does is an observation here. What a model or the hook raises is not
caught: the driver makes it FAILED.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from workbook.fsm.run import Run
from workbook.fsm.table import Event, State
from workbook.tools.calls import ErrorKind, Observation, ToolCall, ToolError
from workbook.tools.timeouts import TimedOut

Handler = Callable[[Run], str]


def think(run: Run) -> str:
    """Ask the model, and return what it did with its turn."""
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    run.spent.steps += 1
    run.emit("model_request", **run.conversation.request())
    try:
        limit_s = None if run.at_once else run.left_s()
        completion = run.wait_for(run.conversation.ask, limit_s)
    except TimedOut:
        return Event.OUT_OF_TIME
    run.spent.usage += completion.usage
    reply = run.conversation.read(completion)
    run.waiting.extend(reply.asked)
    run.emit(
        "model_turn",
        text=completion.text,
        turn=reply.turn,
        usage=completion.usage.as_data(),
    )
    if reply.asked:
        run.call = reply.asked[0].call
    if reply.problem is not None:
        run.see(Observation.failed("", reply.problem))
    run.answer = reply.answer
    return reply.event


def execute_tool(run: Run) -> str:
    """Make the first call that waits. A result and an error are both observations."""
    if ran_out := run.limits.before_tool_call(run.elapsed()):
        return ran_out
    run.spent.tool_calls += 1
    asked = run.waiting[0]
    if asked.refusal is None:
        run.begin(asked.call)
        run.made = True
        run.settle(_observed(run, asked.call))
    else:
        run.refuse(asked.refusal)
    return Event.TOOL_RETURNED


def _observed(run: Run, call: ToolCall) -> Observation:
    """Return what came of a call that gets no more time than the run has left."""
    own, left = run.tools[call.name].timeout_s, run.left_s()
    limit_s = left if own and left is not None and left < own else None
    try:
        return run.wait_for(lambda: run.tools.run(call), limit_s)
    except TimedOut:
        late = f"{call.name} had not answered when the run's time was over."
        error = ToolError(ErrorKind.TIMEOUT, late, hint="It may still take effect.")
        return Observation.failed(call.call_id, error, call.name)


def observe(run: Run) -> str:
    """Put the observation where the model will read it."""
    if run.observation is None:
        raise LookupError("OBSERVE was reached, but there is nothing to observe")
    run.conversation.observe(run.observation)
    run.observation = None
    if not run.waiting:
        return Event.OBSERVED
    run.call = run.waiting[0].call
    return Event.MORE_CALLS


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
