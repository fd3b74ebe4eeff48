"""Which rows of a machine's table runs have taken, and which no run has."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from workbook.traces.events import Kind
from workbook.traces.metrics import Runs, each_run, whole_events
from workbook.traces.show import Tables

if TYPE_CHECKING:
    import pandas as pd

Way = tuple[str, str, str]
"""A source, an event and a target."""


@dataclass(frozen=True, repr=False)
class Coverage(Tables):
    """How often runs have taken each row of a table."""

    rows: dict[Way, int]  # in the table's order
    others: dict[Way, int]  # ways that runs took and this table does not have
    runs: int  # with a transition at least
    lost: list[str]  # what could not be read

    @property
    def never(self) -> list[Way]:
        """The rows that no run has taken."""
        return [way for way, times in self.rows.items() if not times]

    def frames(self) -> dict[str, pd.DataFrame]:
        """Return the rows, and the ways that are none of them."""
        import pandas as pd

        def table(ways: dict[Way, int]) -> pd.DataFrame:
            rows = [(*way, times or "never") for way, times in ways.items()]
            return pd.DataFrame(rows, columns=["source", "event", "target", "times"])

        taken = f"{len(self.rows) - len(self.never)} of {len(self.rows)} rows taken"
        lost = f" ({len(self.lost):,} not read to the end)" if self.lost else ""
        found = {f"{taken} by {self.runs:,} runs{lost}": table(self.rows)}
        if self.others:
            found["Taken, but not in this table"] = table(self.others)
        return found


def coverage(table: Any, runs: Runs) -> Coverage:
    """Count how often runs have taken each row of a table of `workbook.fsm`.

    The `runs` are those of `figures`. One of another table takes a row of this one only
    where source, event and target are the same.
    """
    ways, lost, moving = Counter[Way](), list[str](), 0
    for run in each_run(runs):
        before = ways.total()
        for event in whole_events(run, lost):
            if event["kind"] == Kind.TRANSITION:
                ways[event["source"], event["event"], event["target"]] += 1
        moving += ways.total() > before
    rows = {tuple(rule[:3]): ways.pop(tuple(rule[:3]), 0) for rule in table.rules}
    return Coverage(rows, dict(ways), moving, lost)
