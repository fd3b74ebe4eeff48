"""Write the events of a run as they happen, and nothing secret with them.

The writer knows no engine: an engine gets it as its `emit` callback and calls it.
"""

from __future__ import annotations

import io
import json
import os
import re
import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from workbook.models.prompts import shared_items, shared_prefix
from workbook.record.events import Kind, TraceEvent, to_line

if TYPE_CHECKING:
    from workbook.record.trace import Trace

_KEY_SHAPES = re.compile(r"\b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}|\bBearer [\w.~+/-]{12,}=*")
_SECRET_NAMES = re.compile(r"(API_KEY|_TOKEN|_SECRET|PASSWORD)$")


def secrets_in(environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that must never be written: keys, tokens, passwords."""
    return tuple(
        value
        for name, value in environ.items()
        if _SECRET_NAMES.search(name) and len(value) >= 8
    )


def redact(text: str, secrets: Iterable[str] = ()) -> str:
    """Replace every secret, and everything shaped like an API key, by `[secret]`.

    >>> redact("key=sk-0123456789abcdefXYZ")
    'key=[secret]'
    """
    for secret in secrets:
        if secret in text:
            text = text.replace(secret, "[secret]")
    return _KEY_SHAPES.sub("[secret]", text)


class TraceWriter:
    """Number, time, and write the events of one run.

    Args:
        path: the JSONL file; its folder is made. None keeps the events in memory only.
        trace_id: made up when not given.
        clock: seconds, from any origin.
        secrets: values that must not be written; by default those of the environment.
        listener: called with each event after it has been written.

    An instance is the `emit` callback of an engine: `emit(kind, **fields)` returns the
    event's `seq`. `step` counts the agent's own model calls: each `model_request`
    without a `parent` starts the next one. As a context manager it closes the run:
    an exception that leaves the block becomes a `run_finished` in state ERROR.
    """

    def __init__(
        self,
        path: Path | str | None = None,
        *,
        trace_id: str | None = None,
        clock: Callable[[], float] = time.perf_counter,
        secrets: Iterable[str] | None = None,
        listener: Callable[[TraceEvent], None] | None = None,
    ) -> None:
        self.trace_id = trace_id or uuid.uuid4().hex[:12]
        self.events: list[TraceEvent] = []
        self.step = 0
        self._clock = clock
        self._started_at = clock()
        found = secrets_in(os.environ) if secrets is None else secrets
        self._secrets = tuple(found)
        self._escaped = tuple(to_line(each)[1:-2].decode() for each in self._secrets)
        self._listener = listener
        self._sent: str | list[Any] = ""
        self._file: io.FileIO | None = None
        if path is not None:
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            self._file = io.FileIO(path, "w")  # unbuffered: what is written is out

    def __call__(self, kind: str, /, **fields: Any) -> int:
        """Write one event and return its `seq`.

        A `model_request` may give the whole prompt; the writer then finds what is new
        in it. An engine that knows this passes the new part and `kept` itself.
        """
        if kind == Kind.MODEL_REQUEST:
            if "parent" not in fields:
                self.step += 1
            if "kept" not in fields:
                fields = self._only_what_is_new(fields)
        seq = len(self.events)
        event: TraceEvent = {
            "trace_id": self.trace_id,
            "seq": seq,
            "step": self.step,
            "at_s": round(self._clock() - self._started_at, 6),
            "kind": str(kind),
            **fields,
        }
        line = to_line(event)
        if self._secrets or b"k-" in line or b"Bearer " in line:  # most have none
            text = line.decode()
            if redact(text, self._escaped) != text:
                event = _redacted(json.loads(text), self._secrets)
                line = to_line(event)
        self.events.append(event)
        if self._file is not None:
            written = self._file.write(line)
            while written < len(line):  # a disk takes what it can, then says it is full
                written += self._file.write(line[written:])
        if self._listener is not None:
            self._listener(event)
        return seq

    def _only_what_is_new(self, fields: dict[str, Any]) -> dict[str, Any]:
        prompt = fields["prompt"]
        if "parent" in fields:
            return {**fields, "kept": 0}
        kept = _shared(self._sent, prompt)
        self._sent = prompt if isinstance(prompt, str) else list(prompt)
        return {**fields, "prompt": prompt[kept:], "kept": kept}

    @property
    def finished(self) -> bool:
        """Whether the run has ended."""
        return bool(self.events) and self.events[-1]["kind"] == Kind.RUN_FINISHED

    def trace(self) -> Trace:
        """Return what has been written so far."""
        from workbook.record.trace import Trace

        return Trace(tuple(self.events))

    def close(self) -> None:
        """Close the file. The events stay readable."""
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> TraceWriter:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is not None and not self.finished:
            self(
                Kind.RUN_FINISHED,
                state="ERROR",
                reason=type(error).__name__,
                answer=None,
                message=str(error),
            )
        self.close()


def _redacted(value: Any, secrets: Iterable[str]) -> Any:
    """Return JSON data without the secrets in its names, texts and numbers."""
    if isinstance(value, dict):
        return {
            redact(name, secrets): _redacted(each, secrets)
            for name, each in value.items()
        }
    if isinstance(value, list):
        return [_redacted(each, secrets) for each in value]
    text = str(value)
    safe = redact(text, secrets)
    return value if safe == text else safe


def _shared(before: str | list[Any], after: str | list[Any]) -> int:
    """Return how many characters, or messages, two prompts share from the start."""
    if isinstance(before, str) and isinstance(after, str):
        return shared_prefix(before, after)
    if isinstance(before, list) and isinstance(after, list):
        return shared_items(before, after)
    return 0
