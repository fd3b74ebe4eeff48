"""Are two traces the same run? The tools called, with what, what came back, the answer.

Engines differ in what does not matter: how a tool's only argument is called, whether 20
is written 20.0. What they share is brought to one form here, and then compared.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from contextlib import suppress
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple

from workbook.traces.events import Kind, TraceEvent
from workbook.traces.trace import Trace


class Call(NamedTuple):
    """A tool call in the form in which calls are compared."""

    tool: str
    arguments: Any
    observation: Any


def first_difference(trace_a: Trace, trace_b: Trace) -> str | None:
    """Say in a sentence where two traces part; None when they are the same run."""
    calls_a, calls_b = calls_of(trace_a), calls_of(trace_b)
    for number, (a, b) in enumerate(zip(calls_a, calls_b, strict=False), start=1):
        for field, one, other in zip(Call._fields, a, b, strict=True):
            if one != other:
                return (
                    f"call {number}: {field} is {one!r} in one, {other!r} in the other"
                )
    if len(calls_a) != len(calls_b):
        few, many = sorted((calls_a, calls_b), key=len)
        words = f"one has {len(few)} call{'s' * (len(few) != 1)}, the other {len(many)}"
        return f"{words}: {many[len(few)].tool} comes first among the missing"
    end_a, end_b = trace_a.end, trace_b.end
    if end_a is None or end_b is None:
        return None if end_a is end_b else "one has ended, the other has not"
    one, other = plain_text(end_a["answer"]), plain_text(end_b["answer"])
    return (
        None
        if one == other
        else f"the answer is {one!r} in one, {other!r} in the other"
    )


def calls_of(trace: Trace) -> list[Call]:
    """Return the agent's own calls in order, in the form in which they are compared.

    A call made inside another (it has a `parent`) belongs to that one. Tool names are
    in lower case, arguments as `plain_arguments`, observations as `plain_text` without
    notes on repairs and llm-math's "Answer:", or None.
    """
    seen, calls = observed(trace), []
    for event in trace.of(Kind.TOOL_CALL):
        if "parent" not in event:
            arguments, end = plain_arguments(event["arguments"]), seen.get(event["seq"])
            calls.append(Call(event["tool"].casefold(), arguments, end and _text(end)))
    return calls


def observed(trace: Trace) -> dict[int, TraceEvent]:
    """Return what came of each call, by the call's seq.

    Of calls with one id, the first observation belongs to the first.
    """
    found: dict[int, TraceEvent] = {}
    waiting: dict[Any, list[int]] = defaultdict(list)
    for event in trace.of(Kind.TOOL_CALL, Kind.OBSERVATION):
        seqs = waiting[event.get("parent"), event["call_id"]]
        if event["kind"] == Kind.TOOL_CALL:
            seqs.append(event["seq"])
        elif seqs:
            found[seqs.pop(0)] = event
    return found


def plain_arguments(arguments: Any) -> Any:
    """Return arguments without the name of an only one, and texts in plain form.

    An only argument that is a JSON object in text was meant as several arguments.
    """
    if isinstance(arguments, dict) and len(arguments) == 1:
        (arguments,) = arguments.values()
    if isinstance(arguments, str) and arguments.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):
            return plain_arguments(json.loads(arguments))
    if isinstance(arguments, dict):
        return {name: plain_text(value) for name, value in arguments.items()}
    return plain_text(arguments)


def plain_text(value: Any) -> Any:
    """Return a text without spaces around it, and a number as the shortest text."""
    if value is None:
        return None
    if isinstance(value, (bool, dict, list)):
        return json.dumps(value, sort_keys=True)
    text = str(value).strip()
    with suppress(InvalidOperation):
        number = Decimal(text)
        return f"{number.normalize():f}" if number.is_finite() else text
    return text


def _text(event: TraceEvent) -> Any:
    text = str(event["text"])
    for note in reversed(event.get("notes", ())):
        text = text.removesuffix(f"\nNote: {note}")
    return plain_text(re.sub(r"^answer:", "", text.strip(), flags=re.IGNORECASE))
