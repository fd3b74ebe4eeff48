"""The gallery: every scenario on every engine, and which endings only look right.

It is computed by playing. How it looks is `data/pages/gallery.html`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from workbook.pages import template
from workbook.playground.scenarios import Scenario

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Ending:
    """How a run of a scenario ended, and whether that was right."""

    end: dict[str, Any]  # see `outcome`
    words: str
    right: bool

    @property
    def kind(self) -> str:
        """Its state in lower case, but of a DONE whether it was right or wrong."""
        if self.right:
            return "right"
        state = str(self.end["state"])
        return "wrong" if state == "DONE" else state.lower()


@dataclass(frozen=True)
class Gallery:
    """A row a scenario, a column an engine; a notebook shows it, `frame` has the words.

    Where it is asked for something that a table can do, `frame` does it.
    """

    scenarios: dict[str, Scenario]
    endings: dict[str, dict[str, Ending]]  # by engine, then by scenario
    marked: frozenset[str] = field(default=frozenset())

    @property
    def frame(self) -> pd.DataFrame:
        """Return the endings in words: a row a scenario, its title, an engine each."""
        import pandas as pd

        titles = {slug: scenario.title for slug, scenario in self.scenarios.items()}
        words = {
            name: {slug: ending.words for slug, ending in column.items()}
            for name, column in self.endings.items()
        }
        return pd.DataFrame({"scenario": titles} | words)

    def beside(self, other: Gallery, name: str) -> Gallery:
        """Return this gallery with another one's first column, under a name of its own.

        What changed from the column before it is on top; see `since`.
        """
        last = list(self.endings)[-1]
        endings = {**self.endings, name: next(iter(other.endings.values()))}
        return replace(self, endings=endings).since(last)

    def since(self, before: str) -> Gallery:
        """Return this gallery with what changed on top: from `before` to the last.

        A scenario has changed if it ends in another state, or right instead of wrong.
        """
        old, new = self.endings[before], list(self.endings.values())[-1]
        marked = (slug for slug in new if new[slug].kind != old[slug].kind)
        return replace(self, marked=frozenset(marked))

    def __getattr__(self, name: str) -> Any:
        """Return what the table has of that name."""
        return getattr(self.frame, name)

    def __repr__(self) -> str:
        return (
            f"<Gallery of {len(self.scenarios)} scenarios: {', '.join(self.endings)}>"
        )

    def _repr_html_(self) -> str:
        return str(template("gallery.html").render(gallery=self))
