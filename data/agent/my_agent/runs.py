"""Runs as files: one to go on with, all of them in a list, and what is unknown."""

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from .runtime.ledger import Ledger
from .runtime.machine import RunResult
from .runtime.messages import Part, part_of
from .runtime.trace import Kind, Trace, TraceError

STOPPED = "It was not called: the run was stopped."


def read_trace(path: Path | str) -> Trace:
    """Return the trace in a file; TraceError where there is none."""
    if not Path(path).exists():
        raise TraceError(f"there is no trace {path}; --list names those that are")
    trace = Trace.read(path)
    if not trace.events or "question" not in trace.events[0]:
        raise TraceError(f"{path} is no trace of this agent")
    return trace


def find(state: Path, name: str) -> Path:
    """Return the file of a run: by its path, its name in the list, or "" for the last.

    TraceError: there is none.
    """
    if name:
        own = state / f"{name}.jsonl"
        return own if own.exists() else Path(name)
    if not (files := runs_in(state)):
        raise TraceError(f"there is no run in {state} yet")
    return files[-1]


def runs_in(state: Path) -> list[Path]:
    """Return the files of all runs, the last one at the end."""
    return sorted(state.glob("*.jsonl"), key=lambda path: path.stat().st_mtime)


def listed(state: Path) -> Iterator[str]:
    """Yield a line a run: its name, its end, its question."""
    for path in runs_in(state):
        try:
            trace = read_trace(path)
        except TraceError:
            continue
        first, last = trace.events[0], trace.events[-1]
        waits = "waits" if last.get("target") == "SUSPENDED" else "stopped"
        end = trace.end["state"] if trace.end else waits
        when = time.strftime("%d %b %H:%M", time.localtime(path.stat().st_mtime))
        question = " ".join(first["question"].split())[:60]
        yield f"{path.stem:20} {when}  {end:10} {question}"


# a conversation


def parts_of(ended: RunResult) -> list[Part]:
    """Return what a run leaves to the next one; each of its calls has a result."""
    run, parts = ended.run, list(ended.run.parts)
    for seen in run.unread:
        parts.append({"role": "result", "text": seen.text(), "id": seen.call_id})
    if ended.answer is None:
        parts += _closed(parts)
        note = f"(The run ended before an answer: {ended.message})"
        parts.append({"role": "note", "text": note})
    return [part for part in parts if part["role"] != "system"]


def recorded_parts(trace: Trace) -> list[Part]:
    """Return the same of a recorded run: its last prompt, and what came after it."""
    first, requests = trace.events[0], trace.of(Kind.MODEL_REQUEST)
    parts = [*first["before"], {"role": "question", "text": first["question"]}]
    last = requests[-1]["seq"] if requests else 0
    prompt = trace.prompt(last) if requests else ""
    if isinstance(prompt, list):
        parts = [*map(part_of, prompt)]
    elif prompt:
        system = "".join(part["text"] for part in parts if part["role"] == "system")
        parts = [{"role": "note", "text": prompt.removeprefix(system)}]
    for event in trace.events[last:]:
        if event["kind"] == Kind.MODEL_TURN:
            calls = [
                {"id": c["call_id"], "name": c["name"], "arguments": c["arguments"]}
                for c in event.get("calls", ())
            ]
            more = {"calls": calls} if calls else {}
            parts.append({"role": "model", "text": event["text"], **more})
        elif event["kind"] == Kind.OBSERVATION:
            more = {"id": event["call_id"]} if first["chat"] else {}
            parts.append({"role": "result", "text": event["text"], **more})
    parts += _closed(parts)
    return [part for part in parts if part["role"] != "system"]


def _closed(parts: list[Part]) -> list[Part]:
    """Return a result for each call that has none: an endpoint wants one."""
    done = {part.get("id") for part in parts if part["role"] == "result"}
    calls = [call for part in parts for call in part.get("calls", ())]
    missing = [call["id"] for call in calls if call["id"] not in done]
    return [{"role": "result", "text": STOPPED, "id": each} for each in missing]


# what nobody knows


def unknown(state: Path) -> list[str]:
    """Return the keys of the effects that were begun and never settled."""
    with Ledger(state / "ledger.db").connection() as db:
        select = "SELECT key FROM claims WHERE result IS NULL ORDER BY rowid"
        keys = [key for (key,) in db.execute(select)]
    return [key for key in keys if not key.startswith('["call"')]


def operation(key: str) -> str:
    """Return what a key of the ledger means, in a line: pay {"invoice": "I7"}."""
    with suppress(ValueError, TypeError):
        *of_a_run, name, arguments = json.loads(key)
        if of_a_run:
            return operation(arguments)
        return f"{name} {json.dumps(arguments, ensure_ascii=False)}"
    return key  # a part of yours makes other keys


def settle(state: Path, number: str, was_done: bool) -> str:
    """Settle an unknown effect; return what it was. TraceError: there is none such."""
    found = {str(n): key for n, key in enumerate(unknown(state), 1)}
    if number not in found:
        raise TraceError(f"there is no unknown effect {number!r}; --settle lists them")
    result: dict[str, Any] | None = {"result": "done, as a person has found out"}
    ledger, key = Ledger(state / "ledger.db"), found[number]
    with ledger.connection() as db:  # and the call that has begun it
        select = "SELECT key FROM claims WHERE result IS NULL AND digest ="
        select += " (SELECT digest FROM claims WHERE key = ?) AND key LIKE '[\"call\"%'"
        keys = [each for (each,) in db.execute(select, (key,))]
    ledger.settle([*keys, key], result if was_done else None)
    return key
