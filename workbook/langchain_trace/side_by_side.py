"""Texts beside each other: what a model wrote, with a setting and without it.

Lines that begin with certain words can be marked. Every text is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass

_COLUMN = (
    '<div style="flex:1 1 18em;min-width:0"><b>{}</b><pre style="white-space:pre-wrap;'
    'overflow-wrap:anywhere;color:inherit;background:transparent">{}</pre></div>'
)
_MARKED = '<span style="background-color:rgba(219, 68, 55, 0.25)">{}</span>'


@dataclass(frozen=True)
class SideBySide:
    """Lines by title, each marked or not: columns in a notebook, or plain text."""

    texts: Mapping[str, list[tuple[str, bool]]]

    def _repr_html_(self) -> str:
        columns = ""
        for title, lines in self.texts.items():
            shown = [
                (_MARKED if hit else "{}").format(html.escape(line))
                for line, hit in lines
            ]
            columns += _COLUMN.format(html.escape(title), "\n".join(shown))
        style = "display:flex;flex-wrap:wrap;gap:2em"
        return f'<div class="workbook-side-by-side" style="{style}">{columns}</div>'

    def __repr__(self) -> str:
        return "\n\n".join(
            "\n".join([f"[{title}]", *(f"{' >'[hit]} {text}" for text, hit in lines)])
            for title, lines in self.texts.items()
        )


def side_by_side(texts: Mapping[str, str], mark: str = "") -> SideBySide:
    """Return texts by title, with the lines marked that begin with `mark`, if any.

    >>> side_by_side({"with": "a", "without": "a\\nObservation: 3"}, "Observation:")
    [with]
      a
    <BLANKLINE>
    [without]
      a
    > Observation: 3
    """
    found: dict[str, list[tuple[str, bool]]] = {}
    for title, text in texts.items():
        lines = text.strip().splitlines()
        hits = (mark != "" and line.lstrip().startswith(mark) for line in lines)
        found[title] = list(zip(lines, hits, strict=True))
    return SideBySide(found)
