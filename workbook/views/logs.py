"""One stream of events, four files: the trace, and three views of it for readers.

`run.log` has a line an event and a summary, `chat.md` is for people, `chat.jsonl` has a
message a line. All are made of what the trace holds, after its secrets were taken out,
and so they can be made again from the trace alone.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any

from workbook.runtime.calls import clip
from workbook.runtime.journal import Journal
from workbook.runtime.trace import Event as TraceEvent
from workbook.runtime.trace import Kind, Trace
from workbook.views.show import VOICES, amount, shortened, summary, voice

VIEWS = ("run.log", "chat.md", "chat.jsonl")
LINE = 200  # characters of a line in run.log

# What a terminal obeys, what turns the direction of a text, and half a surrogate pair.
_UNSEEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


@contextmanager
def logged(folder: Path | str, **options: Any) -> Iterator[Journal]:
    """Write trace.jsonl and its three views into a folder, while a run goes on.

    Gives its journal: `with logged("runs/1") as journal: m.run("…", journal=journal)`.
    The options are those of `Journal`. A run that is resumed goes on in its trace:
    `write_logs` then makes the views anew.
    """
    journal = Journal(Path(folder) / "trace.jsonl", **options)  # alone in there
    with closing(journal), _views(Path(folder)) as add, journal:
        journal.listener = add
        yield journal


def write_logs(trace: Trace, folder: Path | str) -> Path:
    """Make run.log, chat.md and chat.jsonl of a trace, and return their folder."""
    with _views(Path(folder), trace.lost) as add:
        for event in trace:
            add(event)
    return Path(folder)


@contextmanager
def _views(folder: Path, lost: str = "") -> Iterator[Callable[[TraceEvent], None]]:
    """Give what adds an event to the three files, each time whole and on the disk."""
    folder.mkdir(parents=True, exist_ok=True)
    seen: list[TraceEvent] = []
    with ExitStack() as files:
        names = [folder / name for name in VIEWS]
        log, chat, rows = [
            files.enter_context(
                name.open("w", buffering=1, encoding="utf-8", newline="\n")
            )
            for name in names
        ]

        def add(event: TraceEvent) -> None:
            seen.append(event)
            log.write(f"{line_of(event)}\n")
            if row := message(event):
                chat.write(_as_markdown(row))
                rows.write(_as_json(row))

        try:
            yield add
        finally:
            log.write(f"\n{summary_of(Trace(tuple(seen), lost))}\n")


ROLES = {
    Kind.RUN_STARTED: ("user", "question", "question"),
    Kind.MODEL_TURN: ("assistant", "turn", "text"),
    Kind.TOOL_CALL: ("assistant", "action", ""),
    Kind.OBSERVATION: ("tool", "observation", "text"),
    Kind.DECISION: ("runtime", "decision", ""),
    Kind.RUN_FINISHED: ("runtime", "final", ""),
}
"""By kind of event: whose words it is, what it is, and the field that has them."""

MORE = ("tool", "call_id", "arguments", "ok", "state", "reason", "parent")
"""What a line of chat.jsonl has besides, where the event has it."""


def message(event: TraceEvent) -> dict[str, Any] | None:
    """Return an event as a line of chat.jsonl; None where it has no words.

    It has `step`, `role` (user, assistant, tool, runtime), `type` (question, turn,
    action, observation, decision, final), `content`, a text, and fields of `MORE`.
    """
    role, what, field = ROLES.get(event["kind"], ("", "", ""))
    content = event[field] if field else summary(event)
    if not what or (what == "turn" and not content):
        return None
    if what == "observation" and event["tool"] is None:
        role = "runtime"  # no call could be read
    if what == "decision" and voice(event) == "user":
        role = "user"
    row = {"step": event["step"], "role": role, "type": what, "content": content}
    return row | {name: event[name] for name in MORE if name in event}


def error_kind(event: TraceEvent) -> str:
    """Return the kind of a failed observation's error; empty where it has none."""
    error = event.get("error")
    return str(error.get("kind", "") if isinstance(error, dict) else error or "")


