"""Write the events of a run as they happen, and nothing secret with them."""

from __future__ import annotations

import json
import os
import threading
import time
import uuid
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, NamedTuple

from workbook.models.prompts import shared_items
from workbook.record.events import SCHEMA, Kind, TraceError, TraceEvent, sealed, to_line
from workbook.record.lines import LineFile
from workbook.record.redaction import Secrets, secrets_in
from workbook.record.trace import Trace


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
    `parent` starts the next one. What cannot be written is raised and is no event. As a
    context manager it closes the run: an exception that leaves the block becomes a
    `run_finished` in state ERROR.

    Without a `path`, of a JSONL file, events stay in memory. `clock` counts seconds,
    `unix_clock` those since 1970. `secrets` are those of the environment when not
    given, and `listener` gets each event after it has been written; with `keep`, whole
    lines that are there stay.
    TraceError: something is in that file already, or another writer has it open.
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
        known = secrets_in(os.environ) if secrets is None else secrets
        self.secrets = Secrets(known)
        self.listener = listener
        self._lock = threading.RLock()
        self._sent = Sent()
        self._unwritten: int | None = None  # the first event that could not be
        self._file = None if path is None else LineFile(Path(path), keep=keep)

    def __call__(self, kind: str, /, **fields: Any) -> int:
        """Write one event and return its `seq`.

        A `model_request` gives the whole prompt; or, with as many as were sent by then
        as `kept`, what comes behind them.
        """
        with self._lock:
            if kind == Kind.RUN_FINISHED and self._unwritten is not None:
                fields = {**fields, "unwritten": self._unwritten}
            event, line, sent = self._event(kind, fields)
            try:
                if self._file is not None:
                    self._file.append(sealed(line))
                self._take(event, sent)
                if self.listener is not None:
                    self.listener(event)
            except OSError:  # the run that tells of it ends, and can be gone on with
                if self._unwritten is None:
                    self._unwritten = len(self.events)
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
        loose = self.secrets.begun_in(text)
        safe = self.secrets.out_of(text)
        begin = sent.written - len(self.secrets.out_of(sent.loose))
        size = sent.said + len(prompt), begin + len(safe)
        return safe, begin, Sent(*size, loose, whole=None)

    def _compared(self, prompt: str | list[Any]) -> tuple[str | list[Any], int, Sent]:
        """Return the same of a whole prompt, which is held against the one before."""
        before = self._sent.whole
        if before is None:  # it has been told in parts
            asked = [e for e in self.events if e["kind"] == Kind.MODEL_REQUEST]
            own = [event for event in asked if "parent" not in event]
            before = self.trace().prompt(own[-1]["seq"])
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
