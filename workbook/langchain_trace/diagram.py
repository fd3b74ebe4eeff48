"""Who spoke to whom: a Mermaid sequence diagram drawn from a trace.

Every event but a transition is one arrow. A tool that asks the model itself, as
llm-math does, has an arrow of its own to the model: the hidden second call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from workbook.record.events import TraceEvent
from workbook.record.show import Mermaid, escape_mermaid

LABEL_CHARS = 60
INDENT = "    "


def sequence_diagram(trace: Iterable[TraceEvent]) -> str:
    """Return a trace as the source of a Mermaid sequence diagram.

    It begins with `head(trace)`. Then comes a line for each event, in order: four
    spaces, who speaks, the arrow, who listens, a colon, a space, `label(event)`.

    ==================  ==========================  =======
    event               from, to                    arrow
    ==================  ==========================  =======
    run_started         User, Agent                 `->>`
    model_request       Agent, Model                `->>`
    model_turn          Model, Agent                `-->>`
    tool_call           Agent, the tool             `->>`
    observation         the tool, Agent             `-->>`
    run_finished        Agent, User                 `-->>`
    ==================  ==========================  =======

    Where an event has a `parent`, the tool of that event (its `seq`) takes the Agent's
    place. A tool goes by its name in `tool_ids(trace)`. A transition is no arrow.

    Args:
        trace: a `Trace`, or its events in order.

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


def draw_sequence(trace: Iterable[TraceEvent]) -> Mermaid:
    """Return the diagram as a value that a notebook draws."""
    return Mermaid(sequence_diagram(trace))


def tool_ids(events: Iterable[TraceEvent]) -> dict[str, str]:
    """Return the tools of a trace, in order of their first call, and their ids.

    An id is safe in a diagram, a tool's name need not be.

    >>> tool_ids([{"kind": "tool_call", "seq": 3, "tool": "Python REPL"}])
    {'Python REPL': 'T1'}
    """
    kinds = ("tool_call", "observation")
    names = dict.fromkeys(e["tool"] for e in events if e["kind"] in kinds)
    return {name: f"T{number}" for number, name in enumerate(names, start=1)}


def head(events: Iterable[TraceEvent]) -> list[str]:
    """Return the first lines of the diagram: its kind and who takes part."""
    lines = [f"{INDENT}participant {name}" for name in ("User", "Agent", "Model")]
    lines += [
        f"{INDENT}participant {id_} as {escape_mermaid(_cut(name))}"
        for name, id_ in tool_ids(events).items()
    ]
    return ["sequenceDiagram", *lines]


def label(event: TraceEvent) -> str:
    """Return what an event's arrow says: its text, short, escaped for Mermaid.

    >>> label({"kind": "observation", "ok": True, "text": "a; b"})
    'a#59; b'
    """
    return escape_mermaid(_cut(_words(event)))


def _words(event: TraceEvent) -> str:
    match event["kind"]:
        case "run_started":
            return str(event["question"])
        case "model_request":
            kept, new = event["kept"], event["prompt"]
            unit = "characters" if isinstance(new, str) else "messages"
            before = f"{kept:,} {unit} as before, " if kept else ""
            return f"{before}{len(new):,} {unit if not kept else 'new'}"
        case "model_turn":
            return _turn_words(event)
        case "tool_call":
            values = [str(value) for value in event["arguments"].values()]
            return ", ".join(values)
        case "observation":
            return str(event["text"]) if event["ok"] else f"error: {event['text']}"
        case "run_finished":
            end, answer = f"{event['state']}, {event['reason']}", event["answer"]
            return end if answer is None else f"{end}: {answer}"
        case other:
            return str(other)


def _turn_words(event: TraceEvent) -> str:
    turn: dict[str, Any] = event["turn"] or {}
    match turn.get("kind"):
        case "action":
            return f"Action: {turn['tool']}"
        case "calls":
            calls: Sequence[dict[str, Any]] = turn["calls"]
            return "call " + ", ".join(call["tool"] for call in calls)
        case "final":
            return f"Final Answer: {turn['answer']}"
        case _:
            return str(event["text"])


def _cut(text: str) -> str:
    text = text.strip()
    return text if len(text) <= LABEL_CHARS else f"{text[: LABEL_CHARS - 1]}…"