def totals(trace: Trace) -> dict[str, Any]:
    """Return how a run ended, and what it spent.

    `state`, `reason`, `steps` (the agent's model calls), `tool_calls`, `tokens` (read
    and written, in tools too; None where no model reports any), `seconds`, `forced`,
    `errors` (failed observations by kind).
    """
    events = trace.events or ({"kind": "no event", "step": 0, "at_s": 0.0},)
    last, end = events[-1], trace.end or {}
    state, reason = "no end", f"after {last.get('event', last['kind'])}"
    if last.get("event") == "suspended":
        state, reason = last["target"], last["event"]
    used = [e["usage"] for e in trace.of(Kind.MODEL_TURN) if e["usage"]]
    tokens = sum((u.get(way) or 0) for u in used for way in ("input", "output"))
    calls = [event for event in trace.of(Kind.TOOL_CALL) if "parent" not in event]
    failed = [event for event in trace.of(Kind.OBSERVATION) if not event["ok"]]
    spent = end.get("spent") or {}
    return {
        "state": end.get("state", state),
        "reason": end.get("reason", reason),
        "steps": spent.get("steps", last["step"]),
        "tool_calls": spent.get("tool_calls", len(calls)),
        "tokens": tokens if used else None,
        "seconds": last["at_s"] - events[0]["at_s"],
        "forced": bool(end.get("forced")),
        "errors": dict(Counter(error_kind(each) or "no kind" for each in failed)),
    }


def summary_of(trace: Trace) -> str:
    """Return `totals` as the lines that stand at the end of run.log."""
    found, why = totals(trace), (trace.end or {}).get("message")
    tokens = "unknown" if found["tokens"] is None else f"{found['tokens']:,}"
    rows = {
        "state": found["state"],
        "reason": f"{found['reason']}: {why}" if why else found["reason"],
        "spent": f"steps {found['steps']}, tool calls {found['tool_calls']}, "
        f"tokens {tokens}, seconds {found['seconds']:.3f}",
        "forced": "yes, its tools were withdrawn" if found["forced"] else "no",
        "errors": ", ".join(f"{k} {n}" for k, n in found["errors"].items()) or "none",
        "lost": trace.lost,
    }
    lines = {name: clip(one_line(value), LINE) for name, value in rows.items()}
    return "\n".join(f"{name:8}{line}" for name, line in lines.items() if line)


def line_of(event: TraceEvent) -> str:
    """Return an event as a line: seconds, step, state or kind, what."""
    word, what = event["kind"], ""
    if word == Kind.TRANSITION:
        word, what = event["target"], f"{event['event']}: {event['why']}"
    elif word == Kind.MODEL_REQUEST:
        new, kept = event["prompt"], event["kept"]
        what = f"{amount(len(new), new)} new, {amount(kept, new)} as before"
    else:
        what = summary(event)
    word = "↳ " * ("parent" in event) + f"{VOICES[voice(event)][0]} {word}"
    when = f"{event['at_s']:9.3f} s {event['step']:4}"
    return clip(f"{when}  {one_line(word):18} {one_line(what)}", LINE)


def one_line(text: str) -> str:
    """Return a text on one line, without what a terminal would obey."""
    return " ".join(plain(text).split())


def plain(text: str) -> str:
    """Return a text in which what cannot be seen is a sign that can."""
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", "\n".join(text.splitlines()))


def _as_json(message: dict[str, Any]) -> str:
    """Return a line of JSON in which what cannot be seen is escaped as well."""
    line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
    return _UNSEEN.sub(lambda found: f"\\u{ord(found[0]):04x}", line) + "\n"


def _as_markdown(message: dict[str, Any]) -> str:
    """Return a message in Markdown: our own title, and its text in a fence.

    Nothing inside a fence is read as Markdown, and the fence is longer than any in it.
    """
    title = message["type"].capitalize()
    if tool := message.get("tool"):
        name = re.sub(r"[^\w.-]", "?", clip(tool, 40))
        title += f" of `{name}`"
    title += ": an error" * (message.get("ok") is False)
    title += ", inside a tool" * ("parent" in message)
    text = shortened(plain(message["content"])) or "(empty)"
    fence = "`" * max(3, *(len(run) + 1 for run in re.findall("`+", text)), 0)
    return f"### {title} (step {message['step']})\n\n{fence}text\n{text}\n{fence}\n\n"
