"""Write the events of a run as they happen, and nothing secret with them.

A file of events has one writer, which adds a line with one write: when a call is made
its `tool_call` is in the file, also if the process is killed during the call.
"""

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
from typing import Any, NamedTuple

from workbook.models.prompts import shared_items
from workbook.traces.events import SCHEMA, Kind, TraceError, TraceEvent, sealed, to_line
from workbook.traces.redaction import Secrets, secrets_in
from workbook.traces.trace import Trace


class Sent(NamedTuple):
    """What the requests up to now have sent of the prompt."""

    said: int = 0  # characters, or messages, as the engine counts them
    written: int = 0  # as the trace has them, without secrets
    loose: str = ""  # the end of what was said, where a secret may have begun
    whole: str | list[Any] | None = ""  # as the trace has it; None: look there


class TraceWriter:
    """Number, time, and write the events of one run, whichever thread they come from.

    It is the `emit` callback of an engine: `emit(kind, **fields)` returns the event's
    `seq`. `step` counts the agent's own model calls: each `model_request` without a
    `parent` starts the next one. What cannot be written is raised and is no event, and
    after an OSError (a full disk) nothing more is written: the trace then ends as that
    of a killed process does, and the run can be resumed. As a context manager it closes
    the run: an exception that leaves the block becomes a `run_finished` in state ERROR.

    Args:
        path: of a JSONL file; without it events stay in memory.
        clock: counts seconds; `unix_clock` counts those since 1970.
        secrets: texts that are never written; those of the environment if not given.
        listener: gets each event after it has been written.
        keep: go on after the whole lines of a file that exists.

    Raises:
        TraceError: the file has something in it, or another writer has it open.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        clock: Callable[[], float] = time.perf_counter,
        unix_clock: Callable[[], float] = time.time,
        secrets: Iterable[str] | None = None,
        listener: Callable[[TraceEvent], None] | None = None,
        keep: bool = False,
    ) -> None:
        self.trace_id = uuid.uuid4().hex[:12]
        self.events: list[TraceEvent] = []
        self.step = 0
        self._clock, self._started_at, self._unix_clock = clock, clock(), unix_clock
        self.secrets = Secrets(secrets_in(os.environ) if secrets is None else secrets)
        self.listener = listener
        self._lock = threading.RLock()
        self._sent = Sent()
        self._failed: OSError | None = None
        self._file = None if path is None else LineFile(Path(path), keep=keep)

    def __call__(self, kind: str, /, **fields: Any) -> int:
        """Write one event and return its `seq`.

        A `model_request` gives the whole prompt; or, with `kept` (how much was sent
        before), only what follows that.
        """
        with self._lock:
            if self._failed is not None:
                raise self._failed
            event, line, sent = self._event(kind, fields)
            try:
                if self._file is not None:
                    self._file.append(sealed(line))
                self._take(event, sent)
                if self.listener is not None:
                    self.listener(event)
            except OSError as error:
                self._failed = error
                raise
            return int(event["seq"])

    def _take(self, event: TraceEvent, sent: Sent) -> None:
        """Keep an event that has happened."""
        self.events.append(event)
        self.step, self._sent = event["step"], sent

    def _event(
        self, kind: str, fields: dict[str, Any]
    ) -> tuple[TraceEvent, bytes, Sent]:
        """Return an event, its line, and what is sent of the prompt by then."""
        step, sent = self.step, self._sent
        if kind == Kind.MODEL_REQUEST and "parent" in fields:
            fields = {"kept": 0, **fields}
        elif kind == Kind.MODEL_REQUEST:
            step += 1
            new, kept, sent = self._only_what_is_new(**fields)
            fields = {**fields, "prompt": new, "kept": kept}
        at_s = round(self._clock() - self._started_at, 6)
        if kind == Kind.RUN_STARTED:
            began = round(self._unix_clock() - at_s, 3)
            fields = {"schema": SCHEMA, "started_unix_s": began, **fields}
        event: TraceEvent = {
            "trace_id": self.trace_id,
            "seq": len(self.events),
            "step": step,
            "at_s": at_s,
            "kind": str(kind),
            **fields,
        }
        line = to_line(event)
        if self.secrets.may_be_in(line.decode()):
            event = self.secrets.out_of_data(json.loads(line))
            line = to_line(event)
        return event, line, sent

    def _only_what_is_new(
        self, prompt: str | list[Any], kept: int | None = None, **fields: Any
    ) -> tuple[str | list[Any], int, Sent]:
        """Return what the trace is told of a prompt: what is new, and what is kept."""
        sent = self._sent
        if kept is None or (kept == 0 and sent.said):
            return self._compared(prompt)
        if kept != sent.said:
            words = f"{sent.said} were sent, and {kept} of them are to be kept"
            raise TraceError(f"{words}: give the whole prompt, without `kept`")
        if isinstance(prompt, list):
            count = sent.said + len(prompt)
            return prompt[:], sent.said, Sent(count, count, whole=None)
        text = sent.loose + prompt
        loose, safe = self.secrets.begun_in(text), self.secrets.out_of(text)
        begin = sent.written - len(self.secrets.out_of(sent.loose))
        size = sent.said + len(prompt), begin + len(safe)
        return safe, begin, Sent(*size, loose, whole=None)

    def _compared(self, prompt: str | list[Any]) -> tuple[str | list[Any], int, Sent]:
        """Return the same of a whole prompt, which is held against the one before."""
        before = self._sent.whole
        if before is None:  # it has been told in parts
            asked = self.trace().of(Kind.MODEL_REQUEST)
            last = next(event for event in reversed(asked) if "parent" not in event)
            before = self.trace().prompt(last["seq"])
        whole, loose = prompt[:], ""
        if isinstance(prompt, str):
            whole, loose = self.secrets.out_of(prompt), self.secrets.begun_in(prompt)
        kept = shared_items(before, whole) if type(before) is type(whole) else 0
        return whole[kept:], kept, Sent(len(prompt), len(whole), loose, whole)

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


class LineFile:
    """A file that one writer adds lines to, each with one write.

    With `keep`, the whole lines of the file stay (`end` bytes of them), and half a line
    after them goes with the first new one; until then the file is as it was.
    TraceError: otherwise there is something in the file, or another writer has it open.
    """

    def __init__(self, path: Path, *, keep: bool = False) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab", buffering=0)
        try:
            _lock(self._file, path)
            lines = path.read_bytes()
            if lines and not keep:
                words = "take another path, or go on in it (keep=True)"
                raise TraceError(f"{path} is there: {words}")
            self.end = lines.rfind(b"\n") + 1
            with suppress(ValueError):
                json.loads(lines[self.end :])  # it lacks its end alone
                self.end = len(lines) + self._file.write(b"\n")
        except BaseException:
            self._file.close()
            raise
        self._is_torn = keep

    def append(self, line: bytes) -> None:
        """Write one line; an OSError may leave its beginning in the file."""
        if self._is_torn:
            self._file.truncate(self.end)
            self._is_torn = False
        while line:  # a disk that fills up takes a part
            line = line[self._file.write(line) :]

    def close(self) -> None:
        """Let another one write."""
        self._file.close()


def _lock(file: FileIO, path: Path) -> None:
    """Lock a file for one writer; a second one is refused."""
    try:
        if sys.platform == "win32":
            import msvcrt

            file.seek(2**62)  # far behind the events, for the rest can be read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        words = f"another TraceWriter writes {path}: close it, or take another path"
        raise TraceError(words) from None
    except OSError:
        pass  # this file system has no locks
