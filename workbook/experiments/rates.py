"""Shares, each with the interval in which the true one may lie: lessons 04 to 10."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from workbook.evaluation.statistics import wilson_interval

if TYPE_CHECKING:
    import pandas as pd


def interval(right: Iterable[bool]) -> tuple[float, float, float]:
    """Return a share with its 95 % interval, as a cell of `comparison`.

    >>> tuple(round(end, 2) for end in interval([True, False, True, True]))
    (0.3, 0.75, 0.95)
    """
    right = [*right]
    low, high = wilson_interval(sum(right), len(right))
    return low, sum(right) / len(right), high


def share(right: Iterable[bool]) -> str:
    """Return how many are right, with the 95 % interval of the true share.

    >>> share([True, False, True, True])
    '3 of 4 (30% to 95%)'
    """
    right = [*right]
    low, high = wilson_interval(sum(right), len(right))
    return f"{sum(right)} of {len(right)} ({low:.0%} to {high:.0%})"


def rate_table(
    groups: Mapping[str, Sequence[bool]], number: str = "number"
) -> pd.DataFrame:
    """Return a row for each group: how many hold, of how many, and their share.

    `low` and `high` are Wilson's, with 95 % confidence; all three are from 0 to 1. A
    group with nothing in it has no rate, and no row.
    """
    import pandas as pd

    rows = {}
    for name, each in groups.items():
        if of := len(each):
            holds = sum(each)
            rows[name] = (holds, of, holds / of, *wilson_interval(holds, of))
    columns = [number, "of", "share", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).round(2)


def refusals(
    rows: Iterable[Mapping[str, Any]],
    is_refused: Callable[[Mapping[str, Any]], bool],
    by: str = "label",
) -> pd.DataFrame:
    """Return the `rate_table` of what a check refuses, for each kind of examples.

    Of what should be refused the share is the recall of the check; of what should pass
    it is the rate of false refusals.

    >>> rows = [{"label": "true", "n": n} for n in range(4)]
    >>> refusals(rows, lambda row: row["n"] > 2)
          refused  of  share   low  high
    true        1   4   0.25  0.05   0.7
    """
    said: dict[str, list[bool]] = {}
    for row in rows:
        said.setdefault(str(row[by]), []).append(bool(is_refused(row)))
    return rate_table(said, "refused")
