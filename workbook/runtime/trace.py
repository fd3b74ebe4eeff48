"""A trace: the events of a run in order, and how a file of them is read.

Each line of a file is one event as JSON, with a checksum as its last field. A last line
that is half there was being written as its process died: it is left out.
"""

import json
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from .calls import clip

Event = dict[str, Any]
SCHEMA = 3
CRC = b',"crc":'
ENVELOPE = ("trace_id", "seq", "step", "at_s", "kind")
"""What each event has: `step` counts the agent's model calls, `at_s` the seconds."""


class Kind(StrEnum):
    """What can happen in a run, and the fields that it has at least.

    A request has what is new after the first `kept` characters, or messages, of the one
    before. A tool that asks a model has its event's `seq` as `parent`, and is whole.
    """

    RUN_STARTED = "run_started"  # engine, question
    TRANSITION = "transition"  # source, event, target, why, elapsed_s
    MODEL_REQUEST = "model_request"  # prompt, kept
    MODEL_TURN = "model_turn"  # text, usage
    TOOL_CALL = "tool_call"  # call_id, tool, arguments
    OBSERVATION = "observation"  # call_id, tool, ok, text, and result or error
    DECISION = "decision"  # of a guard, a person, or the user: who, what, why
    RUN_FINISHED = "run_finished"  # state, reason, answer


class TraceError(ValueError):
    """A trace that cannot be read or written."""


class CutShortError(TraceError):
    """The last line has no end: its process died while it wrote, or writes still."""


def seal(line: bytes) -> bytes:
    """Return a line of JSON with its checksum (CRC-32) and its end."""
    return b"%s%s%d}\n" % (line[:-1], CRC, zlib.crc32(line))


def read_events(path: Path | str) -> Iterator[Event]:
    """Yield each whole event of a file; TraceError: damage, or a torn last line."""
    with open_regular(path) as file:
        for seq, line in enumerate(file):
            try:
                if not line.endswith(b"\n"):
                    raise CutShortError("cut short while it was written")
                text, _, crc = line.rpartition(CRC)
                if crc != b"%d}\n" % zlib.crc32(text + b"}"):
                    raise TraceError("it is not as it was written: a checksum differs")
                event = json.loads(text + b"}")
                if event.get("schema", SCHEMA) != SCHEMA:
                    raise TraceError(f"it has schema {event['schema']}, not {SCHEMA}")
                if event["seq"] != seq:
                    words = f"seq is {event['seq']}, not {seq}: one is missing"
                    raise TraceError(words)
            except TraceError as error:
                raise type(error)(f"{path}, line {seq + 1}: {error}") from None
            yield event


def open_regular(path: Path | str, mode: str = "rb") -> Any:
    """Open a file; TraceError where the path is a device, a pipe or a folder."""
    path = Path(path)
    if path.exists() and not path.is_file():
        raise TraceError(f"{path} is no regular file: take another path")
    return path.open(mode, buffering=-1 if mode == "rb" else 0)


@dataclass(frozen=True, repr=False)
class Trace:
    """A run that was recorded: its events in order."""

    events: Sequence[Event]
    lost: str = ""  # what of its file could not be read

    @classmethod
    def read(cls, path: Path | str) -> "Trace":
        """Read a file up to its end, or to damage; TraceError: it has no event."""
        events: list[Event] = []
        lost = ""
        try:
            for event in read_events(path):
                events.append(event)
        except TraceError as error:
            if not events and not isinstance(error, CutShortError):
                raise
            lost = f"{error}; nothing after it was read"
        return cls(tuple(events), lost)

    def save(self, path: Path | str) -> Path:
        """Write the events to a new file, and return its path; FileExistsError."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("xb") as file:
            file.writelines(seal(json.dumps(event).encode()) for event in self.events)
        return path

    def of(self, *kinds: str) -> list[Event]:
        """Return the events of these kinds, in order."""
        return [event for event in self.events if event["kind"] in kinds]

    def prompt(self, seq: int) -> str | list[Any]:
        """Return the whole prompt of the request with this `seq`, as it was written."""
        whole: str | list[Any] = ""
        for event in self.of(Kind.MODEL_REQUEST):
            if event["seq"] == seq or "parent" not in event:
                new, kept = event["prompt"], event["kept"]
                whole = whole[:kept] + new if kept else new
            if event["seq"] == seq:
                return whole
        raise TraceError(f"event {seq} is not a model_request")

    @property
    def end(self) -> Event | None:
        """The `run_finished` event; None while the run goes on, or waits."""
        last = self.events[-1] if self.events else None
        return last if last and last["kind"] == Kind.RUN_FINISHED else None

    def __repr__(self) -> str:
        first = self.events[0] if self.events else {}
        run = f"Trace {first['engine']}" if "engine" in first else "Trace"
        end = self.end or {"state": "no end", "answer": None}
        about = [f"{run}: {len(self)} event{'s' * (len(self) != 1)}", end["state"]]
        if end["answer"] is not None:
            about[1] += f": {clip(' '.join(str(end['answer']).split()), 60)}"
        if self.lost:
            about.append(f"lost: {self.lost}")
        return f"<{', '.join(about)}>"

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[Event]:
        return iter(self.events)


def open_to_write(path: Path | str) -> Any:
    """Open a file of events that one process writes; only its owner can read it."""
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    file = open_regular(path, "ab")
    os.chmod(path, 0o600)
    try:
        if os.name == "nt":
            import msvcrt

            file.seek(2**62)  # far after the events, which can then be read
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined]
        else:
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        file.close()
        words = f"another process writes {path}: close it, or take another path"
        raise TraceError(words) from None
    except OSError:
        pass  # this file system has no locks
    return file
