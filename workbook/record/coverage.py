"""Which rows of a machine's table runs have taken, and which no run has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.record.events import Kind
from workbook.record.figures import Runs, each_run, whole_events
from workbook.record.show import Tables

if TYPE_CHECKING:
    import pandas as pd

Way = tuple[str, str, str]
"""A source, an event and a target."""


@dataclass(frozen=True, repr=False)
class Coverage(Tables):
    """How often runs have taken each row of a table, in the table's order."""

    rows: dict[Way, int]
    runs: int  # with a transition at least
    lost: list[str]  # what could not be read

    @property
    def never(self) -> list[Way]:
        """The rows that no run has taken."""
        return [way for way, times in self.rows.items() if not times]

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the rows, each with how many times it was taken."""
        import pandas as pd

        rows = [(*way, times or "never") for way, times in self.rows.items()]
        taken = f"{len(rows) - len(self.never)} of {len(rows)} rows taken"
        lost = f" ({len(self.lost):,} not read to the end)" if self.lost else ""
        frame = pd.DataFrame(rows, columns=["source", "event", "target", "times"])
        return {f"{taken} by {self.runs:,} runs{lost}": frame}


def coverage(table: Any, runs: Runs) -> Coverage:
    """Count how often runs have taken each row of a table of `workbook.fsm`.

    The `runs` are those of `figures`. A run of another table takes a row of this one
    only where source, event and target are the same.
    """
    ways, lost, moving = Counter[Way](), list[str](), 0
    for run in each_run(runs):
        before = ways.total()
        for event in whole_events(run, lost):
            if event["kind"] == Kind.TRANSITION:
                ways[event["source"], event["event"], event["target"]] += 1
        moving += ways.total() > before
    rows = {tuple(rule[:3]): ways[tuple(rule[:3])] for rule in table.rules}
    return Coverage(rows, moving, lost)
