"""Messages, code and tables: as HTML in a notebook, as text everywhere else.

Whatever a learner's code produced is escaped. Text has the page's own colour; the
colours below are those of bars, and can be told from a dark page and from a light one.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.pages import as_cell, table, template
from workbook.paths import DATA

AMBER, GREY, RED, GREEN = "#b26a00", "#767676", "#d32f2f", "#2e7d32"
COLOURS = {"passed": GREEN, "not attempted": GREY}
PROSE = ("not met:", "!", " ", "next:")  # labels of lines in the course's own words
_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")  # in the course's own words
NAMED = 5  # failures that are named; the others are counted
_shown: set[tuple[int, str]] = set()  # a run of a cell, what was said in it


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
    folded: tuple[str, str] | None = None  # what a reader opens: its name, a text

    def __repr__(self) -> str:
        lines = [self.title]
        for label, text in [*self.lines, *filter(None, [self.folded])]:
            if label in PROSE:
                lines.append(f"{label} " + _NAME.sub(r"\1", text))
            else:
                lines.append(f"  {label:<9} {text}".replace("\n", "\n" + " " * 12))
        return "\n".join(lines)

    def _repr_html_(self) -> str | None:
        if not DATA.is_dir():  # what the notice says; it is shown as text then
            return None
        lines = []
        for label, text in self.lines:
            prose = label in PROSE
            lines.append((label, prose, _NAME.split(text) if prose else [text]))
        shown = template("shown.html").module.notice
        strong = lines or self.folded or self.colour == GREEN
        return str(shown(self.title, strong, lines, self.colour, self.folded))


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
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        drawn = RichTable(*self.head, box=SIMPLE_HEAD)
        for row in self.rows or [["none"]]:
            drawn.add_row(*(Text(as_cell(cell), overflow="fold") for cell in row))
        console = Console(color_system=None, highlight=False, force_jupyter=False)
        with console.capture() as captured:
            console.print(drawn)
            console.print(Text(self.footer))
        return captured.get().rstrip()

    def _repr_html_(self) -> str:
        return table(self.head, self.rows, self.footer)
