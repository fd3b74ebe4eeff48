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
from typing import Protocol

from workbook.exercises.report import Failure, Outcome, Report

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
SHOWN_IN_FULL = 1
"""Failures with all their evidence; the others are named."""
NAMED = 5
"""Failures that are shown or named; the others are counted."""


class Showable(Protocol):
    """What `show` takes: text, and HTML where there is some."""

    def __str__(self) -> str: ...


def show(thing: Showable) -> None:
    """Display a thing in a notebook, or print its text."""
    if "IPython" in sys.modules:
        from IPython.core.getipython import get_ipython
        from IPython.display import display

        if get_ipython() is not None:
            display(thing)  # type: ignore[no-untyped-call]
            return
    text = str(thing)
    coding = getattr(sys.stdout, "encoding", None) or "utf-8"
    print(text.encode(coding, "replace").decode(coding))  # a console may lack the ✗


class Shown:
    """Something with a text and an HTML form, for notebooks and terminals."""

    def text(self) -> str:
        """Return it as plain text."""
        raise NotImplementedError

    def html(self) -> str:
        """Return it as HTML in which every foreign text is escaped."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.text()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()


@dataclass(frozen=True, repr=False)
class Message(Shown):
    """A few lines that say something; the first one stands out."""

    title: str
    lines: Sequence[str] = ()
    colour: str = AMBER

    def text(self) -> str:
        """Return the lines."""
        return "\n".join([self.title, *(f"  {line}" for line in self.lines)])

    def html(self) -> str:
        """Return the lines in a box."""
        body = "".join(f"<div>{_prose(line)}</div>" for line in self.lines)
        return _box(self.colour, f"<b>{_inline(self.title)}</b>{body}")


@dataclass(frozen=True, repr=False)
class Code(Shown):
    """Python source; the notebook colours it in its own theme."""

    title: str
    source: str

    def text(self) -> str:
        """Return the source."""
        return f"# {self.title}\n{self.source}"

    def _repr_markdown_(self) -> str:
        fence = "`" * 3
        while fence in self.source:
            fence += "`"
        return f"**{self.title}**\n\n{fence}python\n{self.source.rstrip()}\n{fence}\n"

    def _repr_html_(self) -> None:  # type: ignore[override]
        return None


@dataclass(frozen=True, repr=False)
class Table(Shown):
    """Rows under a head."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    caption: str = ""
    footer: str = ""

    def text(self) -> str:
        """Return the table, drawn by rich."""
        from rich.box import SIMPLE_HEAD
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text

        table = RichTable(box=SIMPLE_HEAD, title=self.caption or None, title_style="")
        for name in self.head:
            table.add_column(name, overflow="fold")
        for row in self.rows:
            table.add_row(*(Text(cell) for cell in row))
        console = Console(color_system=None, highlight=False)
        with console.capture() as captured:
            console.print(table)
            if self.footer:
                console.print(Text(self.footer))
        return captured.get().rstrip()

    def html(self) -> str:
        """Return the table."""
        left = "style='text-align:left;vertical-align:top'"
        head = "".join(f"<th {left}>{_inline(name)}</th>" for name in self.head)
        rows = "".join(
            "<tr>"
            + "".join(f"<td {left}>{_inline(cell)}</td>" for cell in row)
            + "</tr>"
            for row in self.rows
        )
        return (
            f"<table><caption {left}>{_inline(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
            f"<div>{_inline(self.footer)}</div>"
        )


@dataclass(frozen=True, repr=False)
class Result(Shown):
    """A report, with the whole traceback where that was asked for."""

    report: Report
    with_traceback: bool = False

    def text(self) -> str:
        """Return what STYLE asks for: headline, requirement, evidence, next step."""
        report = self.report
        lines = [report.headline, *(f"! {note}" for note in report.notes)]
        if report.outcome is Outcome.NOT_ATTEMPTED:
            lines += [f"  {_plain(f.requirement)}" for f in report.failures]
        else:
            for failure in report.failures[:SHOWN_IN_FULL]:
                lines.append(f"✗ {_plain(failure.requirement)}")
                lines += [
                    f"  {label:<9} {text}".replace("\n", "\n" + " " * 12)
                    for label, text in failure.evidence
                ]
            for failure in report.failures[SHOWN_IN_FULL:NAMED]:
                lines.append(f"✗ {_plain(failure.requirement)}")
            if report.failures[NAMED:]:
                lines.append(f"✗ and {len(report.failures[NAMED:])} more")
        if report.graded:
            lines.append(f"graded: {report.graded}")
        if report.next_step:
            lines.append(f"next: {report.next_step}")
        if self.with_traceback and report.traceback:
            lines += ["", report.traceback]
        return "\n".join(lines)

    def html(self) -> str:
        """Return the same as HTML."""
        report, colour = self.report, COLOURS[self.report.outcome]
        parts = [f"<b style='color:{colour}'>{_inline(report.headline)}</b>"]
        parts += [f"<div>{_inline(note)}</div>" for note in report.notes]
        if report.outcome is Outcome.NOT_ATTEMPTED:
            parts += [f"<div>{_prose(f.requirement)}</div>" for f in report.failures]
        else:
            for number, failure in enumerate(report.failures[:NAMED]):
                parts.append(_failure_html(failure, full=number < SHOWN_IN_FULL))
            if report.failures[NAMED:]:
                more = Failure(f"and {len(report.failures[NAMED:])} more")
                parts.append(_failure_html(more, full=False))
        if report.graded:
            graded = f"graded: {_inline(report.graded)}"
            parts.append(f"<div style='color:{GREY}'>{graded}</div>")
        if report.next_step:
            parts.append(f"<div>next: <code>{_inline(report.next_step)}</code></div>")
        if self.with_traceback and report.traceback:
            parts.append(f"<pre>{html.escape(report.traceback)}</pre>")
        return _box(colour, "".join(parts))


def _failure_html(failure: Failure, *, full: bool) -> str:
    cross = f"<span style='color:{RED}'>✗</span>"
    line = f"<div style='margin-top:.4em'>{cross} {_prose(failure.requirement)}</div>"
    if not full or not failure.evidence:
        return line
    cell = "text-align:left;vertical-align:top;padding:1px 10px 1px 0;"
    code = "white-space:pre-wrap;overflow-wrap:anywhere;font-family:monospace"
    rows = "".join(
        f"<tr><td style='{cell}color:{GREY}'>{_inline(label)}</td>"
        f"<td style='{cell}{code}'>{_inline(text)}</td></tr>"
        for label, text in failure.evidence
    )
    return f"{line}<table style='margin:0 0 0 1.2em'>{rows}</table>"


_NAME = re.compile("(?<!`)`([^`\n]+)`(?!`)")


def _plain(text: str) -> str:
    """Return the course's own words without the backticks around names."""
    return _NAME.sub(r"\1", text)


def _prose(text: str) -> str:
    """Return the course's own words as HTML, with names as code."""
    return _NAME.sub(r"<code>\1</code>", _inline(text))


def _inline(text: str) -> str:
    # Where MathJax does not know the class of the box, this keeps some viewers from
    # taking a dollar sign for the start of a formula.
    return html.escape(text).replace("$", "&#36;")


def _box(colour: str, body: str) -> str:
    style = f"border-left:4px solid {colour};padding:.2em .8em;line-height:1.5"
    return f"<div class='workbook-report mathjax_ignore' style='{style}'>{body}</div>"
