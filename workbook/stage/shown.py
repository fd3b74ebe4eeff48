"""What users, models, runtimes and tools wrote, as a notebook shows it.

How it looks is in `data/pages/stage_show.html`, which escapes every text.
"""

import html
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

from workbook.checks import display
from workbook.checks.display import as_column, plot_html, template
from workbook.lessons.traces_and_replay import summary
from workbook.runtime.model import Response
from workbook.runtime.replay import first_divergence
from workbook.runtime.trace import Event, Kind, Trace
from workbook.runtime.turns import LABELS, who_writes

# Of each a glyph, a name and the colour of its bar (3:1 on white and on a dark page).
VOICES = {
    "user": ("▷", "user", "#888888"),
    "model": ("●", "model", "#1f77b4"),
    "runtime": ("■", "runtime", "#2ca02c"),
    "tool": ("▲", "tool", "#c2700a"),
}
Part = tuple[str, str]  # a key of VOICES, and what it wrote
LABEL = re.compile(
    rf"^[ \t]*+[*_>#-]*+[ \t]*+(Question|{'|'.join(LABELS)})[ \d*_]*+[:：]",
    re.MULTILINE | re.IGNORECASE | re.ASCII,
)
NOT_TEXT = re.compile(r"(?s)<style>.*?</style>|<pre.*?</pre>|<[^>]*>")


@dataclass(frozen=True)
class Shown:
    """HTML that a notebook shows; elsewhere its text, without what is folded."""

    page: str

    def __repr__(self) -> str:
        lines = html.unescape(NOT_TEXT.sub("", self.page)).splitlines()
        return "\n".join(line.rstrip() for line in lines if line.strip())

    def _repr_html_(self) -> str:
        return self.page


def write(file: str, macro: str, *given: object) -> str:
    """Return what a macro of `data/pages/stage_<file>.html` writes."""
    known: Any = {"voices": VOICES, "summary": summary, "ended": ended}
    known |= {"legend": legend_html, "transcript": transcript_html}
    page = template(f"stage_{file}.html")
    page.environment.globals |= known
    return str(getattr(page.module, macro)(*given))


_page = partial(write, "show")


def show(thing: Any, title: str = "") -> None:
    """Show who wrote what in a text, a reply, messages, parts or a trace."""
    display.show(Shown(_page("titled", title, transcript_html(parts_of(thing)))))


def legend_html() -> str:
    """Return the glyph and the name of each voice, in one line."""
    return _page("legend")


def transcript_html(parts: Iterable[Part], new_from: int | None = None) -> str:
    """Return parts as blocks; those from the number `new_from` on are marked as new."""
    blocks: list[tuple[str, str, str, bool]] = []
    for number, (who, text) in enumerate(parts):
        is_new = new_from is not None and number >= new_from
        pieces = _by_label(text, "model") if who == "model" else [(who, text)]
        for whose, words in pieces:  # whose the line is, by its label
            blocks.append((who, words, "" if whose == who else whose, is_new))
    return _page("transcript", [block for block in blocks if block[1].strip()])


def parts_of(thing: Any) -> list[Part]:
    """Return who wrote what; of a trace, in its last prompt and the turn after it."""
    if isinstance(thing, Trace):
        talk = thing.of(Kind.MODEL_REQUEST, Kind.MODEL_TURN)
        last = [event for event in talk if "parent" not in event][-1:]
        turns = [_of_turn(e) for e in last if e["kind"] == Kind.MODEL_TURN]
        return prompt_parts(thing)[0] + turns
    if isinstance(thing, Response):
        return [_of_turn(thing.fields())]
    if isinstance(thing, str):
        return _by_label(thing)
    return [_of_message(each) if isinstance(each, Mapping) else each for each in thing]


def prompt_parts(trace: Trace) -> tuple[list[Part], int]:
    """Return the last prompt of an agent in parts, and which is its first new one."""
    own = Trace([event for event in trace if "parent" not in event])
    if not (requests := own.of(Kind.MODEL_REQUEST)):
        return [], 0
    seq, kept = requests[-1]["seq"], requests[-1]["kept"]
    whole = trace.prompt(seq)
    if not isinstance(whole, str):
        observed = {event["text"] for event in own.of(Kind.OBSERVATION)}
        return [_of_message(message, observed) for message in whole], kept
    turns = [e["text"] for e in own.of(Kind.MODEL_TURN) if e["seq"] < seq]
    start = max(whole.find(f"Question: {trace.events[0].get('question')}"), 0)
    old = [("runtime", whole[:start]), *_of_prompt(whole[start:kept], turns)]
    recent = turns[-1:] if kept > start else turns
    return old + _of_prompt(whole[max(start, kept) :], recent), len(old) if kept else 0


