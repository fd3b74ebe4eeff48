"""Guards together: all of them in their order, one of your own, and handing over."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

from . import permission
from .budget import Budget, budget
from .calls import ErrorKind, Observation, ToolCall
from .context import context
from .guard import Guard
from .permission import POLICY, SUSPENDED, Mode, Person, PolicyRule
from .stuck import stuck
from .table import Transition, exits

HAND_OVER = "HAND_OVER"
STOPPED = "was stopped by a guard"
"""What the model reads of a call that a guard of yours has stopped."""
OwnGuard = Callable[[ToolCall, Sequence[Observation]], str | None]
"""Says why a call may not be made, after what was observed; None lets it pass."""


def all_guards(
    limits: Budget = Budget(),  # noqa: B008 - frozen
    person: Person | None = None,
    mode: str = Mode.BUILD,
    rules: Sequence[PolicyRule] = POLICY,
    *,
    converge: bool = True,
    context_tokens: float | None = None,
    pinned: Sequence[str] = (),
) -> list[Guard]:
    """Return the guards of an agent: context, stuck, budget, permission."""
    first = []
    if context_tokens is not None or pinned:
        first = [context(context_tokens or float("inf"), pinned)]
    asks = permission.permission(person, mode, rules)
    return [*first, stuck(), budget(limits, converge), asks]


def own_guard(guard: OwnGuard) -> Guard:
    """Return a guard that asks a function of yours before each call; it only looks."""

    def ask(run: Any) -> str | None:
        call, refusal = run.waiting[0]
        if refusal is not None:
            return None
        why = guard(deepcopy(call), tuple(deepcopy(run.observed)))
        if why is None:
            return None
        if not isinstance(why, str) or not why.strip():
            raise TypeError(f"your guard returned {why!r}: return a reason, or None")
        about = {"tool": call.name, "call_id": call.call_id}
        run.journal.emit("decision", who="guard", what="deny", why=why, **about)
        run.refuse(ErrorKind.DENIED, f"{call.name} {STOPPED}: {why}.")
        return "denied"

    row = Transition("EXECUTE_TOOL", "denied", "OBSERVE", "the model reads why not")
    return Guard("guard", {"EXECUTE_TOOL": ask}, [row])


def hand_over(
    person: Callable[[list[dict[str, Any]]], str | None] | None = None,
    refusals: int = 3,
) -> Guard:
    """Return a guard that waits for a person after so many failed calls of one tool."""

    def look(run: Any) -> str | None:
        since = run.observed[run.notes.get("handed_over", 0) :][-refusals:]
        tools = {"" if seen.ok else seen.tool for seen in since}
        is_one = len(since) == refusals and len(tools) == 1 and "" not in tools
        return "handed_over" if is_one else None

    def ask(run: Any) -> str:
        failed = []
        for seen in run.observed[-refusals:]:
            arguments = run.calls[seen.call_id].arguments
            about = {"tool": seen.tool, "arguments": arguments, "error": seen.text()}
            failed.append(about)
        why = f"{failed[0]['tool']} has failed {refusals} times"
        about = {"who": "person", "what": "handed over", "why": why, "tried": failed}

        def live() -> dict[str, Any]:
            answer = run.in_flight.wait(lambda: person and person(failed), None)
            return about | {"answer": answer}

        answer = permission.receive_from_person(run, live)["answer"]
        if answer is None:
            return "suspended"
        run.notes["handed_over"] = len(run.observed)
        run.parts.append({"role": "note", "text": f"A person answers: {answer}"})
        return "answered"

    rows = [
        Transition("THINK", "handed_over", HAND_OVER, "a person has to look"),
        Transition(HAND_OVER, "answered", "THINK", "a person has answered"),
        Transition(HAND_OVER, "suspended", SUSPENDED, "nobody answers now"),
        *exits(HAND_OVER),
    ]
    return Guard("hand_over", {"THINK": look}, rows, {HAND_OVER: ask}, {}, [SUSPENDED])
