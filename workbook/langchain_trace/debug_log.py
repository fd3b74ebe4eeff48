"""LangChain's debug log, read as the old posts read it.

`set_debug(True)` prints each start and each end, with all inputs and outputs. Here an
event is one line that unfolds, and the four places to look at first are marked.
"""

import io
import json
import re
from collections.abc import Callable
from contextlib import redirect_stdout
from dataclasses import dataclass
from typing import NamedTuple

from workbook.models.prompts import clip
from workbook.pages import template
from workbook.traces.show import VOICES

_EVENT = re.compile(r"(?m)^\[(\w+/(?:start|end|error))\] \[([^\]\n]*)\].*\n?")
_SCRATCHPAD = "agent_scratchpad: "
LINE_CHARS = 76


class LogEvent(NamedTuple):
    """A start or an end: its kind, such as `llm/start`, what ran, and what it holds."""

    kind: str
    path: str
    text: str
    place: str  # of the four, if it is the first there


@dataclass(frozen=True)
class DebugLog:
    """A debug log's events, and how many lines they took."""

    events: tuple[LogEvent, ...]
    lines: int

    def count(self, kind: str) -> int:
        """Return how often an event of this kind came."""
        return sum(event.kind == kind for event in self.events)

    def _rows(self) -> list[tuple[int, LogEvent, str]]:
        """Return of each event its depth, itself, and its first words."""
        rows = []
        for event in self.events:
            shown = event.text.split(_SCRATCHPAD)[-1] if event.place else event.text
            line = clip(" ".join(shown.split()), LINE_CHARS)
            rows.append((event.path.count(" > "), event, line))
        return rows

    def _repr_html_(self) -> str:
        voices = {"llm": VOICES["model"], "tool": VOICES["tool"]}
        page = template("shown.html").module
        return str(page.log(self._rows(), voices, VOICES["user"]))

    def __repr__(self) -> str:
        return "\n".join(
            f"{'  ' * depth}{event.kind} {event.path.split(' > ')[-1]}: {line}"
            + (f"   <- {event.place}" if event.place else "")
            for depth, event, line in self._rows()
        )


def capture_debug_log(run: Callable[[], object]) -> DebugLog:
    """Call `run` with LangChain's debug log on, and return the log."""
    from langchain_core.globals import get_debug, set_debug

    before = get_debug()
    set_debug(True)
    try:
        with redirect_stdout(io.StringIO()) as printed:
            run()
    finally:
        set_debug(before)
    return read_debug_log(printed.getvalue())


def read_debug_log(text: str) -> DebugLog:
    """Return what a debug log says, without its colours.

    >>> read_debug_log("[tool/start] [chain:X > tool:Sum] Enter\\n\\"1+1\\"").events
    (LogEvent(kind='tool/start', path='X > Sum', text='1+1', place='tool'),)
    """
    plain = re.sub(r"\x1b\[[0-9;]*m", "", text)
    _, *parts = _EVENT.split(plain)
    events, found = list[LogEvent](), set[str]()
    for kind, path, body in zip(parts[0::3], parts[1::3], parts[2::3], strict=True):
        words = _words(body)
        place = _place(kind, words)
        first = "" if place in found else place
        events.append(LogEvent(kind, re.sub(r"\w+:", "", path), words, first))
        found.add(place)
    return DebugLog(tuple(events), len(plain.splitlines()))


def _place(kind: str, words: str) -> str:
    """Return which of the four places an event is, if any."""
    _, named, scratchpad = words.partition(_SCRATCHPAD)
    if kind == "chain/start" and named and not scratchpad.startswith("\n"):
        return "scratchpad"
    kinds = {"llm/start": "first prompt", "llm/end": "turn", "tool/start": "tool"}
    return kinds.get(kind, "")


def _words(body: str) -> str:
    """Return a model's prompt or reply, or what else stands below an event's line."""
    body = body.strip()
    try:
        said = json.loads(body)
    except ValueError:
        return body.strip('"')
    match said:
        case {"prompts": [prompt, *_]}:
            return str(prompt)
        case {"generations": [[{"text": text}, *_], *_]}:
            return str(text)
        case dict():
            return "\n".join(f"{name}: {value}" for name, value in said.items())
    return str(said)
