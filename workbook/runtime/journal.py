"""The journal: a run meets the outside through it, and nowhere else.

`emit` writes what a run decided itself; where there is a record, it is compared.
`receive` returns a response from outside: the record's, or a live one, written down. A
`signal` comes unasked, between two states. So a replay is a run with a record, to
resume is a record that ends early, and what-if is a record with one line changed.
"""

import json
import os
import threading
import time
import traceback
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn, Self

import orjson

from . import trace as files
from .calls import recordable
from .secret import HIDDEN, patterns, secrets_in
from .trace import ENVELOPE, Event, Kind, Trace, TraceError
from .waiting import CANCEL, TimedOut

Emit = Callable[..., Any]
"""Takes a kind of event and its fields: `emit("tool_call", tool="Search", …)`."""
STOPS: Mapping[type[BaseException], tuple[str, str]] = {
    TimedOut: ("timed_out", "no response in time"),
    KeyboardInterrupt: ("cancelled", "the user did not want to wait"),
}


class Failed(RuntimeError):  # noqa: N818 - what happened
    """A model or a person raised something; the text is what it was."""


class Divergence(TraceError):  # noqa: N818 - what happened, not an error's name
    """A run does something else than its record; None: one of them had ended."""

    def __init__(self, seq: int, expected: Event | None, found: Event | None) -> None:
        self.seq, self.expected, self.found = seq, expected, found
        recorded, new = _differing(expected, found), _differing(found, expected)
        super().__init__(f"event {seq} of the record is {recorded}; this run has {new}")


def _differing(event: Event | None, other: Event | None) -> str:
    if event is None:
        return "ended"
    other = other or {}
    fields = {n: v for n, v in event.items() if n not in ENVELOPE and other.get(n) != v}
    return f"{event['kind']} {fields or ''}".strip()[:300]


