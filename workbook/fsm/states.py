"""The words that the machine is made of: states, events, and the rows of a table.

A word is here before any table uses it, so that a later lesson adds rows and nothing
else: a table contains only the states that its rows mention.
"""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class State(StrEnum):
    """Where a run can be. The last six are ends."""

    SCREEN = "SCREEN"
    THINK = "THINK"
    POLICY = "POLICY"
    PENDING_APPROVAL = "PENDING_APPROVAL"
    EXECUTE_TOOL = "EXECUTE_TOOL"
    OBSERVE = "OBSERVE"
    VERIFY = "VERIFY"
    DONE = "DONE"
    REFUSED = "REFUSED"
    EXHAUSTED = "EXHAUSTED"
    STUCK = "STUCK"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"


TERMINAL = frozenset(
    {
        State.DONE,
        State.REFUSED,
        State.EXHAUSTED,
        State.STUCK,
        State.CANCELLED,
        State.ERROR,
    }
)


class Event(StrEnum):
    """What can happen. A handler returns one of these, and never a state."""

    # lesson 05: the core
    TOOL_REQUESTED = "tool_requested"
    FINAL_ANSWER = "final_answer"
    UNREADABLE_TURN = "unreadable_turn"
    TOOL_RETURNED = "tool_returned"
    OBSERVED = "observed"
    MORE_CALLS = "more_calls"
    OUT_OF_STEPS = "out_of_steps"
    OUT_OF_TOOL_CALLS = "out_of_tool_calls"
    OUT_OF_TIME = "out_of_time"
    CANCEL = "cancel"
    FAILED = "failed"
    # lesson 06: who says stop?
    ALLOWED = "allowed"
    DENIED = "denied"
    APPROVAL_NEEDED = "approval_needed"
    APPROVED = "approved"
    REJECTED = "rejected"
    OUT_OF_TOKENS = "out_of_tokens"
    OUT_OF_MONEY = "out_of_money"
    LOOP_FOUND = "loop_found"
    # lesson 08: is it true, and is it safe?
    SCREENED = "screened"
    SUSPICIOUS = "suspicious"
    DRAFTED = "drafted"
    SUPPORTED = "supported"
    UNSUPPORTED = "unsupported"
    UNANSWERABLE = "unanswerable"


class Rule(NamedTuple):
    """One row: in `source`, when `event` happens, go to `target`, and `why`."""

    source: State
    event: Event
    target: State
    why: str
