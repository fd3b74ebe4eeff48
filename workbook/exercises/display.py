"""Showing things: as HTML in a notebook, as text everywhere else.

Whatever a learner's code produced is escaped. Colours are JupyterLab's own variables
with a fallback, so that they can be read on a dark page and on a light one.
"""

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from workbook.exercises.report import Outcome, Report
from workbook.pages import as_cell, table, template
from workbook.paths import DATA

AMBER, GREY = "var(--jp-warn-color1, #b26a00)", "var(--jp-ui-font-color2, #767676)"
RED, GREEN = "var(--jp-error-color1, #d32f2f)", "var(--jp-success-color1, #2e7d32)"
COLOURS = {Outcome.PASSED: GREEN, Outcome.NOT_ATTEMPTED: GREY}
PROSE = ("✗", "!", " ", "next:")  # labels of lines in the course's own words
_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")  # in the course's own words
NAMED = 5  # failures that are named; the others are counted


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
    print(str(thing).encode(coding, "replace").decode(coding))  # it may lack the ✗


_told: set[tuple[int, str]] = set()  # a run of a cell, an exercise


def tell_ours(*slugs: str) -> None:
    """Say in a notebook, once a cell, that the package's functions run in it."""
    cell = shell.execution_count if (shell := notebook()) else 0
    new = [slug for slug in slugs if cell and (cell, slug) not in _told]
    if new:
        _told.update((cell, slug) for slug in new)
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

    def __repr__(self) -> str:
        lines = [self.title]
        for label, text in self.lines:
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
        return str(shown(self.title, lines, self.colour, GREY))


def as_message(report: Report) -> Notice:
    """Return a report as a learner reads it: of the first failure, the evidence too."""
    lines = [("!", report.note)] if report.note else []
    attempted = report.outcome is not Outcome.NOT_ATTEMPTED
    for number, failure in enumerate(report.failures[:NAMED]):
        lines.append(("✗" if attempted else " ", failure.requirement))
        if attempted and number == 0:
            lines += failure.evidence
    if more := len(report.failures[NAMED:]):
        lines.append(("✗", f"and {more} more"))
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
        for row in self.rows:
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

    With choices they are buttons, without any it is a box to type in. The guess is kept
    in the kernel, and `guess` may be set from code as well.
    """

    def __init__(self, question: str, *choices: object) -> None:
        self.question, self.choices = question, [str(choice) for choice in choices]
        self.guess = ""

    def reveal(self, happened: object) -> None:
        """Show what was guessed, and what happened."""
        guess = self.guess or "nothing: no guess was made"
        lines = [("guessed", guess), ("it was", str(happened))]
        show(Notice(self.question, lines, GREY))

    def __repr__(self) -> str:
        choices = f" ({' / '.join(self.choices)})" if self.choices else ""
        return f"Predict: {self.question}{choices}"

    def box(self) -> Any:
        """Return the widget in which one guesses; it shows what was guessed before."""
        import ipywidgets as widgets

        if self.choices:
            chosen = self.guess if self.guess in self.choices else None
            box: Any = widgets.ToggleButtons(options=self.choices, value=chosen)
            box.style.button_width = "auto"
        else:
            box = widgets.Text(value=self.guess, placeholder="your guess")
        box.observe(self._keep, "value")
        return box.add_class("predict")

    def _keep(self, change: Mapping[str, str | None]) -> None:
        self.guess = (change["new"] or "").strip()

    def _ipython_display_(self) -> None:
        # The question in an output of its own: it is there where no widget runs.
        show(Notice(repr(self), colour=GREY))
        show(self.box())


predict = Prediction  # what one types
