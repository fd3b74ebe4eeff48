"""Approval: what a person is shown, what they may answer, and what that is worth.

An approval is for one call as it was shown: for its call_id and a digest of its tool
and arguments. Whatever comes under the same call_id with other arguments has none.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

from workbook.models.prompts import clip
from workbook.tools.calls import ErrorKind, ToolCall, ToolError, to_json
from workbook.tools.tool import Tool

STALE = "stale_approval"
"""The kind of error of an approval that was given for another call."""


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
    """Return an answer that was taken down: `kind` is its type, in lower case."""
    kinds: dict[str, Callable[..., Answer]] = {
        "approve": Approve,
        "edit": Edit,
        "reject": Reject,
    }
    return kinds[kind](**fields)


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
        case Approve(call_id=approved, digest=digest):
            is_this = (approved, digest) == (call.call_id, digest_of_call(call))
            return call if is_this else _stale(call, approved)
        case Edit(arguments, call_id) if call_id in ("", call.call_id):
            if found := problems(arguments):
                message = f"the edited arguments are not valid: {'; '.join(found)}."
                return ToolError(ErrorKind.INVALID_ARGUMENTS, message)
            shown = clip(to_json(arguments), 200)
            note = f"{answer.who} changed the arguments to {shown}"
            return replace(call, arguments=arguments, notes=(*call.notes, note))
        case Edit():
            return _stale(call, answer.call_id)


def _stale(call: ToolCall, approved: str) -> ToolError:
    other = "other arguments" if approved == call.call_id else f"call {approved!r}"
    message = f"the approval is for {other}, and not for {call.name} as it is asked."
    hint = f"Look at {call.call_id!r} again, and approve what you see."
    return ToolError(STALE, message, hint=hint)


def yes(request: Request) -> Approve:
    """Approve whatever is asked, for tests and lessons."""
    return Approve(request.call.call_id, digest_of_call(request.call), who="yes")


def no(request: Request) -> Reject:
    """Reject whatever is asked, for tests and lessons."""
    return Reject("whatever it is", who="no")
