"""The gallery: every scenario on every engine, and which endings only look right.

It is computed by playing. How it looks is `data/pages/gallery.html`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from workbook.pages import template
from workbook.playground.machines import Given
from workbook.playground.scenarios import Scenario

if TYPE_CHECKING:
    import pandas as pd

FEW = 12  # scenarios, of which none is folded


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

    `played` has the engine of each column and the parts that it was given: with them a
    row is played in the player.
    """

    scenarios: dict[str, Scenario]
    endings: dict[str, dict[str, Ending]]  # by column, then by scenario
    played: dict[str, tuple[str, Given | None]]
    marked: frozenset[str] = frozenset()  # what changed, see `since`

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

    @property
    def on_top(self) -> list[str]:
        """Return the scenarios that are not folded: what changed, or what is wrong."""
        *_, last = self.endings.values()
        wrong = [slug for slug in self.scenarios if not last[slug].right]
        return list(self.marked or (wrong if len(self.scenarios) > FEW else last))

    def beside(self, other: Gallery, name: str) -> Gallery:
        """Return this gallery with another one's first column, under a name of its own.

        What changed from the column before it is on top; see `since`.
        """
        last, first = list(self.endings)[-1], next(iter(other.endings))
        endings = {**self.endings, name: other.endings[first]}
        played = {**self.played, name: other.played[first]}
        return replace(self, endings=endings, played=played).since(last)

    def since(self, before: str) -> Gallery:
        """Return this gallery with what changed on top: from `before` to the last.

        A scenario has changed if it ends in another state, or right instead of wrong.
        """
        old, new = self.endings[before], list(self.endings.values())[-1]
        marked = (slug for slug in new if new[slug].kind != old[slug].kind)
        return replace(self, marked=frozenset(marked))

    def __repr__(self) -> str:
        return (
            f"<Gallery of {len(self.scenarios)} scenarios: {', '.join(self.endings)}>"
        )

    def _repr_html_(self) -> str:
        return str(template("gallery.html").render(gallery=self))

    def _ipython_display_(self) -> None:
        """Show the table, which needs no kernel, and below it what is played."""
        from IPython.display import display

        asks = self.opener()._repr_mimebundle_() | {"text/plain": ""}
        for shown in (
            {"text/html": self._repr_html_(), "text/plain": repr(self)},
            asks,
        ):
            display(shown, raw=True)  # type: ignore[no-untyped-call]

    def opener(self) -> Any:
        """Return the widget that plays a run; the page writes into it which one."""
        import ipywidgets as widgets
        from IPython.display import display

        from workbook import playground  # which loads what shows a run when it is asked

        asked, shown = widgets.Text().add_class("gallery-asks"), widgets.Output()

        def show(change: dict[str, str]) -> None:
            slug, column = change["new"].split(" ", 2)[1:]
            engine, parts = self.played[column]
            shown.clear_output()
            with shown:
                display(playground.player(slug, engine, parts=parts))  # type: ignore[no-untyped-call]

        asked.observe(show, "value")
        return widgets.VBox([asked, shown])