class Journal:
    """A line of JSON an event; a record answers before its end.

    TraceError: the file has something in it, or another process writes it.
    """

    def __init__(
        self,
        path: Path | str | None = None,  # None: events are kept in memory
        record: Sequence[Event] = (),  # of an earlier run
        *,
        file: Any = None,  # the record's own, open to write
        resumed: Event | None = None,  # signal at the record's end; None: a replay
        secrets: Iterable[str] | None = None,  # None: those of the environment
        listener: Callable[[Event], object] | None = None,  # gets each new event
        echo: bool = False,  # print each observation as it comes
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.file = file
        if path is not None:
            self.file = files.open_to_write(path)
            if Path(path).stat().st_size:
                self.file.close()
                words = "is there: take another path, or resume its run"
                raise TraceError(f"{path} {words}")
        self.record, self.resumed = record, resumed
        self.listener, self.echo = listener, echo
        self.is_replay = bool(record) and resumed is None
        self.trace_id = record[0]["trace_id"] if record else uuid.uuid4().hex[:12]
        self.seq, self.step, self.at_s, self.moved_s = 0, 0, 0.0, 0.0
        self.clock = clock
        self.began = clock() - (record[-1]["at_s"] if record else 0.0)
        self.lines, self.waiting = list[bytes](), b""  # and what is not in the file yet
        self.sent: Any = ""  # the last whole prompt
        self.sent_size = 0  # characters, or messages, of the last one
        self.just_resumed = self.was_resumed = False
        # It was resumed, or is, by a machine that may be another one.
        self.may_differ = resumed is not None or any("signal" in e for e in record)
        self.broken: BaseException | None = None  # why nothing more can be written
        self.diverged: Divergence | None = None
        self.signals = deque[Event]()  # of the user, not taken yet
        self.early = list[Event]()  # signals of a record, while there is no run yet
        self.on_signal: Callable[[Event], object] = self.early.append
        secrets = secrets_in(os.environ) if secrets is None else secrets
        self.signs, self.secrets = patterns(secrets)
        self.lock = threading.RLock()
        self.has_end = False  # the last event is a run_finished

    def emit(self, kind: str, /, **fields: Any) -> int:
        """Write an event, or compare it with the record; return its `seq`.

        A `model_request` without `kept` has its whole prompt, with it what is new.
        """
        with self.lock:
            was = self.record[self.seq] if self.seq < len(self.record) else None
            if self.broken and kind in (Kind.TRANSITION, Kind.RUN_FINISHED):
                return self.seq  # the file is left as if the process had been killed
            if stopped := self.diverged or self.broken:
                raise stopped
            line = self._line(kind, fields, was)
            found: Any = json.loads(line) if was or self.is_replay else None
            if found != was:
                cap = {"max_tokens": found.get("max_tokens")}  # of other tools, limits
                if not (was and self.may_differ and was | cap == found | cap):
                    self.diverge(was, found)
            self.seq += 1
            self.just_resumed = self.just_resumed and "signal" in fields
            if was is not None:
                self.has_end = kind == Kind.RUN_FINISHED
                self._take_recorded_signals()
                return self.seq - 1
            self.lines.append(line)
            try:
                if self.file is not None:
                    self.waiting += files.seal(line)
                    if kind != Kind.TRANSITION:  # that goes out with the next line
                        self._write()
                self.has_end = kind == Kind.RUN_FINISHED
                if self.echo and kind == Kind.OBSERVATION:
                    print("Observation:", json.loads(line)["text"])
                if self.listener is not None:
                    self.listener(json.loads(line))
            except KeyboardInterrupt:  # of the listener: the user stops the run
                self.signals.append(CANCEL)
            except BaseException as error:
                self.broken, self.just_resumed = error, False
                raise
            return self.seq - 1

    def _line(self, kind: str, fields: dict[str, Any], was: Event | None) -> bytes:
        at_s = round(self.clock() - self.began, 6) if was is None else was["at_s"]
        self.at_s, is_agents = at_s, False
        if kind == Kind.MODEL_REQUEST:
            kept, fields = fields.get("kept"), {"prompt": "", "kept": 0} | fields
            is_agents = "parent" not in fields  # where no tool asks a model
        if is_agents:
            self.step += 1
            if kept is None:  # the whole prompt, and the last one was whole, too
                prompt = self.hidden(fields["prompt"])
                kept = shared_items(self.sent, prompt) if self.sent else 0
                self.sent, fields["prompt"] = prompt, prompt[kept:]
            elif kept:
                kept = self.sent_size  # as it was written, without secrets
            fields["kept"] = kept
        elif kind == Kind.TRANSITION:
            fields["elapsed_s"], self.moved_s = round(at_s - self.moved_s, 6), at_s
        elif kind == Kind.RUN_STARTED and "schema" not in fields:
            now = {"schema": files.SCHEMA, "started_unix_s": round(time.time(), 3)}
            fields = now | fields
        event: Event = {"trace_id": self.trace_id, "seq": self.seq, "step": self.step}
        event |= {"at_s": at_s, "kind": kind, **fields}
        try:
            line = orjson.dumps(event)
        except TypeError:  # long numbers, half characters, objects
            line = json.dumps(recordable(event), ensure_ascii=False).encode()
        for sign in self.signs:
            if sign in line:
                line = self.secrets.sub(HIDDEN.encode(), line)
                event = json.loads(line) if is_agents else event
                break
        if is_agents:
            self.sent_size = event["kept"] + len(event["prompt"])
        return line

    def hidden(self, value: Any) -> Any:
        """Return JSON data without secrets, as a line has it."""
        text = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        if not any(sign in text for sign in self.signs):
            return value
        return json.loads(self.secrets.sub(HIDDEN.encode(), text))

    def receive(self, kind: str, live: Callable[[], Mapping[str, Any]]) -> Event:
        """Return a response from outside, and write it down.

        Where it was stopped: TimedOut, KeyboardInterrupt, or Failed for other errors.
        """
        was = self.record[self.seq] if self.seq < len(self.record) else None
        if was is not None:
            if was["kind"] != kind and "stopped" not in was:
                self.diverge(was, {"kind": kind})
            kind = was["kind"]
            response = {name: was[name] for name in was if name not in ENVELOPE}
        elif self.is_replay or self.broken or self.diverged:
            response = {}
        else:
            try:
                response = recordable(live())
            except BaseException as error:
                raised = "raised", recordable(in_words(error))
                what, why = STOPS.get(type(error), raised)
                response = {"who": "runtime", "what": what, "why": why, "stopped": True}
                kind = Kind.DECISION
        self.emit(kind, **response)
        if "stopped" not in response:
            return response
        if response["what"] == "raised":
            raise Failed(response["why"])
        raise TimedOut if response["what"] == "timed_out" else KeyboardInterrupt

    def take_signals(self) -> None:
        """Write down what the user has signalled, and let the run act on it."""
        if self.signals and self.seq >= len(self.record) and not self.is_replay:
            self._write_signal(self.signals.popleft())

    def _write_signal(self, signal: Event) -> None:
        about = {"who": "user", "why": "the user asked for it", "signal": True}
        fields = recordable(about | signal)
        self.emit(Kind.DECISION, **fields)
        self._act_on(fields)

    def _take_recorded_signals(self) -> None:
        size = len(self.record)
        while self.seq < size and "signal" in (was := self.record[self.seq]):
            self.seq, self.at_s = self.seq + 1, was["at_s"]
            self._act_on({n: v for n, v in was.items() if n not in ENVELOPE})
        if self.seq == size and self.resumed is not None:
            signal, self.resumed = self.resumed, None
            self._write_signal(signal)

    def _act_on(self, signal: Event) -> None:
        if signal["what"] in ("resumed", "what_if"):
            self.just_resumed = self.was_resumed = True
        self.on_signal(signal)

    def diverge(self, was: Event | None, found: Event) -> NoReturn:
        """Raise the first difference, and keep it: no event comes after it."""
        self.diverged = Divergence(self.seq, was, found)
        raise self.diverged

    def trace(self) -> Trace:
        """Return the events so far."""
        return Trace((*self.record[: self.seq], *map(json.loads, self.lines)))

    def _write(self) -> None:
        lines, self.waiting = self.waiting, b""
        while lines:  # a disk that fills up takes a part
            lines = lines[self.file.write(lines) :]

    def close(self) -> None:
        """Write what waits; a record of which something is left diverges here."""
        if self.file:
            if not self.broken:
                self._write()
            self.file.close()
        if self.diverged:
            raise self.diverged
        if self.seq < len(self.record):
            raise Divergence(self.seq, self.record[self.seq], None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, error: object, traceback: object) -> None:
        """Close the journal; what left the block is the end of its run, ERROR."""
        if isinstance(error, BaseException) and not self.has_end and not self.broken:
            reason = type(error).__name__
            end = {"state": "ERROR", "reason": reason, "answer": None}
            self.emit(Kind.RUN_FINISHED, **end, message=str(error))
        self.close()


def in_words(error: BaseException) -> str:
    """Return what was raised, as Python prints it, without the name of its module."""
    if isinstance(error, Failed):  # it is in words already
        return str(error)
    words = "".join(traceback.format_exception_only(error)).strip()
    return words.removeprefix(f"{type(error).__module__}.")


def shared_items(before: Sequence[Any], after: Sequence[Any]) -> int:
    """Return how many characters, or items, two texts, or lists, share at the start."""
    if after[: len(before)] == before:
        return len(before)
    pairs = enumerate(zip(before, after, strict=False))
    return next((n for n, (one, other) in pairs if one != other), len(after))
