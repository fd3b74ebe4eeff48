"""Showing things: as HTML in a notebook, as text everywhere else.

Whatever a learner's code produced is escaped. Colours are JupyterLab's own variables
with a fallback, so that they can be read on a dark page and on a light one.
"""

from __future__ import annotations

import html
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from workbook.exercises.report import Outcome, Report

GREEN = "var(--jp-success-color1, #2e7d32)"
RED = "var(--jp-error-color1, #d32f2f)"
AMBER = "var(--jp-warn-color1, #b26a00)"
GREY = "var(--jp-ui-font-color2, #767676)"
COLOURS = {
    Outcome.PASSED: GREEN,
    Outcome.WRONG: RED,
    Outcome.RAISED: RED,
    Outcome.NOT_ATTEMPTED: GREY,
}
PROSE = ("✗", "!", " ", "next:")
"""Labels of lines in the course's own words; under any other one stands a value."""
NAMED = 5
"""Failures that are named, the first with its evidence; the others are counted."""


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
    """Something with a text for terminals; most have an HTML form for notebooks too."""

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, repr=False)
class Message(Shown):
    """A few lines that say something; the first one stands out."""

    title: str
    lines: Sequence[str] = ()

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {line}" for line in self.lines)])

    def _repr_html_(self) -> str:
        body = "".join(f"<div>{_prose(line)}</div>" for line in self.lines)
        return _box(AMBER, f"<b>{_escaped(self.title)}</b>{body}")


@dataclass(frozen=True, repr=False)
class Code(Shown):
    """Python source; the notebook colours it in its own theme."""

    title: str
    source: str

    def __str__(self) -> str:
        return f"# {self.title}\n{self.source}"

    def _repr_markdown_(self) -> str:
        fence = "`" * 3
        while fence in self.source:
            fence += "`"
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
        left = "style='text-align:left;vertical-align:top'"
        rows = [
            "".join(f"<{cell} {left}>{_escaped(text)}</{cell}>" for text in row)
            for cell, row in [("th", self.head), *(("td", row) for row in self.rows)]
        ]
        body = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<table>{body}</table><div>{_escaped(self.footer)}</div>"


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """A report, with the whole traceback where that was asked for."""

    report: Report
    with_traceback: bool = False

    def _lines(self) -> Iterator[tuple[str, str]]:
        """Yield (label, text) of each line below the headline."""
        report = self.report
        if report.note:
            yield "!", report.note
        attempted = report.outcome is not Outcome.NOT_ATTEMPTED
        for number, failure in enumerate(report.failures[:NAMED]):
            yield "✗" if attempted else " ", failure.requirement
            if attempted and number == 0:
                yield from failure.evidence
        if more := len(report.failures[NAMED:]):
            yield "✗", f"and {more} more"
        if report.next_step:
            yield "next:", f"`{report.next_step}`"

    def __str__(self) -> str:
        lines = [self.report.headline]
        for label, text in self._lines():
            if label in PROSE:
                lines.append(f"{label} {_plain(text)}")
            else:
                lines.append(f"  {label:<9} {text}".replace("\n", "\n" + " " * 12))
        if self.with_traceback and self.report.traceback:
            lines += ["", self.report.traceback]
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        colour, rows = COLOURS[self.report.outcome], ""
        cell = "text-align:left;vertical-align:top;padding:1px 10px 1px 0"
        code = "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace"
        for label, text in self._lines():
            rows += f"<tr><td style='{cell};color:{GREY}'>{label}</td>"
            if label in PROSE:
                rows += f"<td style='{cell}'>{_prose(text)}</td></tr>"
            else:
                rows += f"<td style='{cell};{code}'>{_escaped(text)}</td></tr>"
        body = f"<b style='color:{colour}'>{_escaped(self.report.headline)}</b>"
        if rows:
            body += f"<table style='margin:0'>{rows}</table>"
        if self.with_traceback and self.report.traceback:
            body += f"<pre>{_escaped(self.report.traceback)}</pre>"
        return _box(colour, body)


_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")


def _plain(text: str) -> str:
    """Return the course's own words without the backticks around names."""
    return _NAME.sub(r"\1", text)


def _prose(text: str) -> str:
    """Return the course's own words as HTML, with names as code."""
    return _NAME.sub(r"<code>\1</code>", _escaped(text))


def _escaped(text: str) -> str:
    # Where MathJax does not know the class of the box, this keeps some viewers from
    # taking a dollar sign for the start of a formula.
    return html.escape(text).replace("$", "&#36;")


def _box(colour: str, body: str) -> str:
    style = f"border-left:4px solid {colour};padding:.2em .8em;line-height:1.5"
    return f"<div class='workbook-report mathjax_ignore' style='{style}'>{body}</div>"
