"""A trace as a static table, for pages on which no widget runs.

Whatever a model or a tool wrote is text here: nothing in it is taken for HTML or for
Markdown.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from workbook.record.events import TraceEvent
    from workbook.record.trace import Trace

MIME_TYPE = "text/vnd.mermaid"

# `#` opens an entity in Mermaid and `;` ends a statement, so the two come with the
# others in one pass. Doubled `%` and `$` would open a comment and a formula; a label
# with the word "style" or "classDef" would lose its last `;`.
_SPECIAL = re.compile(
    r"[#;<>&\"`\\{}]|%(?=[%{])|\$(?=\$)|s(?=tyle)|c(?=lassDef)|^(?=(?:no)?wrap:)",
)
_BREAK = re.compile(r"\r\n|[\n\r\x0b\x0c\x85\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0e-\x1f\x7f]")


@dataclass(frozen=True)
class Mermaid:
    """The source of a diagram. A notebook draws it; elsewhere it shows as text."""

    text: str

    def _repr_mimebundle_(
        self, include: Sequence[str] | None = None, exclude: Sequence[str] | None = None
    ) -> dict[str, str]:
        return {MIME_TYPE: self.text, "text/plain": self.text}

    def __str__(self) -> str:
        return self.text


def escape_mermaid(text: str) -> str:
    """Return text that Mermaid shows letter by letter, as a label on one line.

    >>> escape_mermaid("a;b #1\\n<b>")
    'a#59;b #35;1<br/>#60;b#62;'
    """
    lines = [_escape_line(line.strip()) for line in _BREAK.split(text.strip())]
    return "<br/>".join(lines) or "(empty)"


def _escape_line(line: str) -> str:
    line = _CONTROL.sub("\N{REPLACEMENT CHARACTER}", line)
    return _SPECIAL.sub(_entity, line)


def _entity(match: re.Match[str]) -> str:
    # A label that starts with "wrap:" is an option; with a space of no width before
    # it, it is text.
    return f"#{ord(match[0])};" if match[0] else "#8203;"


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
