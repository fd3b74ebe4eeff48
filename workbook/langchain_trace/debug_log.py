"""LangChain's debug log, kept and shown as the old posts read it.

`set_debug(True)` prints each start and each end, with all inputs and outputs. Here an
event is one line that unfolds, and the four places to look at first are marked.
"""

from typing import Any, NamedTuple

from langchain_core.tracers import Run
from langchain_core.tracers.stdout import FunctionCallbackHandler

from workbook.pages import template
from workbook.runtime.calls import clip
from workbook.views.show import VOICES

LINE_CHARS = 76
PLACES = {"llm/start": "first prompt", "llm/end": "turn", "tool/start": "tool"}


class LogEvent(NamedTuple):
    """A start or an end: its kind, such as `llm/start`, what ran, and what it holds."""

    kind: str
    name: str
    depth: int
    text: str
    line: str  # its first words
    place: str  # of the four, if it is the first there


class DebugLog(FunctionCallbackHandler):
    """What `set_debug(True)` prints with: here it keeps the events, and counts lines.

    Hand it over as a callback: `agent.invoke(…, config={"callbacks": [log]})`.
    """

    def __init__(self) -> None:
        super().__init__(function=self._printed)
        self.events: list[LogEvent] = []
        self.lines = 0

    def count(self, kind: str) -> int:
        """Return how often an event of this kind came."""
        return sum(event.kind == kind for event in self.events)

    def _printed(self, text: str) -> None:
        self.lines += len(text.splitlines())

    def _on_run_create(self, run: Run) -> None:
        self._add(run, "start", run.inputs)

    def _on_run_update(self, run: Run) -> None:
        self._add(run, "error" if run.error else "end", run.error or run.outputs)

    def _add(self, run: Run, what: str, held: Any) -> None:
        kind, text = f"{run.run_type}/{what}", _words(held)
        scratchpad = held.get("agent_scratchpad") if kind == "chain/start" else ""
        place = "scratchpad" if scratchpad else PLACES.get(kind, "")
        if any(event.place == place for event in self.events):
            place = scratchpad = ""
        line = clip(" ".join((scratchpad or text).split()), LINE_CHARS)
        depth = len(self.get_parents(run))
        self.events.append(LogEvent(kind, run.name, depth, text, line, place))

    def _repr_html_(self) -> str:
        voices = {"llm": VOICES["model"], "tool": VOICES["tool"]}
        page = template("shown.html").module
        return str(page.log(self.events, voices, VOICES["user"]))

    def __repr__(self) -> str:
        return "\n".join(
            f"{'  ' * event.depth}{event.kind} {event.name}: {event.line}"
            + (f"   <- {event.place}" if event.place else "")
            for event in self.events
        )


def _words(held: Any) -> str:
    """Return a model's prompt or reply, or what else a run was given or gave."""
    match held:
        case {"prompts": [prompt, *_]}:
            return str(prompt)
        case {"generations": [[{"text": text}, *_], *_]}:
            return str(text)
        case dict() if len(held) > 1:
            return "\n".join(f"{name}: {value}" for name, value in held.items())
        case dict():
            return "\n".join(map(str, held.values()))
    return str(held)
