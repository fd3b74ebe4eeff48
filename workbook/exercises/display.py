"""Showing things: as HTML in a notebook, as text everywhere else.

Whatever a learner's code produced is escaped. Text has the page's own colour; the
colours below are those of bars, and can be told from a dark page and from a light one.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from workbook.exercises.report import Outcome, Report
from workbook.pages import as_cell, table, template
from workbook.paths import DATA

AMBER, GREY, RED, GREEN = "#b26a00", "#767676", "#d32f2f", "#2e7d32"
COLOURS = {Outcome.PASSED: GREEN, Outcome.NOT_ATTEMPTED: GREY}
PROSE = ("not met:", "!", " ", "next:")  # labels of lines in the course's own words
_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")  # in the course's own words
NAMED = 5  # failures that are named; the others are counted


def notebook() -> Any:
    """Return IPython's shell, or None where no notebook runs."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython else None


def show(thing: object, can_change: bool = False) -> Any:
    """Display a thing in a notebook, or print its text.

    What can change has an `update(thing)`: a handle of IPython's.
    """
    if notebook():
        from IPython.display import display

        return display(thing, display_id=can_change or None)  # type: ignore[no-untyped-call]
    coding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(str(thing).encode(coding, "replace").decode(coding))  # it may lack a sign
    return None


def style_page() -> None:
    """Give the page of a notebook what no cell can say of itself."""
    if notebook() and DATA.is_dir():
        from IPython.display import display

        style = str(template("shown.html").module.page())
        display({"text/html": style, "text/plain": ""}, raw=True)  # type: ignore[no-untyped-call]


_told: set[tuple[int, str]] = set()  # a run of a cell, what was said in it


def once_a_cell(*things: str) -> list[str]:
    """Return those that were not yet said in this run of a cell; all, elsewhere."""
    cell = shell.execution_count if (shell := notebook()) else 0
    new = [thing for thing in things if (cell, thing) not in _told]
    _told.update((cell, thing) for thing in new if cell)
    return new


def tell_ours(*slugs: str) -> None:
    """Say in a notebook, once a cell, that the package's functions run in it."""
    new = once_a_cell(*slugs) if notebook() else []
    if new:
        names = ", ".join(new)
        run, have = ("runs", "has") if len(new) == 1 else ("run", "have")
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


def as_message(report: Report) -> Notice:
    """Return a report as a learner reads it: of the first failure, the evidence too."""
    lines = [("!", report.note)] if report.note else []
    attempted = report.outcome is not Outcome.NOT_ATTEMPTED
    label = "not met:" if attempted else " "
    for number, failure in enumerate(report.failures[:NAMED]):
        lines.append((label, failure.requirement))
        if attempted and number == 0:
            lines += failure.evidence
    if more := len(report.failures[NAMED:]):
        lines.append((label, f"{more} more"))
    if report.passed < report.total:
        lines.append(("next:", f"`hint({report.slug})`"))
    counted = f" · {report.passed} of {report.total}" if report.total else ""
    title = f"{report.slug} · {report.outcome}{counted if attempted else ''}"
    return Notice(title, lines, COLOURS.get(report.outcome, RED))


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


class Prediction:
    """A guess before a run, held next to what happened; nothing is graded.

    Each choice is a button. The guess is kept in the kernel, and may be set from code
    as well. What happened stays folded until there is a guess, also one that is made
    after the run.
    """

    def __init__(self, question: str, *choices: object) -> None:
        self.question, self.choices = question, [str(choice) for choice in choices]
        self.guess, self.happened = "", ""
        self._revealed: Any = None  # what was shown while there was no guess

    def reveal(self, happened: object) -> None:
        """Show what was guessed, and what happened."""
        self.happened = str(happened)
        self._revealed = show(self._told(), can_change=not self.guess)

    def _told(self) -> Notice:
        was = ("it was", self.happened)
        if self.guess:
            return Notice(self.question, [("guessed", self.guess), was], GREY)
        missing = "No guess yet. Choose an answer, and it is compared here."
        return Notice(self.question, [(" ", missing)], GREY, was)

    def __repr__(self) -> str:
        return f"Predict: {self.question} ({' / '.join(self.choices)})"

    def box(self) -> Any:
        """Return the buttons for a guess; they show what was guessed before."""
        import ipywidgets as widgets

        chosen = self.guess if self.guess in self.choices else None
        box: Any = widgets.ToggleButtons(options=self.choices, value=chosen)
        box.style.button_width = "auto"
        box.observe(self._keep, "value")
        return box.add_class("predict")

    def _keep(self, change: Mapping[str, str | None]) -> None:
        self.guess = change["new"] or ""
        if self.guess and self._revealed:
            self._revealed.update(self._told())
            self._revealed = None

    def _ipython_display_(self) -> None:
        show(Notice(f"Predict: {self.question}", colour=GREY))
        choices = f"<small>{escape(' / '.join(self.choices))}</small>"
        instead = f"<div class='instead'>{choices}</div>"
        show_widget(self.box(), repr(self), instead)


def show_widget(widget: Any, title: str, elsewhere: str) -> None:
    """Show a widget and, as an output of its own, what pages without widgets show.

    Of two kinds of one output JupyterLab takes the widget, even where it is gone. The
    page's style hides the second one while the widget is there.
    """
    from IPython.display import display

    for shown in (widget._repr_mimebundle_(), {"text/html": elsewhere}):
        display(shown | {"text/plain": title}, raw=True)  # type: ignore[no-untyped-call]


predict = Prediction  # what one types
