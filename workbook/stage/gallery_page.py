"""The gallery: scenarios played on engines, and which endings only look right."""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workbook.checks.parts import Parts
from workbook.stage.engines import play
from workbook.stage.machines import Given
from workbook.stage.predict import page
from workbook.stage.scenarios import Scenario, load, outcome, slugs
from workbook.wait import waiting

FEW = 12  # scenarios, of which none is folded
Ending = dict[str, Any]  # an `outcome`, whether it is `right`, and its `kind`


@dataclass(frozen=True)
class Gallery:
    """A table with a row for each scenario and a column for each engine."""

    scenarios: dict[str, Scenario]
    endings: dict[str, dict[str, Ending]]  # by column, then by scenario
    played: dict[str, tuple[str, Given]]  # by column: its engine, and the parts
    marked: frozenset[str] = frozenset()  # what changed, see `since`

    @property
    def on_top(self) -> list[str]:
        """Return the scenarios that are not folded: what changed, or what is wrong."""
        *_, last = self.endings.values()
        wrong = [slug for slug in self.scenarios if not last[slug]["right"]]
        return list(self.marked or (wrong if len(self.scenarios) > FEW else last))

    def beside(self, other: "Gallery", name: str) -> "Gallery":
        """Return this gallery with another one's first column, named anew, as last."""
        last, first = list(self.endings)[-1], next(iter(other.endings))
        endings = {**self.endings, name: other.endings[first]}
        played = {**self.played, name: other.played[first]}
        return replace(self, endings=endings, played=played).since(last)

    def since(self, before: str) -> "Gallery":
        """Return this gallery with what ends otherwise on the last engine on top."""
        old, new = self.endings[before], list(self.endings.values())[-1]
        marked = (slug for slug in new if new[slug]["kind"] != old[slug]["kind"])
        return replace(self, marked=frozenset(marked))

    def __repr__(self) -> str:
        return f"{len(self.scenarios)} scenarios on {', '.join(self.endings)}"

    def _repr_html_(self) -> str:
        return page("gallery", self)

    def _ipython_display_(self) -> None:
        """Show the table, which needs no kernel, and below it the run that plays."""
        from IPython.display import display

        table = {"text/html": self._repr_html_(), "text/plain": repr(self)}
        below = self.opener()._repr_mimebundle_() | {"text/plain": ""}
        for shown in (table, below):
            display(shown, raw=True)  # type: ignore[no-untyped-call]

    def opener(self) -> Any:
        """Return the widget that plays a run; the page writes into it which one."""
        import ipywidgets as widgets
        from IPython.display import display

        asked = widgets.Text().add_class("gallery-asks")
        shown = widgets.Output()

        def show(change: dict[str, str]) -> None:
            from workbook.stage.trace_player import player

            slug, column = change["new"].split(" ", 2)[1:]
            engine, parts = self.played[column]
            shown.clear_output()
            with shown:
                display(player(slug, engine, parts=parts))  # type: ignore[no-untyped-call]

        asked.observe(show, "value")
        return widgets.VBox([asked, shown])


def gallery(
    engines: Sequence[str], parts: Given | None = None, only: Iterable[str] = ()
) -> Gallery:
    """Play scenarios on engines: `only` some of them, or all that `slugs()` names.

    What ends otherwise on the last engine than on the first is on top.
    """
    scenarios = {slug: load(slug) for slug in list(only) or slugs()}
    endings: dict[str, dict[str, Ending]] = {name: {} for name in engines}
    with waiting("playing the scenarios", len(engines) * len(scenarios)) as tick:
        for name, slug in itertools.product(engines, scenarios):
            end = outcome(play(slug, name, parts=dict(parts or {})))
            right, state = scenarios[slug].is_right(end), end["state"].lower()
            kind = "right" if right else "wrong" if state == "done" else state
            endings[name][slug] = {**end, "right": right, "kind": kind}
            tick()
    if isinstance(parts, Parts) and (line := parts.line()):
        print(line)
    played = {name: (name, parts or {}) for name in engines}
    return Gallery(scenarios, endings, played).since(engines[0])
