"""How often a check refuses, by kind, on examples that it was not written on."""

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from workbook.evaluation.statistics import wilson_interval

if TYPE_CHECKING:
    from pandas import DataFrame


def refusals(
    rows: Iterable[Mapping[str, Any]],
    is_refused: Callable[[Mapping[str, Any]], bool],
    by: str = "label",
) -> "DataFrame":
    """Return a row for each kind: how many were refused, of how many, and an interval.

    Of what should be refused the share is the recall of the check; of what should pass
    it is the rate of false refusals. `low` and `high` are Wilson's, with 95 %
    confidence, from 0 to 1.

    >>> rows = [{"label": "true", "n": n} for n in range(4)]
    >>> refusals(rows, lambda row: row["n"] > 2)
          refused  of  share   low  high
    true        1   4   0.25  0.05   0.7
    """
    import pandas as pd

    said: dict[str, list[bool]] = {}
    for row in rows:
        said.setdefault(str(row[by]), []).append(bool(is_refused(row)))
    table = {}
    for kind, answers in said.items():
        refused, of = sum(answers), len(answers)
        low, high = wilson_interval(refused, of)
        table[kind] = (refused, of, refused / of, low, high)
    columns = ["refused", "of", "share", "low", "high"]
    return pd.DataFrame.from_dict(table, orient="index", columns=columns).round(2)
