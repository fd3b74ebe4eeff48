"""Permission: what the policy allows, and what a person's approval is worth.

The policy looks at the mode, at what a tool does to the world, and at its name: never
at what a model or a page says. An approval is for one call as it was shown: for its
call_id and a digest of its tool and arguments.
"""

import hashlib
import inspect
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from fnmatch import fnmatchcase
from functools import partial
from typing import Any, NamedTuple

from . import calls
from .calls import Effect, ErrorKind, ToolCall, ToolError, ToolFailure
from .guard import Guard
from .messages import Asked
from .table import Transition, exits
from .tools import Tool
from .trace import Event
from .waiting import awaited

STALE = "stale_approval"
"""The kind of error of an approval that was given for another call."""
EDITS = 3  # answers that are refused, of one call
PENDING_APPROVAL, SUSPENDED = "PENDING_APPROVAL", "SUSPENDED"


class Mode(StrEnum):
    """What the user lets the agent do; only the user changes it."""

    PLAN = "plan"
    BUILD = "build"


class Verdict(StrEnum):
    """What the policy says of a call. ASK: a person decides."""

    ALLOW = "allow"
    ASK = "ask"
    DENY = "deny"


class PolicyRule(NamedTuple):
    """The verdict on calls in this mode, of this effect, of such a tool; "*" is any."""

    verdict: str
    mode: str = "*"
    effect: str = "*"
    tool: str = "*"  # a pattern as in a shell, such as "git_*", in any case
    why: str = "a rule says so"  # as the model reads it, without a full stop


class Decision(NamedTuple):
    """What was decided, and why."""

    verdict: Verdict
    why: str


POLICY = (
    PolicyRule(Verdict.ALLOW, effect=Effect.READ, why="reading changes nothing"),
    PolicyRule(Verdict.DENY, Mode.PLAN, Effect.WRITE, why="a plan changes nothing"),
    PolicyRule(Verdict.ASK, Mode.BUILD, Effect.WRITE, why="it changes something"),
)
"""What holds where the user has no other rules."""


def decide(
    mode: str, effect: str, tool: str, rules: Sequence[PolicyRule] = POLICY
) -> Decision:
    """Return the first matching rule's verdict; without one, deny a WRITE, else ask."""
    for rule in rules:
        if (
            rule.mode in ("*", mode)
            and rule.effect in ("*", effect)
            and fnmatchcase(tool.casefold(), rule.tool.casefold())
        ):
            return Decision(Verdict(rule.verdict), rule.why)
    verdict = Verdict.DENY if effect == Effect.WRITE else Verdict.ASK
    return Decision(verdict, "no rule matches")


class Request(NamedTuple):
    """What a person is asked about."""

    call: ToolCall
    tool: Tool
    preview: str  # what the call would do, such as a diff
    problem: str = ""  # what was wrong with the answer before, if it was refused
    why: str = ""  # they are asked, as the rule says it


class Approve(NamedTuple):
    """Make this call, and no other one."""

    call_id: str
    digest: str  # see `digest_of_call`
    who: str = "person"
    why: str = ""


class Edit(NamedTuple):
    """Make the call with these arguments in place of its own."""

    arguments: dict[str, Any]
    call_id: str = ""  # "" is the one that was asked about
    who: str = "person"
    why: str = ""


class Reject(NamedTuple):
    """Do not make the call."""

    why: str = ""
    who: str = "person"


Answer = Approve | Edit | Reject
Person = Callable[[Request], Answer | None]
"""Answers a request; None: nobody answers now, and the run waits in its trace."""


