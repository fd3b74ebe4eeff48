"""What a person at the terminal sees, answers and types. All of it is on stderr."""

import json
import re
import select
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from .runtime.budget import Prices
from .runtime.machine import RunResult
from .runtime.permission import (
    Answer,
    Approve,
    Edit,
    Reject,
    Request,
    digest_of_call,
)
from .runtime.tools import Tool

with suppress(ImportError):  # not on Windows
    import readline  # noqa: F401 - the arrow keys find what was typed before

SHOWN_CHARS = 300  # of an argument or a result, in a line
ALWAYS = ("always", "a")


def printable(text: str) -> str:
    """Return a text without what could command a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def say(text: str, end: str = "\n") -> None:
    """Print to stderr."""
    with suppress(OSError, ValueError):  # nobody reads it
        print(printable(text), end=end, file=sys.stderr, flush=True)


class Terminal:
    """Shows the events of a run as they happen, and asks whoever is there."""

    def __init__(self, quiet: bool = False) -> None:
        self.quiet, self.is_in_line = quiet, False
        self.refused: set[str] = set()
        self.always: set[str] = set()  # of an agent: tools that are allowed from now on

    def text(self, piece: str) -> None:
        """Show a piece of a turn as the model writes it."""
        if not self.quiet and piece:
            say(piece, end="")
            self.is_in_line = not piece.endswith("\n")

    def line(self, text: str) -> None:
        """Show a line, below what was streamed."""
        if self.is_in_line:
            say("")
        self.is_in_line = False
        if text:
            say(text)

    def event(self, event: dict[str, Any]) -> None:
        """Show an event, if a person wants to see it."""
        match event:
            case {"kind": "decision", "what": "deny" | "reject", "call_id": call_id}:
                self.refused.add(call_id)
            case {"tool": tool, "error": {"kind": "needs_person"}}:
                self.line(
                    f"Look yourself: nobody knows whether {tool} was done; --settle."
                )
        if not self.quiet and (line := self._line_of(event)):
            self.line(line)

    def _line_of(self, event: dict[str, Any]) -> str:
        match event:
            case {"kind": "tool_call", "tool": tool, "arguments": arguments}:
                called = f"{tool} {short(json.dumps(arguments, ensure_ascii=False))}"
                return "" if event["call_id"] in self.refused else f"  -> {called}"
            case {"kind": "observation", "text": str(text)}:
                return f"  <- {short(text)}"
            case {"kind": "decision", "what": "ask" | "raised"}:
                return ""  # it is shown below
            case {"kind": "decision", "who": who, "what": what, "why": why}:
                return f"  ({who}: {what}{', ' if why else ''}{short(str(why))})"
        return ""

    def ask(self, request: Request) -> Answer | None:
        """Show what a call would do, and ask; None where nobody answers."""
        call, problem = request.call, request.problem
        while True:
            self.line(f"{call.name} wants to do this ({request.why}):")
            say(request.preview)
            if problem:
                say(problem)
            say("yes | always, for this tool in this run | no, because ... | later |")
            say("other arguments as JSON: ", end="")
            try:
                answer = input().strip()
            except (EOFError, OSError, ValueError, RuntimeError):  # it may be closed
                return None
            word = answer.lower().rstrip(".!")
            if word in ("y", "yes", *ALWAYS):
                if word in ALWAYS:
                    self.always.add(call.name)
                return Approve(call.call_id, digest_of_call(call), who="you")
            if word in ("later", "l"):
                return None
            if no := re.fullmatch(r"no?(?:[ ,:.!]+(?:because )?(.*))?", answer, re.I):
                return Reject(no[1] or "", who="you")
            with suppress(ValueError):
                if isinstance(arguments := json.loads(answer), dict):
                    return Edit(arguments, who="you")
            problem = "Answer yes, always, no, later, or a JSON object."


def short(text: str) -> str:
    """Return a text in a line, its beginning where it is long."""
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}..."


def in_words(ended: RunResult, path: Path, resume: str) -> str:
    """Say how a run ended that has no answer, and what can be done."""
    if ended.state == "SUSPENDED":
        return f"It waits for your approval. To be asked: {resume}"
    hint = ""
    if ended.state == "EXHAUSTED":
        hint = "That limit is in config.toml, [limits]; then: "
    if "has not answered within" in ended.message:
        hint = "That time is in config.toml, [model] seconds; then: "
    goes_on = ended.state in ("ERROR", "EXHAUSTED", "CANCELLED")
    after = f"\nTo go on: {hint}{resume}" if goes_on else ""
    return f"{ended.state}: {message_of(ended)}\nIts trace: {path}{after}"


def message_of(ended: RunResult) -> str:
    """Return the reason of an end in words; of a limit, which one it was."""
    if ended.reason != "not_converged":
        return ended.message
    why = [e["why"] for e in ended.trace.of("decision") if e["who"] == "budget"]
    return f"{why[-1]}, and the model has not answered"


def spent_line(ends: Iterable[RunResult], prices: Prices | None) -> str:
    """Return what runs have cost: steps, calls, tokens, money, seconds."""
    spents = [ended.spent for ended in ends]
    usages = [spent.usage for spent in spents]
    tokens = sum(usage.input + usage.output for usage in usages)
    line = f"{sum(s.steps for s in spents)} steps, "
    line += f"{sum(s.tool_calls for s in spents)} calls, {tokens:,} tokens, "
    if prices:
        money = sum(prices.cost(usage) for usage in usages)
        line += f"{money:.4f} {prices.currency} by the prices of {prices.date}, "
    return f"{line}{sum(s.wall_s for s in spents):.1f} s"


def tool_table(tools: list[Tool]) -> str:
    """Return each tool: its call, what it does to the world, its time, its words."""
    lines = []
    for tool in tools:
        limit = "no time limit" if tool.timeout_s is None else f"{tool.timeout_s:g} s"
        lines.append(f"{tool.signature()}  [{tool.effect}, {limit}]")
        lines.append(f"    {short(tool.description)}")
    return "\n".join(lines)


def typed() -> str:
    """Return what a person types; lines that are pasted together are one text."""
    if not sys.stdin.isatty():
        return input().strip()
    lines = [input("> ")]
    with suppress(OSError, ValueError):  # no select for a terminal on Windows
        while select.select([sys.stdin], [], [], 0.05)[0]:
            lines.append(input())
    return "\n".join(lines).strip()
