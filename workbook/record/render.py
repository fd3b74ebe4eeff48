"""A trace as a static table, for pages on which no widget runs.

Whatever a model or a tool wrote is text here: nothing in it is taken for HTML or for
Markdown.
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbook.record.trace import Trace, TraceEvent

COLUMNS = ("seq", "step", "at", "kind", "what")
NO_FORMULA = "mathjax_ignore"
"""MathJax leaves elements of this class alone: "$5 or $6" holds no formula."""
_MARKDOWN = re.compile(r"([\\`*_{}\[\]()#+\-.!|~$>])")


def summary(event: TraceEvent) -> str:
    """Say in a few words what an event holds, as plain text."""
    match event["kind"]:
        case "run_started":
            return f"{event['engine']}: {event['question']}"
        case "transition":
            return f"{event['source']} —{event['event']}→ {event['target']}"
        case "model_request":
            return _prompt_text(event)
        case "model_turn":
            return _turn_text(event)
        case "tool_call":
            return f"{event['tool']}({event['arguments']})"
        case "observation":
            return str(event["text"]) if event["ok"] else f"error: {event['text']}"
        case "run_finished":
            answer = event["answer"]
            end = f"{event['state']} ({event['reason']})"
            return end if answer is None else f"{end}: {answer}"
        case other:
            return str(other)


def to_html(trace: Trace, *, max_chars: int = 400) -> str:
    """Return an HTML table of the trace; long texts are cut to `max_chars`."""
    head = "".join(f"<th style='text-align:left'>{name}</th>" for name in COLUMNS)
    rows = "".join(
        f"<tr><td>{event['seq']}</td><td>{event['step']}</td>"
        f"<td style='white-space:nowrap'>{event['at_s']:.3f} s</td>"
        f"<td><code>{html.escape(event['kind'])}</code></td>"
        f"<td class='{NO_FORMULA}' style='text-align:left;white-space:pre-wrap'>"
        f"{html.escape(_cut(summary(event), max_chars))}</td></tr>"
        for event in trace
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def to_markdown(trace: Trace, *, max_chars: int = 400) -> str:
    """Return a Markdown table of the trace; long texts are cut to `max_chars`."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---:|---:|---:|---|---|"]
    lines += [
        f"| {event['seq']} | {event['step']} | {event['at_s']:.3f} s "
        f"| `{event['kind']}` | {escape_markdown(_cut(summary(event), max_chars))} |"
        for event in trace
    ]
    return "\n".join(lines) + "\n"


def escape_markdown(text: str) -> str:
    """Return text that Markdown shows letter by letter, on one line of a table.

    >>> escape_markdown("a|b *c*")
    'a\\\\|b \\\\*c\\\\*'
    """
    text = _MARKDOWN.sub(r"\\\1", html.escape(text, quote=False))
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "<br>")


def _cut(text: str, max_chars: int) -> str:
    if len(text) <= max_chars:
        return text
    return f"{text[:max_chars]}… ({len(text) - max_chars} more characters)"


def _prompt_text(event: TraceEvent) -> str:
    new, kept = event["prompt"], event["kept"]
    if isinstance(new, str):
        return f"(… {kept} characters as before)\n{new}" if kept else new
    messages = [m if isinstance(m, dict) else {"content": m} for m in new]
    lines = [f"{m.get('role', '?')}: {m.get('content', m)}" for m in messages]
    if kept:
        lines.insert(0, f"(… {kept} message{'s' * (kept != 1)} as before)")
    return "\n".join(lines)


def _turn_text(event: TraceEvent) -> str:
    usage = event["usage"] or {}
    read, wrote = usage.get("input", 0), usage.get("output", 0)
    return f"{event['text']}\n({read} tokens read, {wrote} written)"