def digest_of_call(call: ToolCall) -> str:
    """Return what stands for a tool and its arguments as JSON: 1 is not 1.0."""
    text = json.dumps([call.name, call.arguments], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def approve(
    call: ToolCall, answer: Answer, problems: Callable[[dict[str, Any]], list[str]]
) -> ToolCall | ToolError:
    """Return the call that may be made after a person's answer, or a ToolError."""
    match answer:
        case Reject():
            why = f": {answer.why}" if answer.why else ""
            message = f"{answer.who} said no to {call.name}{why}."
            hint = "It was not called. Do not ask for the same again."
            return ToolError(ErrorKind.DENIED, message, hint=hint)
        case Approve(call.call_id, digest) if digest == digest_of_call(call):
            return call
        case Edit(arguments, "" | call.call_id):
            if found := problems(arguments):
                message = f"the edited arguments are not valid: {'; '.join(found)}."
                return ToolError(ErrorKind.INVALID_ARGUMENTS, message)
            shown = calls.clip(calls.to_json(arguments), 200)
            note = f"{answer.who} changed the arguments to {shown}"
            return replace(call, arguments=arguments, notes=(*call.notes, note))
    is_this = answer.call_id == call.call_id
    other = "other arguments" if is_this else f"call {answer.call_id!r}"
    message = f"the approval is for {other}, and not for {call.name} as it is asked."
    hint = f"Look at {call.call_id!r} again, and approve what you see."
    return ToolError(STALE, message, hint=hint)


def yes(request: Request) -> Approve:
    """Approve every call, where nobody is to be asked."""
    return Approve(request.call.call_id, digest_of_call(request.call), who="yes")


def no(request: Request) -> Reject:
    """Reject every call, where nobody is to be asked."""
    return Reject("whatever it is", who="no")


def permission(
    person: Person | None = None,
    mode: str = Mode.BUILD,
    rules: Sequence[PolicyRule] = POLICY,
) -> Guard:
    """Return the guard: a policy before each call, and PENDING_APPROVAL."""
    T, S = Transition, PENDING_APPROVAL  # noqa: N806
    rows = [
        T("EXECUTE_TOOL", "denied", "OBSERVE", "the model reads why not"),
        T("EXECUTE_TOOL", "ask", S, "a rule says: ask a person"),
        T(S, "approved", "EXECUTE_TOOL", "a person allows it"),
        T(S, "edited", "EXECUTE_TOOL", "a person changed the call"),
        T(S, "edit_refused", S, "it breaks a rule"),
        T(S, "rejected", "OBSERVE", "the model reads why not"),
        T(S, "suspended", SUSPENDED, "nobody answers now"),
        *exits(S),
    ]
    settings = {"mode": str(Mode(mode)), "rules": [[*map(str, rule)] for rule in rules]}
    pending = partial(_pending_approval, person=person)
    asks, work = {"EXECUTE_TOOL": _policy}, {S: pending}
    return Guard("permission", asks, rows, work, settings, [SUSPENDED])


def _policy(run: Any) -> str | None:
    (call, refusal), policy = run.waiting[0], run.settings["permission"]
    if refusal is not None:
        return None
    tool, mode = run.tools[call.name], policy["mode"]
    rules = run.notes.get("rules") or [PolicyRule(*rule) for rule in policy["rules"]]
    verdict, why = run.part(decide)(mode, tool.effect, call.name, rules)
    about = {"who": "policy", "what": str(verdict), "why": why}
    about |= {"call_id": call.call_id, "tool": call.name, "mode": mode}
    if verdict == Verdict.ASK:
        return _ask(run, call, about)
    if verdict == Verdict.DENY or tool.effect is Effect.WRITE:
        run.journal.emit("decision", **about)
    if verdict == Verdict.DENY:
        hint = "Nothing was done. Only the user can change the mode or the rules."
        message = f"{call.name} may not be called in {mode} mode: {why}."
        run.refuse(ErrorKind.DENIED, message, hint)
        return "denied"
    return None


def _ask(run: Any, call: ToolCall, about: dict[str, Any]) -> str | None:
    # Nobody is asked about a call whose preview is a ToolFailure: it cannot be made.
    tool, hidden = run.tools[call.name], run.journal.hidden
    seen = replace(call, arguments=hidden(call.arguments))  # they see no secrets
    if run.notes.get("approved") == (call.call_id, digest := digest_of_call(seen)):
        return None

    def live() -> dict[str, Any]:
        preview = calls.to_json(call.arguments)
        shown = about | {"arguments": seen.arguments, "digest": digest}
        try:
            preview = tool.preview(**call.arguments) if tool.preview else preview
        except ToolFailure as failure:
            error = failure.error
            shown |= {"what": str(Verdict.DENY), "why": error.message}
            return shown | {"refusal": [error.kind, error.message, error.hint]}
        except Exception as error:  # it says what it can, and never ends a run
            preview += f" (no preview: {calls.recordable(error)})"
        return shown | {"preview": preview}

    shown = run.journal.receive("decision", live)
    if "refusal" in shown:
        run.refuse(*shown["refusal"])
        return "denied"
    request = Request(seen, tool, shown["preview"], why=about["why"])
    run.notes |= {"request": request, "edits": 0}
    return "ask"


def _pending_approval(run: Any, person: Person | None) -> str:
    request: Request = run.notes["request"]
    call, answer = request.call, ask_person(run, person, request)
    if answer is None:
        return "suspended"
    made = run.part(approve)(call, answer, partial(run.tools.problems, call.name))
    if not isinstance(made, ToolError):
        made = run.waiting[0].call if made == call else made
        seen = replace(made, arguments=run.journal.hidden(made.arguments))
        run.notes["approved"] = (made.call_id, digest_of_call(seen))
        run.waiting[0], run.call = Asked(made), made
        return "edited" if isinstance(answer, Edit) else "approved"
    run.notes["edits"] += 1
    if isinstance(answer, Reject) or run.notes["edits"] == EDITS:
        run.refuse(made.kind, made.message, made.hint)
        return "rejected"
    run.notes["request"] = request._replace(problem=made.text())
    return "edit_refused"


def ask_person(run: Any, person: Person | None, request: Request) -> Answer | None:
    """Return a person's answer, written down; None: nobody answers now."""

    def asked() -> Any:
        answer: Any = person and person(request)
        return awaited(answer) if inspect.iscoroutine(answer) else answer

    def live() -> dict[str, Any]:
        about = {"call_id": request.call.call_id, "tool": request.call.name}
        here = threading.current_thread() is threading.main_thread()  # Ctrl-C ends it
        answer = run.in_flight.wait(asked, None if here else threading.TIMEOUT_MAX)
        if answer is None:
            later = {"who": "person", "what": "later", "why": "nobody answers now"}
            return later | about | {"answer": None}
        if not isinstance(answer, Answer):
            raise TypeError(f"a person answered {answer!r}: no Approve, Edit, Reject")
        kind = type(answer).__name__.lower()
        given = {"who": answer.who, "what": kind, "why": answer.why}
        return given | about | {"answer": {"kind": kind, **answer._asdict()}}

    if (given := receive_from_person(run, live)["answer"]) is None:
        return None
    kinds: dict[str, Any] = {"approve": Approve, "edit": Edit, "reject": Reject}
    fields = {**given}
    answer: Answer = kinds[fields.pop("kind")](**fields)
    return answer


def receive_from_person(run: Any, live: Callable[[], Mapping[str, Any]]) -> Event:
    """Return a decision of a person, written down; their time is not the run's."""
    asked_at = run.journal.at_s
    event: Event = run.journal.receive("decision", live)
    run.waited_s += run.journal.at_s - asked_at
    run.elapsed()
    return event