def _of_prompt(text: str, turns: Iterable[str]) -> list[Part]:
    parts, done = list[Part](), 0
    for turn in filter(None, map(str.strip, turns)):
        start = text.find(turn, done)
        if start >= 0:  # it is there as the model wrote it
            parts += [*_by_label(text[done:start]), ("model", turn)]
            done = start + len(turn)
    return parts + _by_label(text[done:])


def _by_label(text: str, unlabelled: str = "runtime") -> list[Part]:
    """Return the parts of a conversation, in which a label says who wrote it."""
    labels = [*LABEL.finditer(text)]
    starts = [0, *(label.start() for label in labels), len(text)]
    names = [label[1].title() for label in labels]
    writers = ["user" if name == "Question" else who_writes(name) for name in names]
    if labels and unlabelled == "runtime" and not text[labels[-1].end() :].strip():
        writers[-1] = "runtime"  # the prompt ends with a prefill
    parts: list[Part] = []
    for who, span in zip([unlabelled, *writers], pairwise(starts), strict=True):
        before = parts.pop()[1] if parts and parts[-1][0] == who else ""
        parts.append((who, before + text[slice(*span)]))
    return parts


def _of_message(message: Mapping[str, Any], observed: Iterable[str] = ()) -> Part:
    role, text = message.get("role", "user"), message.get("content") or ""
    if role == "assistant":
        calls = [call["function"] for call in message.get("tool_calls") or ()]
        return _of_turn({"text": text, "calls": calls})
    return "user" if role == "user" and text not in observed else "runtime", text


def _of_turn(turn: Mapping[str, Any]) -> Part:
    calls = [f"calls {c['name']}({c['arguments']})" for c in turn.get("calls") or ()]
    return "model", "\n".join(filter(None, [turn["text"], *calls]))


def to_html(trace: Trace) -> str:
    """Return a trace as a table, a row an event; long texts are folded."""
    return _page("trace", _in_words(trace), trace.lost)


def _in_words(trace: Trace) -> Iterator[tuple[Event, str]]:
    whole = ""  # the prompt, so that its new part begins with a whole word
    for event in trace:
        text = summary(event)
        if isinstance(event.get("prompt"), str) and "parent" not in event:
            whole = whole[: event["kept"]]
            text = re.split(r"\s", whole[-99:])[-1] + event["prompt"]
            whole += event["prompt"]
        yield event, text


def show_traces_as_tables() -> None:
    """Have this notebook, if it is one, show a `Trace` as a table, and tables alike."""
    if shell := display.notebook():
        formatter = shell.display_formatter.formatters["text/html"]
        formatter.for_type(Trace, to_html)
        # A backend replaces the formatter of a Figure, not that of its base class.
        formatter.for_type_by_name("matplotlib.figure", "FigureBase", plot_html)


def beside(left: Trace, right: Trace, titles: Sequence[str]) -> Shown:
    """Return two traces; what is alike before they differ is folded."""
    rows = [*_in_words(left)], [*_in_words(right)]
    first = first_divergence(left.events, right.events)
    return Shown(_page("beside", titles, rows, first))


def ended(trace: Trace, right: bool | None = None) -> dict[str, Any]:
    """Return how a run ended, and its events, for a cell of `comparison`."""
    from workbook.stage.scenarios import outcome

    return {**outcome(trace), "right": right, "trace": trace}


def comparison(
    rows: Sequence[Mapping[str, Any]], head: Sequence[str] = (), note: str = ""
) -> Shown:
    """Return rows as a table; `head` names its columns, where it is not all of them.

    A cell is a text, a number, a bool, an ending (see `ended`; a Trace is one, too), or
    an interval: (low, estimate, high).
    """
    columns = []
    for name in head or dict.fromkeys(name for row in rows for name in row):
        cells: Any = [row.get(name) for row in rows]
        others = (str, bool, dict, tuple, Trace)  # a StrEnum is a str, too
        are_numbers = not any(isinstance(cell, others) for cell in cells)
        columns.append((name, are_numbers, as_column(cells) if are_numbers else cells))
    return Shown(_page("comparison", columns, note))


@dataclass(frozen=True)
class Mermaid:
    """A diagram in Mermaid's language, of which JupyterLab makes the picture."""

    source: str

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        return {"text/plain": self.source, "text/vnd.mermaid": self.source}


@dataclass(frozen=True)
class Diff:
    """A diff, in colour."""

    text: str

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return _page("diff", self.text.splitlines())
