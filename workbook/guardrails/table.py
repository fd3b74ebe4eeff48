"""The table with guards: the core's, with a row for what each guard says."""

from __future__ import annotations

from workbook.fsm.table import CORE, Event, State, Table, Transition, exits


class GuardState(State):
    """The states of `GUARDED`: the core's, and those in which a guard has the word."""

    POLICY = "POLICY"
    PENDING_APPROVAL = "PENDING_APPROVAL"
    STUCK = "STUCK"
    PENDING = "PENDING"  # an end for this process: the run waits in its trace


class GuardEvent(Event):
    """The events of `GUARDED`: the core's, and what budgets, rules and people say."""

    OUT_OF_TOKENS = "out_of_tokens"
    OUT_OF_MONEY = "out_of_money"
    ALLOWED = "allowed"
    ASK = "ask"
    DENIED = "denied"
    APPROVED = "approved"
    EDITED = "edited"
    EDIT_REFUSED = "edit_refused"
    REJECTED = "rejected"
    SUSPENDED = "suspended"
    REPEATED = "repeated"
    NOT_CONVERGED = "not_converged"


def guarded_table(core: Table = CORE) -> Table:
    """Return such rows, with a policy before each call and a rule after it."""
    S, E, T = GuardState, GuardEvent, Transition  # noqa: N806
    rows = (
        T(S.THINK, E.OUT_OF_TOKENS, S.EXHAUSTED, "no tokens are left for a turn"),
        T(S.THINK, E.OUT_OF_MONEY, S.EXHAUSTED, "no money is left for a turn"),
        T(S.THINK, E.TOOL_REQUESTED, S.POLICY, "may it do that?"),
        T(S.POLICY, E.ALLOWED, S.EXECUTE_TOOL, "a rule allows it"),
        T(S.POLICY, E.ASK, S.PENDING_APPROVAL, "a rule says: ask a person"),
        T(S.POLICY, E.DENIED, S.OBSERVE, "tell the model why not"),
        T(S.PENDING_APPROVAL, E.APPROVED, S.EXECUTE_TOOL, "a person allows it"),
        T(S.PENDING_APPROVAL, E.EDITED, S.POLICY, "a person changed the call"),
        T(S.PENDING_APPROVAL, E.EDIT_REFUSED, S.PENDING_APPROVAL, "it breaks a rule"),
        T(S.PENDING_APPROVAL, E.REJECTED, S.OBSERVE, "tell the model why not"),
        T(S.PENDING_APPROVAL, E.SUSPENDED, S.PENDING, "nobody answers now"),
        T(S.OBSERVE, E.MORE_CALLS, S.POLICY, "the same message has more"),
        T(S.OBSERVE, E.REPEATED, S.STUCK, "it went on repeating itself"),
        T(S.OBSERVE, E.NOT_CONVERGED, S.EXHAUSTED, "it was to answer, and did not"),
    )
    live = exits(S.POLICY, S.PENDING_APPROVAL)
    return core.with_rules(*rows, *live, ends={S.STUCK, S.PENDING})


GUARDED = guarded_table()
"""Policy and approval before a call; stuck, tokens and money among what ends a run."""
