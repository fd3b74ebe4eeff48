"""What a person at the terminal sees, answers and types."""

import argparse
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from runs import message_of

from workbook.runtime.budget import Prices
from workbook.runtime.machine import RunResult
from workbook.runtime.permission import (
    Answer,
    Approve,
    Edit,
    Reject,
    Request,
    digest_of_call,
)
from workbook.runtime.tools import Tool
from workbook.runtime.trace import Trace
from workbook.runtime.turns import parse_turn

HELP = """\
/trace              what happened in the last run
/cost               what this conversation has cost
/mode plan|build    plan: nothing is written; build: you are asked before each write
/quit               end (so does Ctrl-D); Ctrl-C stops a run that goes on"""
CODES = {
    "DONE": 0,
    "ERROR": 1,
    "EXHAUSTED": 3,
    "STUCK": 3,
    "SUSPENDED": 4,
    "CANCELLED": 130,
}
"""The exit code of each end; 2 is for what was asked wrongly."""
SHOWN_CHARS = 300  # of an argument or a result, in a line


def read_options(about: str) -> argparse.Namespace:
    """Return what was asked for on the command line; `about` is shown by --help."""
    about, _, rest = about.partition("\n\n")
    raw = argparse.RawDescriptionHelpFormatter
    options = argparse.ArgumentParser(
        "agent.py", None, about, rest, formatter_class=raw
    )
    add = options.add_argument
    add("question", nargs="?", help="without one, a conversation begins")
    add("--model", default="", metavar="NAME", help="openai:NAME, NAME or local")
    add("--mode", default="", choices=["plan", "build"], help="plan: it writes nothing")
    add("--folder", type=Path, help="its tools may read, test and change this folder")
    which = options.add_mutually_exclusive_group().add_argument
    which("--trace", type=Path, metavar="FILE", help="keep the run there, a new file")
    which("--replay", type=Path, metavar="FILE", help="look at that run again")
    which("--resume", type=Path, metavar="FILE", help="go on with that run")
    add("--json", action="store_true", help="print one JSON object, for programs")
    add("--tools", action="store_true", help="list the tools")
    return options.parse_args()


def say(text: str) -> None:
    """Print to the standard error; the standard output is for answers alone."""
    print(printable(text), file=sys.stderr, flush=True)


def harmless(text: str) -> str:
    """Return a text without the control characters that command a terminal."""
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", "?", text)


def printable(text: str) -> str:
    """Return a text without what could command a terminal."""
    return "".join(c if c.isprintable() or c in "\n\t" else "?" for c in text)


def show(event: dict[str, Any]) -> None:
    """Print an event of a run as it happens, if a person wants to see it."""
    if line := in_a_line(event):
        say(line)
    alarm(event)


def alarm(event: dict[str, Any]) -> None:
    """Say what a person has to look after: a write that may or may not be done."""
    match event:
        case {"kind": "observation", "tool": tool, "error": {"kind": "needs_person"}}:
            say(f"Look yourself: nobody knows whether {tool} was done. See the trace.")


def in_a_line(event: dict[str, Any]) -> str:
    """Return an event as a line, or "" where there is nothing to see.

    >>> in_a_line({"kind": "observation", "ok": True, "text": "88"})
    '  <- 88'
    """
    match event:
        case {"kind": "model_turn", "text": str(text)} if text:
            thought = getattr(parse_turn(text), "thought", "")
            return f"  {_short(text if 'calls' in event else thought)}".rstrip()
        case {"kind": "tool_call", "tool": tool, "arguments": arguments}:
            return f"  -> {tool} {_short(json.dumps(arguments, ensure_ascii=False))}"
        case {"kind": "observation", "text": str(text)}:
            return f"  <- {_short(text)}"
        case {"kind": "decision", "who": who, "what": what, "why": why}:
            return f"  ({who}: {what}{', ' if why else ''}{_short(str(why))})"
    return ""


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}..."


def ask(request: Request) -> Answer | None:
    """Show what a call would do, and ask for a yes; None where nobody answers."""
    call, problem = request.call, request.problem
    while True:
        say(f"{call.name} wants to do this ({request.why}):\n{request.preview}")
        if problem:
            say(problem)
        say("yes | no, because ... | later | other arguments as JSON:")
        try:
            said = input().strip()
        except EOFError:
            return None
        word = said.lower().rstrip(".!")
        if word in ("y", "yes"):
            return Approve(call.call_id, digest_of_call(call), who="you")
        if word in ("later", "l"):
            return None
        if no := re.fullmatch(r"no?(?:[ ,:.!]+(?:because )?(.*))?", said, re.I):
            return Reject(no[1] or "", who="you")
        try:
            arguments = json.loads(said)
        except ValueError:
            arguments = None
        if isinstance(arguments, dict):
            return Edit(arguments, who="you")
        problem = "Answer yes, no, later, or a JSON object."


