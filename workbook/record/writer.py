"""Write the events of a run as they happen, and nothing secret with them."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from io import FileIO
from pathlib import Path
from typing import Any

from workbook.models.prompts import shared_items
from workbook.record.events import SCHEMA, Kind, TraceError, TraceEvent, sealed, to_line
from workbook.record.redaction import may_hold_a_key, redact, redacted, secrets_in
from workbook.record.trace import Trace


class TraceWriter:
    """Number, time, and write the events of one run, whichever thread they come from.

    It is the `emit` callback of an engine: `emit(kind, **fields)` returns the event's
    `seq`. `step` counts the agent's own model calls: each `model_request` without a
    `parent` starts the next one. What cannot be written is raised and is no event. As a
    context manager it closes the run: an exception that leaves the block becomes a
    `run_finished` in state ERROR.

    Without a `path`, of a JSONL file, events stay in memory. `clock` counts seconds,
    `unix_clock` those since 1970. `secrets` are those of the environment when not
    given, and `listener` gets each event after it has been written; with `keep`, whole
    lines that are there stay.
    TraceError: another writer has that file open.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        trace_id: str | None = None,
        clock: Callable[[], float] = time.perf_counter,
        unix_clock: Callable[[], float] = time.time,
        secrets: Iterable[str] | None = None,
        listener: Callable[[TraceEvent], None] | None = None,
        keep: bool = False,
    ) -> None:
        self.trace_id = trace_id or uuid.uuid4().hex[:12]
        self.events: list[TraceEvent] = []
        self.step = 0
        self._clock, self._started_at, self._unix_clock = clock, clock(), unix_clock
        self.secrets = tuple(secrets_in(os.environ) if secrets is None else secrets)
        self.listener = listener
        self._lock = threading.RLock()
        self._sent: str | list[Any] = ""
        self._said = ""  # the prompt, of an engine that counts what is kept of it
        self._hidden: list[tuple[int, str, str]] = []
        self._end = 0  # of the whole lines, in bytes
        self._torn = False  # a part of a line may stand behind them
        self._file = None if path is None else _open_alone(Path(path))
        if self._file is not None:
            self._end = _keep_lines(self._file, Path(path)) if keep else 0  # type: ignore[arg-type]
            self._torn = keep  # what stands behind them goes with the first new line
            if not keep and self._file.tell():  # opened at its end: it is not empty
                self._file.truncate(0)

    def __call__(self, kind: str, /, **fields: Any) -> int:
        """Write one event and return its `seq`.

        A `model_request` gives the whole prompt, or the new part and its `kept`.
        """
        with self._lock:
            before = self.step, self._sent, self._said, self._hidden
            try:
                event, line = self._event(kind, fields)
                if self._file is not None:
                    self._append(self._file, sealed(line))
            except BaseException:
                self.step, self._sent, self._said, self._hidden = before
                raise
            seq = len(self.events)
            self.events.append(event)
            if self.listener is not None:
                self.listener(event)
        return seq

    def _event(self, kind: str, fields: dict[str, Any]) -> tuple[TraceEvent, bytes]:
        if kind == Kind.MODEL_REQUEST and "parent" in fields:
            fields = {"kept": 0, **fields}
        elif kind == Kind.MODEL_REQUEST:
            self.step += 1
            fields = self._only_what_is_new(fields)
        at_s = round(self._clock() - self._started_at, 6)
        if kind == Kind.RUN_STARTED:
            began = round(self._unix_clock() - at_s, 3)
            fields = {"schema": SCHEMA, "started_unix_s": began, **fields}
        event: TraceEvent = {
            "trace_id": self.trace_id,
            "seq": len(self.events),
            "step": self.step,
            "at_s": at_s,
            "kind": str(kind),
            **fields,
        }
        line = to_line(event)
        if self.secrets or may_hold_a_key(line.decode()):
            event = redacted(json.loads(line), self.secrets)
            line = to_line(event)
        return event, line

    def _append(self, file: FileIO, line: bytes) -> None:
        if self._torn:  # what is left of a write that failed
            file.truncate(self._end)
        rest, self._torn = line, True
        while rest:  # a disk that fills up takes a part
            rest = rest[file.write(rest) :]
        self._end, self._torn = self._end + len(line), False

    def _only_what_is_new(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return a request whose `kept` counts what was written, not what was said."""
        new, kept = fields["prompt"], fields.get("kept")
        if kept is None:
            whole = self._safe(new) if isinstance(new, str) else new[:]
            alike = type(whole) is type(self._sent)
            kept = shared_items(self._sent, whole) if alike else 0
            self._sent, new = whole, whole[kept:]
        elif isinstance(new, str):
            new, kept = self._as_written(new, kept)
        return {**fields, "prompt": new, "kept": kept}

    def _as_written(self, new: str, kept: int) -> tuple[str, int]:
        """Return the new text without secrets, and `kept` as counted in the file."""
        whole = self._said = self._said[:kept] + new
        hidden = self._hidden  # parts that held a secret: start, as said, as written
        begin = None
        while begin != kept:  # what was kept, and is not safe beside what is new
            begin = kept
            while hidden and kept < hidden[-1][0] + len(hidden[-1][1]):
                kept = min(kept, hidden[-1][0])  # not kept to its end: written again
                hidden = hidden[:-1]
            at = max(whole.rfind(" ", 0, kept), whole.rfind("\n", 0, kept)) + 1
            word, rest = whole[at:kept], whole[kept:]
            if word and self._safe(word + rest) != self._safe(word) + self._safe(rest):
                kept = at  # a secret begins in it
        new = whole[kept:]
        safe = self._safe(new)
        written = kept - sum(len(said) - len(wrote) for _, said, wrote in hidden)
        self._hidden = hidden if safe == new else [*hidden, (kept, new, safe)]
        return safe, written

    def _safe(self, text: str) -> str:
        return redact(text, self.secrets)

    def trace(self) -> Trace:
        """Return what has been written so far."""
        return Trace(tuple(self.events))

    def close(self) -> None:
        """Close the file. The events stay readable."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        try:
            if error is not None and self.trace().end is None:
                about = {"reason": type(error).__name__, "message": str(error)}
                self(Kind.RUN_FINISHED, state="ERROR", answer=None, **about)
        finally:
            self.close()


def _open_alone(path: Path) -> FileIO:
    """Open a file, with a lock on it, for one writer; a second one is refused."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.open("ab", buffering=0)
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(2**62)  # far behind the events, for the rest can be read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        words = f"another TraceWriter writes {path}: close it, or take another path"
        raise TraceError(words) from None
    except OSError:
        pass  # this file system has no locks
    return file


def _keep_lines(file: FileIO, path: Path) -> int:
    """Return the length in bytes of the whole lines; one may lack its end alone."""
    lines = path.read_bytes()
    end = lines.rfind(b"\n") + 1
    with suppress(ValueError):
        json.loads(lines[end:])
        return len(lines) + file.write(b"\n")
    return end
