"""Showing things: as HTML in a notebook, as text everywhere else.

Whatever a learner's code produced is escaped. Colours are JupyterLab's own variables
with a fallback, so that they can be read on a dark page and on a light one.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass

from workbook.exercises.report import Outcome, Report

RED, AMBER = "var(--jp-error-color1, #d32f2f)", "var(--jp-warn-color1, #b26a00)"
GREY = "var(--jp-ui-font-color2, #767676)"
COLOURS = {
    Outcome.PASSED: "var(--jp-success-color1, #2e7d32)",
    Outcome.NOT_ATTEMPTED: GREY,
}
PROSE = ("✗", "!", " ", "next:")  # labels of lines in the course's own words
NAMED = 5  # failures that are named; the others are counted


def show(thing: object) -> None:
    """Display a thing in a notebook, or print its text."""
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:
            display(thing)  # type: ignore[no-untyped-call]
            return
    coding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(str(thing).encode(coding, "replace").decode(coding))  # it may lack the ✗


class Shown:
    """Something with a text for terminals; it has a form for notebooks too."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class Message(Shown):
    """A title that stands out, lines of (label, text), and what stands as it is."""

    title: str
    lines: Sequence[tuple[str, str]] = ()
    colour: str = AMBER
    verbatim: str = ""

    def __str__(self) -> str:
        lines = [self.title]
        for label, text in self.lines:
            if label in PROSE:
                lines.append(f"{label} " + _NAME.sub(r"\1", text))
            else:
                lines.append(f"  {label:<9} {text}".replace("\n", "\n" + " " * 12))
        return "\n".join([*lines, *filter(None, [self.verbatim])])

    def _repr_html_(self) -> str:
        cell = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
        code = "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace"
        body = f"<b style='color:{self.colour}'>{_escaped(self.title)}</b>"
        body += "<table style='margin:0'>"
        for label, text in self.lines:
            style, told = f"{cell};{code}", _escaped(text)
            if label in PROSE:
                style, told = cell, _NAME.sub(r"<code>\1</code>", told)
            body += f"<tr><td style='{cell};color:{GREY}'>{label}</td>"
            body += f"<td style='{style}'>{told}</td></tr>"
        body += "</table>"
        body += f"<pre>{_escaped(self.verbatim)}</pre>" if self.verbatim else ""
        box = f"border-left:4px solid {self.colour};padding:.2em .8em;line-height:1.5"
        return f"<div class='workbook-report mathjax_ignore' style='{box}'>{body}</div>"


def as_message(report: Report, *, with_traceback: bool = False) -> Message:
    """Return a report as a learner reads it: of the first failure, the evidence too."""
    lines = [("!", report.note)] if report.note else []
    attempted, first = report.outcome is not Outcome.NOT_ATTEMPTED, report.failures[:1]
    for failure in report.failures[:NAMED]:
        lines.append(("✗" if attempted else " ", failure.requirement))
        if attempted and failure in first:
            lines += failure.evidence
    if more := len(report.failures[NAMED:]):
        lines.append(("✗", f"and {more} more"))
    if report.next_step:
        lines.append(("next:", f"`{report.next_step}`"))
    traceback = first[0].traceback if first and with_traceback else ""
    return Message(report.headline, lines, COLOURS.get(report.outcome, RED), traceback)


@dataclass(frozen=True, repr=False)
class Code(Shown):
    """Python source; the notebook colours it in its own theme."""

    title: str
    source: str

    def __str__(self) -> str:
        return f"# {self.title}\n{self.source}"

    def _repr_markdown_(self) -> str:
        fence = "`" * 9  # more than any source has
        return f"**{self.title}**\n\n{fence}python\n{self.source.rstrip()}\n{fence}\n"


@dataclass(frozen=True, repr=False)
class Table(Shown):
    """Rows under a head, and a line below them."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    footer: str = ""

    def __str__(self) -> str:
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD)
        for name in self.head:
            table.add_column(name, overflow="fold")
        for row in self.rows:
            table.add_row(*map(Text, row))
        console = Console(color_system=None, highlight=False)
        with console.capture() as captured:
            console.print(table)
            console.print(Text(self.footer))
        return captured.get().rstrip()

    def _repr_html_(self) -> str:
        left, body = "style='text-align:left;vertical-align:top'", ""
        for cell, row in [("th", self.head), *(("td", row) for row in self.rows)]:
            told = (f"<{cell} {left}>{_escaped(text)}</{cell}>" for text in row)
            body += f"<tr>{''.join(told)}</tr>"
        return f"<table>{body}</table><div>{_escaped(self.footer)}</div>"


_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")
"""A name in the course's own words: code in a notebook, bare in plain text."""


def _escaped(text: str) -> str:
    # Where MathJax does not know the class of the box, this keeps some viewers from
    # taking a dollar sign for the start of a formula.
    return html.escape(text).replace("$", "&#36;")
