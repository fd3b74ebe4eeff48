"""Lesson 08: what a trace says, in words, in logs, in figures and by kind of error.

All of it is made of recorded events: nothing here runs an agent. How a run is played
again is in `workbook.runtime.replay`.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent
from typing import Any

from workbook.paths import DATA
from workbook.runtime.calls import clip
from workbook.runtime.messages import render_messages
from workbook.runtime.trace import Event, Kind, Trace, TraceError
from workbook.runtime.turns import parse_turn

Row = dict[str, Any]


def summary(event: Event) -> str:
    """Return in a few words what an event holds, as plain text."""
    match event["kind"]:
        case "run_started":
            return f"{event['engine']}: {event['question']}"
        case "transition":
            return f"{event['source']} —{event['event']}→ {event['target']}"
        case "model_request":
            new, kept = event["prompt"], event["kept"]
            text, unit = str(new), "character"
            if not isinstance(new, str):
                text, unit = render_messages(new).rstrip(), "message"
            as_before = f"(… {kept:,} {unit}{'s' * (kept != 1)} as before)\n"
            return as_before * bool(kept) + text
        case "model_turn":
            usage = event["usage"] or {}
            read, wrote = usage.get("input", 0), usage.get("output", 0)
            return f"{event['text']}\n({read} tokens read, {wrote} written)"
        case "tool_call":
            given = event["arguments"] or {}
            shown = ", ".join(f"{name}={value!r}" for name, value in given.items())
            return f"{event['tool']}({shown})"
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
    return str(event["kind"])


# Three logs, made of a trace: a line an event, a page for people, a row a step.

VIEWS = ("run.log", "chat.md", "chat.jsonl")
LINE = 200  # characters


def steps_of(trace: Trace) -> list[Row]:
    """Return the agent's own steps, as published traces list them: a row each.

    `event` is question, thought or decision (`content`), action (`name`, `input`),
    observation (`output`) or final (`answer`, `state`).
    """
    rows, nothing_new = list[Row](), ("", (trace.end or {}).get("answer"))
    for event in trace:
        match event:
            case {"parent": _}:
                continue
            case {"kind": "run_started", "question": text}:
                row = {"event": "question", "content": text}
            case {"kind": "model_turn", "text": text}:
                # all of a turn that has no thought
                turn = text if "calls" in event else parse_turn(text)
                thought = getattr(turn, "thought", text)
                if thought in nothing_new:
                    continue
                row = {"event": "thought", "content": thought}
            case {"kind": "tool_call", "tool": name, "arguments": given}:
                row = {"event": "action", "name": name, "input": given}
            case {"kind": "observation", "text": text}:
                row = {"event": "observation", "output": text}
            case {"kind": "decision"}:
                row = {"event": "decision", "content": summary(event)}
            case {"kind": "run_finished", "answer": answer, "state": state}:
                row = {"event": "final", "answer": answer, "state": state}
            case _:
                continue
        rows.append({"step": event["step"], **row})
    return rows


def write_logs(trace: Trace, folder: Path | str) -> Path:
    """Write run.log, chat.md and chat.jsonl of a trace; return their folder."""
    folder, steps, chat = Path(folder), steps_of(trace), list[str]()
    for step in steps:  # its text is indented, so that none is read as Markdown
        title = f"### {step['event'].capitalize()} (step {step['step']})"
        values = [value for n, value in step.items() if n not in ("step", "event")]
        texts = [v if isinstance(v, str) else json.dumps(v) for v in values]
        chat.append(f"{title}\n\n{indent(plain(chr(10).join(texts)), ' ' * 4)}\n")
    folder.mkdir(parents=True, exist_ok=True)
    logs = map(line_of, trace), chat, map(json.dumps, steps)
    for name, lines in zip(VIEWS, logs, strict=True):
        text = "\n".join(lines) + "\n"
        (folder / name).write_text(text, encoding="utf-8", newline="\n")
    return folder


def line_of(event: Event) -> str:
    """Return an event as a line: seconds, step, kind, what."""
    when = f"{event['at_s']:9.3f} s {event['step']:4}"
    kind = "↳ " * ("parent" in event) + event["kind"]
    return clip(f"{when}  {kind:14} {one_line(summary(event))}", LINE)


def one_line(text: str) -> str:
    """Return a text on one line, without what a terminal would obey."""
    return " ".join(plain(text).split())


def plain(text: str) -> str:
    """Return a text in which what cannot be seen is a sign that can."""
    text = "\n".join(text.splitlines())
    return "".join(c if c.isprintable() or c in "\n\t" else "\ufffd" for c in text)


def state_times(events: Iterable[Event]) -> dict[str, list[float]]:
    """Return the seconds of each stay in each state, the states in order."""
    stays: dict[str, list[float]] = {}
    for event in events:
        if event["kind"] == Kind.TRANSITION:
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
    return stays


@dataclass(frozen=True)
class Rate:
    """How many calls went well, of how many; the `retries` are among those."""

    ok: int = 0
    calls: int = 0
    retries: int = 0

    @property
    def share(self) -> float | None:
        """The share that went well, 0 to 1; None where there were no calls."""
        return self.ok / self.calls if self.calls else None


def success_rate(events: Iterable[Event]) -> Rate:
    """Return how many of the agent's own calls went well, and how many were retries."""
    calls = [*observed_calls(events)]
    ok, retries = (sum(call[name] for call in calls) for name in ("ok", "retry"))
    return Rate(ok, len(calls), retries)


