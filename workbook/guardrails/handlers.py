"""The work of the guarded states: who says stop, and who may do what.

As everywhere, a handler returns an event, and never a state. What a guard decides is
in the trace as a `decision`: who, what, why.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from workbook.fsm.handlers import Handler, make_ahead
from workbook.fsm.limits import Spent
from workbook.fsm.reading import PendingCall
from workbook.fsm.run import Run
from workbook.fsm.table import Event
from workbook.guardrails.budget import Budget, NextCall, last_turn, room, within_budget
from workbook.guardrails.permission import (
    Answer,
    Edit,
    PolicyRule,
    Reject,
    Request,
    Verdict,
    approve,
    as_answer,
    decide,
    digest_of_call,
    preview,
)
from workbook.guardrails.stuck import StepSeen, find_cycle, same_search, seen
from workbook.guardrails.table import GuardEvent
from workbook.models.prompts import estimate
from workbook.tools.calls import Effect, ErrorKind, ToolCall, ToolError

Ask = Callable[[Request], Answer | None]
"""Asks a person about a call; None is: nobody answers now."""

Switch = tuple[str, str, str]
"""A mode, who switched to it, and why."""

LOOK_BACK = 15  # calls: three times a cycle of five
EDITS = 3  # answers that are refused, of one call
TOOL = NextCall("tool")
WITHDRAWN = (
    "No tool can be called any more. Write your Final Answer now, with what you know."
)


@dataclass(slots=True)
class Guards:
    """What the guards of one run go by, and what they keep of it."""

    budget: Budget
    mode: str
    rules: Sequence[PolicyRule]
    converge: bool
    parts: Mapping[str, Callable[..., Any]]
    switches: deque[Switch]  # of the mode, to come

    seen: deque[StepSeen] = field(default_factory=lambda: deque(maxlen=LOOK_BACK))
    warned: bool = False
    approved: dict[str, str] = field(default_factory=dict)  # call_id to digest
    edits: int = 0  # of the call that waits
    problem: str = ""  # with the last of them
    why: str = ""  # the policy's last word

    def part(self, ours: Callable[..., Any]) -> Callable[..., Any]:
        """Return your function of that name, or ours."""
        return self.parts.get(ours.__name__, ours)

    def decide(self, call: ToolCall, effect: Effect) -> str:
        """Return the policy's verdict on a call; why it is so is kept."""
        said = self.part(decide)(self.mode, effect, call.name, self.rules)
        self.why = said.why
        return str(said.verdict)

    def allow(self, call: ToolCall) -> None:
        """Keep that this call may be made, with exactly these arguments."""
        self.approved[call.call_id] = digest_of_call(call)

    def is_allowed(self, call: ToolCall) -> bool:
        """Whether this call was allowed, as it is now."""
        return self.approved.get(call.call_id) == digest_of_call(call)


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


def think_within(inner: Handler) -> Handler:
    """Return a handler of THINK that asks the budget first, and caps the turn."""

    def think(run: Run) -> str:
        guards, budget = guards_of(run), guards_of(run).budget
        size = tokens_of(run.conversation) if budget.counts_tokens else 0
        may_converge = guards.converge and not run.forced
        if may_converge and (last := last_turn(run.elapsed(), budget, size)):
            run.conversation.withdraw(WITHDRAWN)
            run.emit("decision", **last)
            size = tokens_of(run.conversation) if budget.counts_tokens else 0
        call = NextCall("model", size, output_tokens=1)
        if ran_out := guards.part(within_budget)(run.elapsed(), budget, call):
            return str(ran_out)
        run.max_tokens = room(run.spent, budget, size)
        try:
            return inner(run)
        finally:
            context = getattr(run.conversation, "context", None)
            while context and context.news:
                run.tell("decision", **context.news.pop())

    return think


def tokens_of(conversation: Any) -> int:
    """Return how many tokens the next request has, as its model counts; or more."""
    count = getattr(conversation.model, "count", lambda said: estimate(said).input)
    schemas = getattr(conversation, "schemas", ())
    return int(count(conversation.prompt)) + (
        count(json.dumps(schemas)) if schemas else 0
    )


def policy(run: Run) -> str:
    """Look up whether the first call that waits may be made in this mode."""
    guards, asked = guards_of(run), run.waiting[0]
    call = asked.call
    if run.forced:
        message = f"{call.name} was not called: the tools have been withdrawn."
        return _deny(run, ToolError("withdrawn", message, hint="The run ends here."))
    if asked.refusal is not None or asked.made:
        return GuardEvent.ALLOWED  # it is not made, or was allowed with others
    effect = run.tools[call.name].effect
    verdict = guards.decide(call, effect)
    if verdict == Verdict.ASK and guards.is_allowed(call):
        return GuardEvent.ALLOWED
    if verdict != Verdict.ALLOW or effect is Effect.WRITE:
        about = {"call_id": call.call_id, "tool": call.name, "mode": guards.mode}
        run.emit("decision", who="policy", what=verdict, why=guards.why, **about)
    if verdict == Verdict.DENY:
        return _deny(run, _denied(guards, call))
    if verdict == Verdict.ASK:
        return GuardEvent.ASK
    if effect is Effect.WRITE:
        guards.allow(call)
    return GuardEvent.ALLOWED