def report(ended: RunResult, path: Path, prices: Prices | None, as_json: bool) -> int:
    """Print the answer, or why there is none, and return the exit code."""
    if as_json:
        print(json.dumps(to_dict(ended, path, prices)), flush=True)
    elif ended.answer is not None:
        print(harmless(ended.answer), flush=True)
    else:
        say(in_words(ended, path))
    return CODES[ended.state]


def in_words(ended: RunResult, path: Path) -> str:
    """Say how a run ended that has no answer, and what can be done."""
    if ended.state == "SUSPENDED":
        command = f"python agent.py --resume {shlex.quote(str(path))}"
        return f"It waits for your yes or no. To be asked: {command}"
    kind, colon, words = message_of(ended).partition(": ")
    said = f"{ended.state}: {kind.rpartition('.')[2]}{colon}{words}"
    hint = "\nThe limits are in config.toml." if ended.state == "EXHAUSTED" else ""
    if "has not answered within" in words:
        hint = "\nThat time is in config.toml: [model] seconds."
    return f"{said}\nIts trace: {path}{hint}"


def to_dict(ended: RunResult, path: Path, prices: Prices | None) -> dict[str, Any]:
    """Return how a run ended, for programs."""
    spent = ended.spent
    return {
        "answer": ended.answer,
        "state": ended.state,
        "reason": ended.reason,
        "message": message_of(ended),
        "steps": spent.steps,
        "tool_calls": spent.tool_calls,
        "seconds": round(spent.wall_s, 3),
        "tokens": spent.usage.to_dict(),
        "cost": prices.cost(spent.usage) if prices else None,
        "trace": str(path),
    }


def tool_table(tools: list[Tool]) -> str:
    """Return each tool: its call, what it does to the world, its time, its words."""
    lines = []
    for tool in tools:
        limit = "no time limit" if tool.timeout_s is None else f"{tool.timeout_s:g} s"
        lines.append(f"{tool.signature()}  [{tool.effect}, {limit}]")
        lines.append(f"    {_short(tool.description)}")
    return printable("\n".join(lines))


def converse(agent: Any, trace: Path | None) -> int:
    """Answer what is typed, line by line, until /quit or Ctrl-D."""
    say(f"{agent.model.name}, {len(agent.tools)} tools. /help says what it knows.")
    runs: list[tuple[RunResult, Path]] = []
    while True:
        try:
            line = _typed()
        except EOFError:
            return 0
        except KeyboardInterrupt:
            say("\n/quit ends the conversation.")
            continue
        word, _, rest = line.partition(" ")
        if word == "/quit":
            return 0
        if word.startswith("/"):
            _command(word, rest.strip(), agent, runs)
        elif line:
            ended, path = agent.ask(line, trace)
            runs.append((ended, path))
            report(ended, path, None, as_json=False)


def _typed() -> str:
    if sys.stdin.isatty():
        print("> ", end="", file=sys.stderr, flush=True)
    return input().strip()


def _command(
    word: str, rest: str, agent: Any, runs: list[tuple[RunResult, Path]]
) -> None:
    match word, rest:
        case "/trace", "" if runs:
            ended, path = runs[-1]
            for event in Trace.read(path):
                show(event)
            say(f"{ended.state}, {ended.reason}. Its trace: {path}")
        case "/cost", "":
            say(_cost([ended for ended, _ in runs], agent.config.budget.prices))
        case "/mode", "plan" | "build":
            agent.mode = rest
            say(f"mode: {rest}")
        case "/trace", "":
            say("There was no run yet.")
        case _:
            say(HELP)


def _cost(ends: list[RunResult], prices: Prices | None) -> str:
    usages = [ended.spent.usage for ended in ends]
    steps = sum(ended.spent.steps for ended in ends)
    read, wrote = sum(u.input for u in usages), sum(u.output for u in usages)
    text = f"{len(ends)} questions, {steps} model calls, {read:,} tokens read,"
    text += f" {wrote:,} written"
    if prices:
        money = sum(prices.cost(usage) for usage in usages)
        text += f", {money:.4f} {prices.currency} by the prices of {prices.date}"
    return text
