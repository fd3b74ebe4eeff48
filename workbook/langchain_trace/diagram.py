"""Who spoke to whom: a Mermaid sequence diagram drawn from a trace.

A tool that asks the model itself, as llm-math does, has an arrow of its own to the
model: the hidden second call.
"""

from collections.abc import Iterable

from workbook.runtime.calls import clip
from workbook.runtime.trace import Event as TraceEvent
from workbook.views.mermaid import escape_mermaid
from workbook.views.show import amount, summary, turn_of

LABEL_CHARS = 60
INDENT = "    "


def sequence_diagram(trace: Iterable[TraceEvent]) -> str:
    """Return a trace as the source of a Mermaid sequence diagram.

    It begins with `head(trace)`. Then comes a line for each event, in order: four
    spaces, who speaks, the arrow, who listens, a colon, a space, `label(event)`.

    Where an event has a `parent`, the tool of that event (its `seq`) takes the Agent's
    place. A tool goes by its name in `tool_ids(trace)`. A transition is no arrow.

    >>> ask = {"kind": "run_started", "engine": "naive", "question": "2+2?"}
    >>> print(sequence_diagram([ask]))
    sequenceDiagram
        participant User
        participant Agent
        participant Model
        User->>Agent: 2+2?
    """
    events = list(trace)
    ids = tool_ids(events)
    tools = {e["seq"]: ids[e["tool"]] for e in events if e["kind"] == "tool_call"}
    lines = head(events)
    for event in events:
        agent = tools[event["parent"]] if "parent" in event else "Agent"
        tool = ids.get(event.get("tool", ""), "")
        arrow = {
            "run_started": f"User->>{agent}",
            "model_request": f"{agent}->>Model",
            "model_turn": f"Model-->>{agent}",
            "tool_call": f"{agent}->>{tool}",
            "observation": f"{tool}-->>{agent}",
            "run_finished": f"{agent}-->>User",
        }.get(event["kind"])
        if arrow:
            lines.append(f"{INDENT}{arrow}: {label(event)}")
    return "\n".join(lines)


def tool_ids(events: Iterable[TraceEvent]) -> dict[str, str]:
    """Return the tools of a trace, in order of their first call, with ids for Mermaid.

    >>> tool_ids([{"kind": "tool_call", "seq": 3, "tool": "Python REPL"}])
    {'Python REPL': 'T1'}
    """
    kinds = ("tool_call", "observation")
    names = dict.fromkeys(e["tool"] for e in events if e["kind"] in kinds)
    return {name: f"T{number}" for number, name in enumerate(names, start=1)}


def head(events: Iterable[TraceEvent]) -> list[str]:
    """Return the first lines of the diagram: its kind and who takes part."""
    who = ["User", "Agent", "Model"]
    for name, id_ in tool_ids(events).items():
        who.append(f"{id_} as {escape_mermaid(clip(name, LABEL_CHARS))}")
    return ["sequenceDiagram", *(f"{INDENT}participant {one}" for one in who)]


def label(event: TraceEvent) -> str:
    """Return what an event's arrow says: its text, short, escaped for Mermaid.

    >>> label({"kind": "observation", "ok": True, "text": "a; b"})
    'a#59; b'
    """
    return escape_mermaid(clip(_words(event).strip(), LABEL_CHARS))


def _words(event: TraceEvent) -> str:
    match event:
        case {"kind": "run_started"}:
            return str(event["question"])
        case {"kind": "model_request", "kept": kept, "prompt": new}:
            if not kept:
                return amount(len(new), new)
            return f"{amount(kept, new)} as before, {len(new):,} new"
        case {"kind": "model_turn"}:
            return _turn(event)
        case {"kind": "tool_call"}:
            return ", ".join(map(str, event["arguments"].values()))
        case _:
            return summary(event)


def _turn(event: TraceEvent) -> str:
    match turn_of(event):
        case {"kind": "action", "tool": tool}:
            return f"Action: {tool}"
        case {"kind": "calls", "calls": calls}:
            return "call " + ", ".join(call["tool"] for call in calls)
        case {"kind": "final", "answer": answer}:
            return f"Final Answer: {answer}"
    return str(event["text"])
