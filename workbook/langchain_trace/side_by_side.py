"""Texts beside each other: what a model wrote, with a setting and without it.

Lines that begin with certain words can be marked. Every text is escaped.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from workbook.pages import template


@dataclass(frozen=True)
class SideBySide:
    """Texts by title, with marked lines: columns in a notebook, or plain text."""

    texts: Mapping[str, str]
    mark: str

    def _lines(self) -> list[tuple[str, list[tuple[str, bool]]]]:
        """Return of each text its title and its lines, with whether one is marked."""
        return [
            (title, [(line, self._hit(line)) for line in text.strip().splitlines()])
            for title, text in self.texts.items()
        ]

    def _hit(self, line: str) -> bool:
        return self.mark != "" and line.lstrip().startswith(self.mark)

    def _repr_html_(self) -> str:
        return str(template("shown.html").module.beside(self._lines()))

    def __repr__(self) -> str:
        shown = []
        for title, lines in self._lines():
            marked = (f"{' >'[is_marked]} {line}" for line, is_marked in lines)
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
