"""Texts beside each other: what a model wrote, with a setting and without it.

Lines that begin with certain words can be marked, so that one sees at once what is in
one text and not in the other. Every text is escaped.
"""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class SideBySide:
    """Texts by title: columns in a notebook, one below the other as text."""

    texts: Mapping[str, str]
    mark: str = ""

    def _marked(self, line: str) -> bool:
        return bool(self.mark) and line.lstrip().startswith(self.mark)

    def _repr_html_(self) -> str:
        columns = "".join(
            '<div style="flex:1 1 18em;min-width:0">'
            f"<b>{html.escape(title)}</b>"
            '<pre style="white-space:pre-wrap;overflow-wrap:anywhere;color:inherit;'
            f'background:transparent">{self._lines(text)}</pre></div>'
            for title, text in self.texts.items()
        )
        style = "display:flex;flex-wrap:wrap;gap:2em"
        return f'<div class="workbook-side-by-side" style="{style}">{columns}</div>'

    def _lines(self, text: str) -> str:
        return "\n".join(
            f'<span style="background-color:rgba(219, 68, 55, 0.25)">'
            f"{html.escape(line)}</span>"
            if self._marked(line)
            else html.escape(line)
            for line in text.strip().splitlines()
        )

    def __repr__(self) -> str:
        parts = []
        for title, text in self.texts.items():
            lines = text.strip().splitlines()
            marked = (f"{'>' if self._marked(line) else ' '} {line}" for line in lines)
            parts.append("\n".join([f"[{title}]", *marked]))
        return "\n\n".join(parts)


def side_by_side(texts: Mapping[str, str], mark: str = "") -> SideBySide:
    """Return texts beside each other, with the lines marked that begin with `mark`.

    Args:
        texts: title to text.
        mark: how a marked line begins; empty marks none.

    >>> side_by_side({"with": "a", "without": "a\\nObservation: 3"}, "Observation:")
    [with]
      a
    <BLANKLINE>
    [without]
      a
    > Observation: 3
    """
    return SideBySide(dict(texts), mark)
