"""Who may do what: the work of POLICY, PENDING_APPROVAL, and of a guarded call."""

from __future__ import annotations

from typing import Any

from workbook.fsm.handlers import make_ahead
from workbook.fsm.limits import Spent
from workbook.fsm.reading import Asked
from workbook.fsm.run import Run
from workbook.fsm.table import Event
from workbook.guardrails.approval import (
    Answer,
    Approve,
    Edit,
    Request,
    approve,
    as_answer,
    digest_of_call,
    preview,
)
from workbook.guardrails.budget import NextCall, within_budget
from workbook.guardrails.guards import Guards, guards_of
from workbook.guardrails.policy import Verdict, decide
from workbook.guardrails.table import Said
from workbook.tools.calls import Effect, ErrorKind, ToolCall, ToolError

EDITS = 3  # that break a rule, of one call
TOOL = NextCall("tool")


def policy(run: Run) -> str:
    """Look up whether the first call that waits may be made in this mode."""
    guards, asked = guards_of(run), run.waiting[0]
    call = asked.call
    if run.forced:
        message = f"{call.name} was not called: the tools have been withdrawn."
        return _deny(run, ToolError("withdrawn", message, hint="The run ends here."))
    if asked.refusal is not None or asked.made:
        return Said.ALLOWED  # it is not made, or it was allowed with those before it
    effect = run.tools[call.name].effect
    said = guards.part(decide)(guards.mode, effect, call.name, guards.rules)
    verdict, guards.why = str(said.verdict), said.why
    if verdict == Verdict.ASK and _is_approved(guards, call):
        return Said.ALLOWED
    if verdict != Verdict.ALLOW or effect is Effect.WRITE:
        about = {"call_id": call.call_id, "tool": call.name, "mode": guards.mode}
        run.emit("decision", who="policy", what=verdict, why=said.why, **about)
    if verdict == Verdict.ALLOW:
        if effect is Effect.WRITE:
            guards.approved[call.call_id] = digest_of_call(call)
        return Said.ALLOWED
    return Said.ASK if verdict == Verdict.ASK else _deny(run, _denied(run, said.why))


def pending_approval(run: Run) -> str:
    """Ask a person about the call, and do what the answer makes of it."""
    guards, call = guards_of(run), run.waiting[0].call
    tool = run.tools[call.name]
    request = Request(call, tool, preview(tool, call), guards.problem, guards.why)
    answer = _answer(run, request)
    if answer is None:
        return Said.SUSPENDED
    kind = type(answer).__name__.lower()
    about: dict[str, Any] = {"call_id": call.call_id, "tool": call.name}
    about["answer"] = {"kind": kind, **answer._asdict()}
    run.emit("decision", who=answer.who, what=kind, why=answer.why, **about)
    made = guards.part(approve)(
        call, answer, lambda new: run.tools.problems(call.name, new)
    )
    guards.problem = ""
    if isinstance(made, ToolCall):
        guards.edits = 0
        guards.approved[made.call_id] = digest_of_call(made)
        if isinstance(answer, Edit):
            run.waiting[0] = Asked(made)
            run.call = made
            return Said.EDITED
        return Said.APPROVED
    guards.edits += 1
    if not isinstance(answer, (Edit, Approve)) or guards.edits >= EDITS:
        guards.edits = 0
        _deny(run, made)
        return Said.REJECTED
    guards.problem = made.text()
    return Said.EDIT_REFUSED


def _answer(run: Run, request: Request) -> Answer | None:
    """Return what a person says; the time that it takes is not the run's."""
    asked_at, outside = run.now(), run.signals.outside
    said = run.signals.wait_for(lambda: outside.consult(request))
    run.started_at += run.now() - asked_at
    answer = as_answer(**said) if isinstance(said, dict) else said  # a record's is data
    if not isinstance(answer, Answer | None):
        raise TypeError(
            f"whoever is asked answered {answer!r}: no Approve, Edit, Reject"
        )
    return answer


def execute_allowed(run: Run) -> str:
    """Make the call, where it is the one that was allowed."""
    guards, asked = guards_of(run), run.waiting[0]
    within = guards.part(within_budget)
    if ran_out := within(run.elapsed(), guards.budget, TOOL):
        return str(ran_out)
    call = asked.call
    if asked.refusal is None and run.tools[call.name].effect is Effect.WRITE:
        if not _is_approved(guards, call):
            message = f"{call.name} was reached, but nobody allowed this call"
            raise PermissionError(message)
        # The mode may have been switched since it was allowed.
        said = guards.part(decide)(guards.mode, Effect.WRITE, call.name, guards.rules)
        if said.verdict == Verdict.DENY:
            _deny(run, _denied(run, said.why))
            return Event.TOOL_RETURNED

    def may(call: ToolCall, spent: Spent) -> bool:
        said = guards.part(decide)(guards.mode, Effect.READ, call.name, guards.rules)
        ran_out = within(spent, guards.budget, TOOL)
        return bool(said.verdict == Verdict.ALLOW and not ran_out)

    make_ahead(run, may)
    run.call_tool()
    return Event.TOOL_RETURNED


def one_at_a_time(run: Run) -> str:
    """Refuse a call that a turn makes besides its first."""
    message = f"{run.waiting[0].call.name} was not called: one call a turn."
    return _deny(run, ToolError("one_at_a_time", message, hint="Ask again, alone."))


def _is_approved(guards: Guards, call: ToolCall) -> bool:
    return guards.approved.get(call.call_id) == digest_of_call(call)


def _denied(run: Run, why: str) -> ToolError:
    mode = guards_of(run).mode
    message = f"{run.waiting[0].call.name} may not be called in {mode} mode: {why}."
    hint = "Nothing was done. Only the user can change the mode."
    return ToolError(ErrorKind.DENIED, message, hint=hint)


def _deny(run: Run, error: ToolError) -> str:
    run.refuse(error)
    return Said.DENIED
