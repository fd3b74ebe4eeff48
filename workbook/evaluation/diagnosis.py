"""What a run did for nothing, and what it did twice: from its events alone.

No word of an error or an answer is read: kinds of events and of errors are data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from contextlib import suppress

from workbook.environments.catalogue import builtin_tool, makers
from workbook.runtime.calls import Effect, ErrorKind, ToolCall
from workbook.runtime.ledger import DONE_BEFORE, UNKNOWN_AFTER, idempotency_key
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Event as TraceEvent
from workbook.runtime.trace import Kind
from workbook.views.errors import arguments_of


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


def effects_had(trace: Iterable[TraceEvent]) -> Counter[str]:
    """Return how often each WRITE effect was had, in a run or in several in a row.

    Two calls have one effect where their idempotency keys agree. What a ledger kept
    from being made, and what failed before its effect, is none; what may have had its
    effect (a time-out, no observation at all) is one.
    """
    known: dict[str, Tool] = {}
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


def effects_doubled(trace: Iterable[TraceEvent]) -> int:
    """Return how many WRITE effects were had again; see `effects_had`."""
    had = effects_had(trace)
    return had.total() - len(had)


def _key(tool: Tool, event: TraceEvent) -> str:
    """Return what a call shares with the same operation in other words."""
    arguments = event["arguments"]
    with suppress(TypeError, ValueError):  # if nobody can read them: as written
        arguments = arguments_of(tool, event)
    parts = tool.parameters["properties"].items()
    defaults = {name: part["default"] for name, part in parts if "default" in part}
    call = ToolCall(tool.name, defaults | arguments, "")
    return idempotency_key(call, tool.business_key)


def _may_have_happened(event: TraceEvent) -> bool:
    """Whether an observation leaves it open that its call had an effect."""
    if event["ok"]:
        return DONE_BEFORE not in event.get("notes", ())
    error = event.get("error") or ""
    kind = error if isinstance(error, str) else error.get("kind", "")
    return kind in UNKNOWN_AFTER and kind != ErrorKind.NEEDS_PERSON
