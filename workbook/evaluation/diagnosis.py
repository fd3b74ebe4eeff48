"""What a run did for nothing, did twice, and why it failed: from its events alone.

No word of an error or an answer is read: kinds of events and of errors are data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from workbook.environments.catalogue import builtin_tool, makers
from workbook.fsm.table import State
from workbook.grounding.grounded import Ground
from workbook.guardrails import ledger
from workbook.guardrails.table import GuardState
from workbook.tools.calls import Effect, ErrorKind, ToolCall
from workbook.tools.tool import Tool
from workbook.traces.errors import arguments_of, classify_error
from workbook.traces.events import Kind, TraceEvent

ENDS = {
    State.ERROR: "error",
    State.CANCELLED: "cancelled",
    State.EXHAUSTED: "out of budget",
    GuardState.STUCK: "stuck",
    GuardState.PENDING: "waits for a person",
    Ground.REFUSED: "refused",
}
"""How a run failed, by the end that it came to."""
NONE, CUT_SHORT, WRONG = "none", "cut short", "wrong answer"
IDLE, UNREADABLE, FAILED = "no tool was called", "unreadable turns", "failed calls"
FAILURES = (NONE, CUT_SHORT, *ENDS.values(), IDLE, UNREADABLE, FAILED, WRONG)
"""What `failure_mode` returns."""
SILENT = "no answer"  # of an agent that left no trace to be looked at


def steps_wasted(trace: Iterable[TraceEvent], shortest: int) -> int:
    """Return how many tool calls of a run are beyond the shortest path; never below 0.

    Each call that the run itself asked for counts, also one that was refused, failed,
    or made before. One inside another call (it has a `parent`) is that tool's work.
    ValueError: `shortest` is below 0.

    >>> steps_wasted([{"kind": "tool_call"}, {"kind": "tool_call"}], shortest=1)
    1
    """
    if shortest < 0:
        raise ValueError(f"shortest is {shortest}: a path has 0 calls or more")
    calls = [e for e in trace if e["kind"] == Kind.TOOL_CALL and "parent" not in e]
    return max(0, len(calls) - shortest)


def effects_had(
    trace: Iterable[TraceEvent], tools: Iterable[Tool] = ()
) -> Counter[str]:
    """Return how often each WRITE effect was had, in a run or in several in a row.

    Two calls are one deed where their idempotency keys agree. What a ledger kept from
    being made, and what failed before its effect, is none; what may have had its effect
    (a time-out, no observation at all) is one.

    Args:
        tools: those of the run that are not the workbook's own.
    """
    known = {tool.name: tool for tool in tools}
    had, begun = Counter[str](), dict[tuple[str, str], str]()
    for event in trace:
        here = event["trace_id"], str(event.get("call_id"))
        if event["kind"] == Kind.TOOL_CALL:
            name = event["tool"]
            if name not in known and name in makers():
                known[name] = builtin_tool(name)
            if name in known and known[name].effect is Effect.WRITE:
                had.update([begun.pop(here)] if here in begun else [])  # no observation
                begun[here] = _key(known[name], event)
        elif event["kind"] == Kind.OBSERVATION and here in begun:
            key = begun.pop(here)
            had.update([key] if _may_have_happened(event) else [])
    had.update(begun.values())
    return had


def effects_doubled(trace: Iterable[TraceEvent], tools: Iterable[Tool] = ()) -> int:
    """Return how many WRITE effects were had again; see `effects_had`."""
    had = effects_had(trace, tools)
    return had.total() - len(had)


def failure_mode(trace: Iterable[TraceEvent], right: bool) -> str:
    """Return why a run failed, one of `FAILURES`; "none" where its answer is right.

    The end says it, where it was no answer. Of a wrong answer: no tool was called, or
    most of what was observed are turns that nobody could read, or calls that failed.
    """
    if right:
        return NONE
    events = [event for event in trace if "parent" not in event]
    last = events[-1] if events else {}
    if last.get("kind") != Kind.RUN_FINISHED:
        waits = last.get("target") == GuardState.PENDING
        return ENDS[GuardState.PENDING] if waits else CUT_SHORT
    if last["state"] in ENDS:
        return ENDS[last["state"]]
    seen = [event for event in events if event["kind"] == Kind.OBSERVATION]
    why = Counter(classify_error(event) for event in seen if not event["ok"])
    if 2 * why["turn"] > len(seen):
        return UNREADABLE
    if 2 * why.total() > len(seen):
        return FAILED
    called = any(event["kind"] == Kind.TOOL_CALL for event in events)
    return WRONG if called else IDLE


def _key(tool: Tool, event: TraceEvent) -> str:
    """Return what a call shares with the same deed in other words."""
    arguments = event["arguments"]
    with suppress(
        TypeError, ValueError
    ):  # as they were written, if nobody can read them
        arguments = arguments_of(tool, event)
    call = ledger.spelled_out(tool, ToolCall(tool.name, arguments, ""))
    return ledger.idempotency_key(call, tool.business_key)


def _may_have_happened(event: TraceEvent) -> bool:
    """Whether an observation leaves it open that its call had an effect."""
    if event["ok"]:
        return ledger.DONE_BEFORE not in event.get("notes", ())
    error = event.get("error") or ""
    kind = error if isinstance(error, str) else error.get("kind", "")
    return kind in ledger.UNKNOWN_AFTER and kind != ErrorKind.NEEDS_PERSON
