"""A checklist for an agent, gone through by running it: `data/checklist.toml`.

Each line names the scenarios of the gallery that show why it is there.
"""

from __future__ import annotations

import math
import re
import tomllib
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

from workbook.exercises.display import Grid
from workbook.paths import DATA
from workbook.playground.engines import Engine, find_engine, in_words, play
from workbook.playground.scenarios import load, outcome
from workbook.wait import waiting

MARKS = {True: "✓", False: "✕"}


class Row(NamedTuple):
    """A scenario of a line: how it ended, and whether that is what the line wants."""

    met: bool
    look: str  # what to look for
    scenario: str
    ended: str


class Review(NamedTuple):
    """The checklist, gone through: a row a scenario.

    A notebook shows what is missed as a table, and what is met folded under it.
    """

    rows: tuple[Row, ...]

    @property
    def missed(self) -> list[str]:
        """What was looked for, and is not so in each of its scenarios."""
        return list(dict.fromkeys(row.look for row in self.rows if not row.met))

    def __repr__(self) -> str:
        lines = len({row.look for row in self.rows})
        said = [f"{lines - len(self.missed)} of {lines} lines are met"]
        for look, rows in groupby(self.rows, attrgetter("look")):
            said += [look, *(f"  {MARKS[r.met]} {r.scenario}: {r.ended}" for r in rows)]
        return "\n".join(said)

    def _repr_html_(self) -> str:
        met = [row for row in self.rows if row.look not in self.missed]
        missed = [row for row in self.rows if row.look in self.missed]
        said = f"<p>{repr(self).splitlines()[0]}</p>{_table(missed)}"
        folded = f"<details><summary>what is met</summary>{_table(met)}</details>"
        return f"<div>{said}{folded}</div>"


def _table(rows: list[Row]) -> str:
    """Return a table in HTML, in which each line stands once."""
    cells = [
        (MARKS[row.met], "" if n else look, row.scenario, row.ended)
        for look, group in groupby(rows, attrgetter("look"))
        for n, row in enumerate(group)
    ]
    grid = Grid(["", "look for", "scenario", "ended"], cells)
    return grid._repr_html_() if rows else ""


def review(agent: Engine | str) -> Review:
    """Play the scenarios of the checklist on an engine, or on one by its name.

    ValueError for an engine that asks for function calls: the scenarios are in text.
    """
    engine, rows = find_engine(agent), []
    if engine.asks_for_calls:
        raise ValueError(f"{agent} asks for function calls; the scenarios are in text")
    lines = tomllib.loads((DATA / "checklist.toml").read_text("utf-8"))["line"]
    cases = [(line, slug) for line in lines for slug in line["scenarios"]]
    with waiting("going through the checklist", len(cases)) as tick:
        for line, slug in cases:
            trace = play(slug, engine)
            end, met = outcome(trace), load(slug).is_right(outcome(trace))
            if "end" in line:
                met = bool(re.fullmatch(line["end"], f"{end['state']} {end['reason']}"))
            met = met and end["model_turns"] <= line.get("turns", math.inf)
            rows.append(Row(met, line["look"], slug, in_words(trace)))
            tick()
    return Review(tuple(rows))