def observed_calls(events: Iterable[Event]) -> Iterator[Row]:
    """Yield a row for each of the agent's own calls, as it is observed.

    `retry`: the same call of that run had last failed. `repeat`: the same call had got
    the same answer before.
    """
    asked: dict[Any, Any] = {}  # and not observed so far
    failed, seen = set[Any](), set[Any]()
    for event in events:
        key = event["trace_id"], event.get("call_id")
        if "parent" in event or key[1] is None:
            continue
        if event["kind"] == Kind.TOOL_CALL:
            arguments = json.dumps(event["arguments"], sort_keys=True)
            same = event["trace_id"], event["tool"], arguments
            asked[key] = same, same in failed, event["at_s"]
        elif event["kind"] == Kind.OBSERVATION and key in asked:
            same, retry, at_s = asked.pop(key)
            row = {"tool": same[1], "ok": event["ok"], "retry": retry}
            answer = same, event["text"]
            row |= {"repeat": answer in seen, "ms": 1000 * (event["at_s"] - at_s)}
            seen.add(answer)
            (failed.discard if event["ok"] else failed.add)(same)
            yield row


def traces_in(folder: Path | str) -> Iterator[Trace]:
    """Yield the trace in each *.jsonl file of a folder, up to its damage, if any."""
    for path in sorted(Path(folder).rglob("*.jsonl")):
        if path.is_file() and path.read_bytes().startswith(b'{"trace_id"'):
            try:
                yield Trace.read(path)
            except TraceError as error:
                yield Trace((), lost=str(error))


_ERRORS = tomllib.loads((DATA / "lessons/08/errors.toml").read_text("utf-8"))
KINDS = {kind: name for name, about in _ERRORS.items() for kind in about["kinds"]}
"""The known kinds of error, each with its category."""
ADVICE = {name: about["advice"] for name, about in _ERRORS.items()}
"""What a person can do about the errors of each category."""


def classify_error(event: Event) -> str:
    """Return the category of a failed observation, a key of `ADVICE`."""
    if event.get("ok") is not False:
        raise ValueError(f"this is no failed observation: {clip(str(event), LINE)}")
    error = event.get("error")
    if not error:
        return "not recorded"
    if isinstance(error, str):
        return KINDS.get(error, "tool")
    if error.get("retryable"):
        return "transient"
    return KINDS.get(error["kind"], "own kind")


def patterns(
    traces: Iterable[Trace], classify: Callable[[Event], str] = classify_error
) -> list[Row]:
    """Return rows of failures of one tool and kind, the most frequent first.

    Each `failed` of so many `calls` of the tool; where no call could be read, `tool` is
    None and they are turns.
    """
    made, failed = Counter[Any](), Counter[Any]()
    for trace in traces:
        made.update(event["tool"] for event in trace.of(Kind.TOOL_CALL))
        made[None] += sum("parent" not in turn for turn in trace.of(Kind.MODEL_TURN))
        for event in trace.of(Kind.OBSERVATION):
            if not event["ok"]:
                error = event.get("error") or "none"
                kind = error["kind"] if isinstance(error, dict) else error
                failed[event["tool"], kind, classify(event)] += 1
    return [
        {"tool": tool, "failed": n, "calls": made[tool], "kind": kind, "category": what}
        for (tool, kind, what), n in failed.most_common()
    ]
