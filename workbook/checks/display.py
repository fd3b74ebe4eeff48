"""Messages, code and tables: as HTML in a notebook, as text everywhere else.

Whatever a learner's code produced is escaped. Text has the page's own colour; the
colours below are those of bars, and can be seen on a dark page and on a light one.
"""

import base64
import io
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import zip_longest
from textwrap import wrap
from typing import Any

from workbook.paths import DATA

AMBER, GREY, RED, GREEN = "#b26a00", "#767676", "#d32f2f", "#2e7d32"
COLOURS = {"passed": GREEN, "not attempted": GREY}
PROSE = ("not met:", "!", " ", "next:")  # labels of lines in the course's own words
_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")  # in the course's own words
WIDEST = 48  # characters of a cell in a line of text
NAMED = 5  # failures that are named; the others are counted
MOST_ROWS = 100  # of a table; a line below it says how many more there are
_NUMBER = re.compile(r"[-+±−]?[\d.,]+( of [\d.,]+)?( ?(%|s|ms))?|–|")
_shown: set[tuple[int, str]] = set()  # a run of a cell, what was reported in it


def notebook() -> Any:
    """Return IPython's shell, or None where no notebook runs."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def show(thing: object) -> None:
    """Display a thing in a notebook, or print its text."""
    if notebook():
        from IPython.display import display

        display(thing)  # type: ignore[no-untyped-call]
        return
    coding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(str(thing).encode(coding, "replace").decode(coding))  # it may lack a sign


def once_a_cell(*things: str) -> list[str]:
    """Return those that were not yet given in this run of a cell; all, elsewhere."""
    cell = shell.execution_count if (shell := notebook()) else 0
    new = [thing for thing in things if (cell, thing) not in _shown]
    _shown.update((cell, thing) for thing in new if cell)
    return new


def say_ours(*slugs: str) -> None:
    """Say in a notebook, once a cell, that the package's functions run in it."""
    new = once_a_cell(*slugs) if notebook() else []
    if new:
        run, have = ("runs", "has") if len(new) == 1 else ("run", "have")
        names = ", ".join(new)
        words = f"The workbook's {names} {run} here: yours {have} not passed the check."
        show(Notice(words, colour=GREY))


@dataclass(frozen=True)
class Notice:
    """A title that stands out, and lines of (label, text)."""

    title: str
    lines: Sequence[tuple[str, str]] = ()
    colour: str = AMBER

    def __repr__(self) -> str:
        lines = [self.title]
        for label, text in self.lines:
            if label in PROSE:
                lines.append(f"{label} " + _NAME.sub(r"\1", text))
            else:
                lines.append(f"  {label:<9} {text}".replace("\n", "\n" + " " * 12))
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        lines = []
        for label, text in self.lines:
            prose = label in PROSE
            lines.append((label, prose, _NAME.split(text) if prose else [text]))
        shown = template("shown.html").module.notice
        strong = lines or self.colour == GREEN
        return str(shown(self.title, strong, lines, self.colour))


def as_message(report: Mapping[str, Any]) -> Notice:
    """Return a report as a learner reads it: of the first failure, the evidence too."""
    slug, outcome, failures = report["slug"], report["outcome"], report["failures"]
    lines = [("!", report["note"])] if report["note"] else []
    attempted = outcome != "not attempted"
    label = "not met:" if attempted else " "
    for number, failure in enumerate(failures[:NAMED]):
        lines.append((label, failure["rule"]))
        if attempted and number == 0:
            lines += map(tuple, failure["evidence"])
    if more := len(failures[NAMED:]):
        lines.append((label, f"{more} more"))
    if outcome != "passed":
        lines.append(("next:", f"`hint({slug})`"))
    counted = f" · {report['met']} of {report['of']}" if attempted else ""
    return Notice(f"{slug} · {outcome}{counted}", lines, COLOURS.get(outcome, RED))


@dataclass(frozen=True)
class Code:
    """Python source; the notebook colours it in its own theme."""

    title: str
    source: str

    def __repr__(self) -> str:
        return f"# {self.title}\n{self.source}"

    def _repr_markdown_(self) -> str:
        fence = "`" * 9  # more than any source has
        return f"**{self.title}**\n\n{fence}python\n{self.source.rstrip()}\n{fence}\n"


@dataclass(frozen=True)
class Grid:
    """Rows under a head, and a line below them."""

    head: Sequence[str]
    rows: Sequence[Sequence[object]]
    footer: str = ""

    def __repr__(self) -> str:
        rows = [[as_cell(cell) for cell in row] for row in self.rows or [["none"]]]
        lines = [tuple(self.head)]
        for row in rows:
            lines += zip_longest(*(wrap(text, WIDEST) for text in row), fillvalue="")
        widths = [max(map(len, col)) for col in zip_longest(*lines, fillvalue="")]
        lines.insert(1, tuple("─" * width for width in widths))
        text = ["  ".join(map(str.ljust, line, widths)).rstrip() for line in lines]
        return "\n".join([*text, "", self.footer]).rstrip()

    def _repr_html_(self) -> str:
        columns = [as_column(column) for column in zip(*self.rows, strict=True)]
        numbers = [any(c) and all(map(_NUMBER.fullmatch, c)) for c in columns]
        written, footer = [*zip(*columns, strict=True)], self.footer
        if more := len(written[MOST_ROWS:]):
            footer = f"and {more:,} more rows. {footer}"
        shown = written[:MOST_ROWS], numbers or [False] * len(self.head), footer
        return str(template("shown.html").module.grid([*map(str, self.head)], *shown))


@cache
def _pages() -> Any:
    from jinja2 import Environment, FileSystemLoader

    options: Any = {"autoescape": True, "trim_blocks": True, "lstrip_blocks": True}
    return Environment(loader=FileSystemLoader(DATA / "pages"), **options)


def template(name: str, **known: Any) -> Any:
    """Return a page that escapes what it shows, and knows these names."""
    return _pages().get_template(name, globals=known)


def as_column(values: Sequence[Any]) -> list[str]:
    """Return values as they are written below each other: with as many decimals."""
    texts = [as_cell(value) for value in values]
    if not all(isinstance(value, float) for value in values):
        return texts
    decimals = max(len(text.partition(".")[2]) for text in texts)
    pairs = zip(values, texts, strict=True)
    return [t if t == "–" else f"{value:,.{decimals}f}" for value, t in pairs]


def as_cell(value: Any) -> str:
    """Return a value as it is written in a table.

    >>> [as_cell(value) for value in (1109, 0.12345, 2500.0, None, "a", True)]
    ['1,109', '0.1235', '2,500', '–', 'a', 'True']
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, str | bool) or not hasattr(value, "__round__"):
        return str(value)
    if value == round(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}" if abs(value) >= 0.001 else f"{value:.6f}"


def plot_html(figure: Any) -> str:
    """Return a figure of matplotlib as HTML, for light pages and for dark ones."""
    file = io.BytesIO()
    figure.savefig(file, format="png", dpi=200, bbox_inches="tight")
    wide = int.from_bytes(file.getvalue()[16:20])  # as a PNG says in its head
    png = base64.b64encode(file.getvalue()).decode()
    words = " · ".join(filter(None, (axes.get_title() for axes in figure.axes)))
    return str(template("shown.html").module.plot(png, wide // 2, words))