def pending_approval(run: Run) -> str:
    """Ask a person about the call, and do what the answer makes of it."""
    guards, call = guards_of(run), run.waiting[0].call
    tool = run.tools[call.name]
    request = Request(call, tool, preview(tool, call), guards.problem, guards.why)
    answer = ask_person(run, request)
    if answer is None:
        return GuardEvent.SUSPENDED
    made = guards.part(approve)(
        call, answer, lambda new: run.tools.problems(call.name, new)
    )
    is_error = isinstance(made, ToolError)
    if is_error and not isinstance(answer, Reject) and guards.edits + 1 < EDITS:
        guards.edits, guards.problem = guards.edits + 1, made.text()
        return GuardEvent.EDIT_REFUSED
    guards.edits, guards.problem = 0, ""
    if is_error:
        _deny(run, made)
        return GuardEvent.REJECTED
    guards.allow(made)
    if not isinstance(answer, Edit):
        return GuardEvent.APPROVED
    run.waiting[0], run.call = PendingCall(made), made
    return GuardEvent.EDITED


def ask_person(run: Run, request: Request, **about: Any) -> Answer | None:
    """Return what a person says, and tell it; the time that it takes is not the run's.

    `about` is told besides.
    """
    asked_at, outside = run.now(), run.signals.outside
    said = run.signals.wait_for(lambda: outside.consult(request))
    run.started_at += run.now() - asked_at
    answer = as_answer(**said) if isinstance(said, dict) else said  # a record's is data
    if not isinstance(answer, Answer | None):
        raise TypeError(
            f"whoever is asked answered {answer!r}: no Approve, Edit, Reject"
        )
    if answer is not None:
        kind = type(answer).__name__.lower()
        about = {"call_id": request.call.call_id, "tool": request.call.name, **about}
        about["answer"] = {"kind": kind, **answer._asdict()}
        run.emit("decision", who=answer.who, what=kind, why=answer.why, **about)
    return answer


def execute_allowed(run: Run) -> str:
    """Make the call, where it is the one that was allowed."""
    guards, asked = guards_of(run), run.waiting[0]
    within, call = guards.part(within_budget), asked.call
    if ran_out := within(run.elapsed(), guards.budget, TOOL):
        return str(ran_out)
    if asked.refusal is None and run.tools[call.name].effect is Effect.WRITE:
        if not guards.is_allowed(call):
            message = f"{call.name} was reached, but nobody allowed this call"
            raise PermissionError(message)
        # The mode may have been switched since it was allowed.
        if guards.decide(call, Effect.WRITE) == Verdict.DENY:
            _deny(run, _denied(guards, call))
            return Event.TOOL_RETURNED

    def may(call: ToolCall, spent: Spent) -> bool:
        may_read = guards.decide(call, Effect.READ) == Verdict.ALLOW
        return may_read and not within(spent, guards.budget, TOOL)

    make_ahead(run, may)
    run.call_tool()
    return Event.TOOL_RETURNED


def _denied(guards: Guards, call: ToolCall) -> ToolError:
    message = f"{call.name} may not be called in {guards.mode} mode: {guards.why}."
    hint = "Nothing was done. Only the user can change the mode or the rules."
    return ToolError(ErrorKind.DENIED, message, hint=hint)


def _deny(run: Run, error: ToolError) -> str:
    run.refuse(error)
    return GuardEvent.DENIED


def observe_cycles(run: Run) -> str:
    """Hand over the observation; warn of a repetition, and end at the next one."""
    guards, stuck = guards_of(run), False
    if (observation := run.observation) is not None:
        if run.call is not None and observation.call_id:
            guards.seen.append(seen(run.call, observation))
        else:  # a turn that nobody could read
            guards.seen.append(StepSeen("", {"turn": run.text}, ""))
        same = guards.part(same_search)
        cycle = guards.part(find_cycle)(tuple(guards.seen), same=same)
        if cycle is not None:
            what = "stuck" if guards.warned else "warning"
            run.emit("decision", who="stuck", what=what, why=cycle.words())
            stuck, guards.warned = guards.warned, True
            notes = (*observation.notes, f"{cycle.words()} Do something else.")
            run.observation = replace(observation, notes=notes)
    event = run.hand_over()
    if stuck:
        return GuardEvent.REPEATED
    if run.forced and event == GuardEvent.OBSERVED:
        return GuardEvent.NOT_CONVERGED
    return event
