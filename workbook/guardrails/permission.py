"""Permission: what the policy allows, and what a person's approval is worth.

The policy looks at the mode, at what a tool does to the world, and at its name: never
at what a model or a page says. An approval is for one call as it was shown: for its
call_id and a digest of its tool and arguments.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from fnmatch import fnmatchcase
from typing import Any, NamedTuple

from workbook.models.prompts import clip
from workbook.tools.calls import Effect, ErrorKind, ToolCall, ToolError, to_json
from workbook.tools.tool import Tool

STALE = "stale_approval"
"""The kind of error of an approval that was given for another call."""


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
    """One rule: the verdict on calls in this mode, of this effect, of such a tool.

    `tool` is a pattern as in a shell, such as "git_*", in any case. "*" is any.
    """

    verdict: str
    mode: str = "*"
    effect: str = "*"
    tool: str = "*"
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
"""What holds where the user has no other rules. What runs other programs is a WRITE,
unless it runs them where they can change nothing."""


def decide(
    mode: str, effect: str, tool: str, rules: Sequence[PolicyRule] = POLICY
) -> Decision:
    """Return the verdict of the first rule that matches, and why.

    Where no rule matches, a WRITE is denied, and about anything else a person is asked.
    A tool's name matches in any case, on every system: who forbids "pay" means Pay.
    """
    for rule in rules:
        if (
            rule.mode in ("*", mode)
            and rule.effect in ("*", effect)
            and fnmatchcase(tool.casefold(), rule.tool.casefold())
        ):
            return Decision(Verdict(rule.verdict), rule.why)
    verdict = Verdict.DENY if effect == Effect.WRITE else Verdict.ASK
    return Decision(verdict, "no rule speaks of it")


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
LATER = None
"""Nobody answers now: the run waits in its trace."""


def preview(tool: Tool, call: ToolCall) -> str:
    """Return what a person is shown of a call: the tool's own words, or arguments."""
    if tool.preview is None:
        return to_json(call.arguments)
    try:
        return tool.preview(**call.arguments)
    except Exception as error:  # it says what it can, and never ends a run
        return f"{to_json(call.arguments)} (no preview: {error})"


def as_answer(kind: str, **fields: Any) -> Answer:
    """Return an answer that was recorded: `kind` is its type, in lower case."""
    answers: list[Callable[..., Answer]] = [Approve, Edit, Reject]
    return {each.__name__.lower(): each for each in answers}[kind](**fields)


def digest_of_call(call: ToolCall) -> str:
    """Return what stands for a tool with exactly these arguments, in any order of keys.

    They are compared as JSON: 1, 1.0, true and "1" are four different arguments, though
    Python takes three of them for equal.
    """
    plain = json.dumps([call.name, call.arguments], sort_keys=True)
    return hashlib.sha256(plain.encode()).hexdigest()


def approve(
    call: ToolCall, answer: Answer, problems: Callable[[dict[str, Any]], list[str]]
) -> ToolCall | ToolError:
    """Return the call that may be made after a person's answer, or why there is none.

    Approve holds for this call_id and this digest only; anything else is a ToolError of
    kind `stale_approval`. So is an Edit under another call_id; its arguments are
    checked by `problems`, which returns what is wrong with them (invalid_arguments),
    and a note tells the model of them. Reject is a ToolError of kind `denied` that says
    why.
    """
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
            shown = clip(to_json(arguments), 200)
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
