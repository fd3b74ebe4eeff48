"""What results show: one row an agent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from workbook.evaluation.runner import Result
from workbook.evaluation.statistics import wilson_interval

if TYPE_CHECKING:
    import pandas as pd


def table(results: Iterable[Result]) -> pd.DataFrame:
    """Return one row an agent, in the order in which they come first.

    Columns: `right` of `of` tasks with the 95 % Wilson interval in percent; the sums of
    `tokens`, `seconds`, `steps` (model calls), `wasted` steps and `doubled` effects;
    `wrong answers` are DONE with something that is not right. No results: ValueError.
    """
    import pandas as pd

    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.agent, []).append(result)
    if not groups:
        raise ValueError("there are no results to show")
    rows = {name: _row(group) for name, group in groups.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("agent")


def _row(results: list[Result]) -> dict[str, Any]:
    right = sum(result.right for result in results)
    low, high = wilson_interval(right, len(results))
    return {
        "right": right,
        "of": len(results),
        "low %": round(100 * low),
        "high %": round(100 * high),
        "tokens": sum(result.tokens for result in results),
        "seconds": round(sum(result.seconds for result in results), 1),
        "steps": sum(result.model_calls for result in results),
        "wasted": sum(result.wasted for result in results),
        "doubled": sum(result.doubled for result in results),
        "wrong answers": sum(r.state == "DONE" and not r.right for r in results),
    }
