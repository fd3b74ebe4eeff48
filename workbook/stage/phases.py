"""What an engine without states is doing, read from the events that it wrote.

The naive loop and LangChain's agent have no table. They go round all the same: ask the
model, read its turn, run a tool, append what came back.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable

from workbook.record.events import Kind, TraceEvent
from workbook.record.show import escape_mermaid

PHASES = {
    Kind.MODEL_REQUEST: "ASK_MODEL",
    Kind.MODEL_TURN: "READ_TURN",
    Kind.TOOL_CALL: "RUN_TOOL",
    Kind.OBSERVATION: "APPEND",
}
"""What an engine without states is doing, by the event that it wrote last."""

LOOP = (
    ("ASK_MODEL", "READ_TURN", "it answered"),
    ("READ_TURN", "RUN_TOOL", "an action"),
    ("RUN_TOOL", "APPEND", "it came back"),
    ("APPEND", "ASK_MODEL", "again"),
    ("READ_TURN", "DONE", "final answer"),
)
"""The arrows that such an engine has if all goes well."""


def phases_of(events: Iterable[TraceEvent]) -> list[str]:
    """Return the phases that a loop went through, its end with them."""
    phases = []
    for event in events:
        if event["kind"] == Kind.RUN_FINISHED:
            phases.append(re.sub(r"\W", "_", str(event["state"])) or "ENDED")
        elif event["kind"] in PHASES and "parent" not in event:
            phases.append(PHASES[Kind(event["kind"])])
    return phases


def loop_diagram(events: list[TraceEvent], lit: str | None) -> str:
    """Draw the loop, and the way out that this run took, whatever that was."""
    arrows = {(source, target): label for source, target, label in LOOP}
    phases = phases_of(events)
    end = events[-1] if events and events[-1]["kind"] == Kind.RUN_FINISHED else None
    for pair in itertools.pairwise(phases):
        arrows.setdefault(pair, "")
    if end is not None and phases[-1] != "DONE" and len(phases) > 1:
        arrows[phases[-2], phases[-1]] = escape_mermaid(str(end["reason"]))
    ends = ["DONE", *(phases[-1:] if end is not None else [])]
    lines = ["stateDiagram-v2", "    [*] --> ASK_MODEL"]
    lines += [
        f"    {source} --> {target}" + (f" : {label}" if label else "")
        for (source, target), label in arrows.items()
    ]
    lines += [f"    {state} --> [*]" for state in dict.fromkeys(ends)]
    if lit:
        lines.append("    classDef now fill:#ffd54f,stroke:#5d4037,color:#000")
        lines.append(f"    class {lit} now")
    return "\n".join(lines)
