"""A run that was recorded: its events in order, from a file or from a writer.

All engines write the same seven kinds of event, one JSON object a line, each flushed as
it happens, so that a run that dies at step 45 leaves forty-four whole steps behind.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.models.prompts import clip
from workbook.record.events import (
    ENVELOPE,
    Kind,
    TraceError,
    TraceEvent,
    check_event,
    to_line,
)
from workbook.record.show import to_html

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, repr=False)
class Trace:
    """A run that was recorded: its events in order.

    In a notebook it shows itself as a table, at a prompt in one line.
    """

    events: tuple[TraceEvent, ...]

    @classmethod
    def read(cls, path: Path | str) -> Trace:
        """Read a JSONL file.

        A last line that was cut short (the process died while writing it) is dropped.

        Raises:
            TraceError: a line is not an event, or `seq` has a hole.
        """
        lines = Path(path).read_bytes().split(b"\n")
        events: list[TraceEvent] = []
        for number, line in enumerate(lines, start=1):
            if not line:
                continue
            where = f"{path}, line {number}"
            try:
                event = json.loads(line)
                check_event(event, seq=len(events))
            except TraceError as error:
                raise TraceError(f"{where}: {error}") from None
            except (ValueError, RecursionError) as error:
                if number == len(lines):  # no newline behind it: cut while written
                    break
                raise TraceError(f"{where}: not JSON ({error})") from None
            events.append(event)
        return cls(tuple(events))

    def save(self, path: Path | str) -> Path:
        """Write the events as JSONL and return the path."""
        path = Path(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"".join(map(to_line, self.events)))
        return path

    def of(self, *kinds: str) -> list[TraceEvent]:
        """Return the events of these kinds, in order."""
        return [event for event in self.events if event["kind"] in kinds]

    def prompt(self, seq: int) -> str | list[Any]:
        """Return the whole prompt of the request with this `seq`.

        Raises:
            TraceError: that event is not a `model_request`.
        """
        whole: str | list[Any] = ""
        for event in self.of(Kind.MODEL_REQUEST):
            own = "parent" not in event
            if event["seq"] == seq or own:
                new, kept = event["prompt"], event["kept"]
                whole = whole[:kept] + new if kept else new
            if event["seq"] == seq:
                return whole
        raise TraceError(f"event {seq} is not a model_request")

    @property
    def end(self) -> TraceEvent | None:
        """The `run_finished` event, or None while the run goes on."""
        last = self.events[-1] if self.events else None
        return last if last and last["kind"] == Kind.RUN_FINISHED else None

    def to_frame(self) -> pd.DataFrame:
        """Return one row an event: the envelope, then every field that occurs."""
        import pandas as pd

        frame = pd.DataFrame(list(self.events))
        return frame if len(frame) else pd.DataFrame(columns=list(ENVELOPE))

    def to_html(self) -> str:
        """Return a static table; every text in it is escaped."""
        return to_html(self.events)

    def _repr_html_(self) -> str:
        return self.to_html()

    def __repr__(self) -> str:
        first = self.events[0] if self.events else {}
        run = f"Trace {first['engine']}" if "engine" in first else "Trace"
        number = f"{len(self)} event{'s' * (len(self) != 1)}"
        if self.end is None:
            return f"<{run}: {number}, no end>"
        answer = clip(" ".join(str(self.end["answer"]).split()), 60)
        said = "" if self.end["answer"] is None else f": {answer}"
        return f"<{run}: {number}, {self.end['state']}{said}>"

    def __len__(self) -> int:
        return len(self.events)

    def __iter__(self) -> Iterator[TraceEvent]:
        return iter(self.events)
