"""An event of a trace in words, whose it is, and what a turn did."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from workbook.runtime.messages import CUT, read_words, render_messages
from workbook.runtime.trace import Event as TraceEvent
from workbook.runtime.turns import (
    Action,
    Malformed,
    Unreadable,
    parse_turn,
    split_fields,
    to_dict,
)

MAX_CHARS = 2000

# Who acts: a sign and a colour, the same in every picture of a run. Each
# colour has a contrast above 3:1 on white and on JupyterLab's dark page.
VOICES = {
    "user": ("○", "#888888"),
    "model": ("◆", "#1f77b4"),
    "runtime": ("■", "#2ca02c"),
    "tool": ("▲", "#c2700a"),
    "danger": ("✕", "#d62728"),
}


def summary(event: TraceEvent) -> str:
    """Say in a few words what an event holds, as plain text."""
    match event["kind"]:
        case "run_started":
            return f"{event['engine']}: {event['question']}"
        case "transition":
            return f"{event['source']} —{event['event']}→ {event['target']}"
        case "model_request":
            new, kept = event["prompt"], event["kept"]
            text = new if isinstance(new, str) else render_messages(new).rstrip()
            return f"(… {amount(kept, new)} as before)\n{text}" if kept else text
        case "model_turn":
            usage = event["usage"] or {}
            read, wrote = usage.get("input", 0), usage.get("output", 0)
            return f"{event['text']}\n({read} tokens read, {wrote} written)"
        case "tool_call":
            return call(event["tool"], event["arguments"])
        case "observation":
            return str(event["text"]) if event["ok"] else f"error: {event['text']}"
        case "decision":
            about = event.get("mode" if event["what"] == "mode" else "tool")
            what = " ".join(filter(None, [event["what"], about]))
            return ": ".join(filter(None, [event["who"], what, event["why"]]))
        case "run_finished":
            answer, end = event["answer"], f"{event['state']} ({event['reason']})"
            about = event.get("message") if answer is None else answer
            return end if about is None else f"{end}: {about}"
        case other:
            return str(other)


def turn_of(
    event: TraceEvent, chat: bool = False, tools: Container[str] = ()
) -> dict[str, Any]:
    """Return what a model did in a `model_turn`: its `kind`, and the fields of that.

    The kind is action, final, malformed or calls. With `chat`, words are an answer,
    unless they are a call of one of the `tools`. An engine may have recorded a `turn`.

    >>> turn_of({"kind": "model_turn", "text": "Final Answer: 88"})
    {'kind': 'final', 'thought': '', 'answer': '88'}
    """
    if "turn" in event:
        return dict(event["turn"] or {})
    text = event["text"]
    if calls := event.get("calls"):
        made = [
            {"call_id": c["call_id"], "tool": c["name"], "arguments": c["arguments"]}
            for c in calls
        ]
        return {"kind": "calls", "thought": text.strip(), "calls": made}
    turn = read_words(text, tools) if chat else parse_turn(text)
    if event.get("finish") in CUT and not isinstance(turn, Malformed):
        step = turn.input if isinstance(turn, Action) else turn.answer
        if chat or split_fields(text)[-1][1] == step:  # it was cut in the middle of it
            turn = Malformed(Unreadable.NO_STEP, text)
    return to_dict(turn)


def call(tool: str, arguments: Any) -> str:
    """Return a call as one would write it.

    >>> call("Calculator", {"input": "1+1"}), call("Clock", {}), call("Search", None)
    ("Calculator(input='1+1')", 'Clock()', 'Search(None)')
    """
    if isinstance(arguments, Mapping):
        arguments = ", ".join(f"{name}={value!r}" for name, value in arguments.items())
    return f"{tool}({arguments})"


REFUSALS = ("deny", "reject", "warning", "stuck", "tools withdrawn")
"""What a guard or a person decides that the model did not want."""


def voice(event: TraceEvent) -> str:
    """Say whose event it is, as a key of `VOICES`; what went wrong is danger."""
    if event["kind"] == "decision":
        if event["what"] in REFUSALS or event.get("stopped"):
            return "danger"
        is_person = "answer" in event or event["what"] == "mode"
        return "user" if is_person or event["who"] == "user" else "runtime"
    if event.get("ok") is False or event.get("state", "DONE") != "DONE":
        return "danger"
    whose = {"run_started": "user", "model_turn": "model"}
    whose |= {"tool_call": "tool", "observation": "tool"}
    return whose.get(event["kind"], "runtime")


def amount(number: int, prompt: str | list[Any]) -> str:
    """Say how much of a prompt that is.

    >>> amount(1200, "text"), amount(1, [])
    ('1,200 characters', '1 message')
    """
    unit = "character" if isinstance(prompt, str) else "message"
    return f"{number:,} {unit}{'s' * (number != 1)}"


def shortened(text: str) -> str:
    """Return the beginning of a long text, and how much more there is."""
    more = len(text) - MAX_CHARS
    return text if more <= 0 else f"{text[:MAX_CHARS]}… ({more:,} more characters)"
