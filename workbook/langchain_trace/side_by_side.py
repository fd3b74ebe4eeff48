"""Texts beside each other: what a model wrote, with a setting and without it.

Lines that begin with certain words can be marked. Every text is escaped.
"""

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
    """Texts by title, with marked lines: columns in a notebook, or plain text."""

    texts: Mapping[str, str]
    mark: str

    def _hit(self, line: str) -> bool:
        return self.mark != "" and line.lstrip().startswith(self.mark)

    def _repr_html_(self) -> str:
        columns = ""
        for title, text in self.texts.items():
            shown = [
                (_MARKED if self._hit(line) else "{}").format(html.escape(line))
                for line in text.strip().splitlines()
            ]
            columns += _COLUMN.format(html.escape(title), "\n".join(shown))
        style = "display:flex;flex-wrap:wrap;gap:2em"
        return f'<div class="workbook-side-by-side" style="{style}">{columns}</div>'

    def __repr__(self) -> str:
        shown = []
        for title, text in self.texts.items():
            lines = text.strip().splitlines()
            marked = (f"{' >'[self._hit(line)]} {line}" for line in lines)
            shown.append("\n".join([f"[{title}]", *marked]))
        return "\n\n".join(shown)


def side_by_side(texts: Mapping[str, str], mark: str = "") -> SideBySide:
    """Return texts by title, with the lines marked that begin with `mark`, if any.

    >>> side_by_side({"without": "a\\nObservation: 3"}, "Observation:")
    [without]
      a
    > Observation: 3
    """
    return SideBySide(texts, mark)
