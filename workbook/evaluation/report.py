"""What results show: one row an agent."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbook.evaluation.runner import Result
from workbook.evaluation.statistics import wilson_interval

if TYPE_CHECKING:
    import pandas as pd


def counted(right: Sequence[bool], of: str = "of") -> dict[str, int]:
    """Return the columns of how many are right: number, of, the interval in percent."""
    low, high = (round(100 * end) for end in wilson_interval(sum(right), len(right)))
    return {"right": sum(right), of: len(right), "low %": low, "high %": high}


def table(results: Iterable[Result]) -> pd.DataFrame:
    """Return one row an agent, in the order in which they come first.

    Columns: `right` of `of` tasks with the 95 % Wilson interval in percent; the sums of
    `tokens`, `seconds`, `steps` (model calls), `wasted` steps and `doubled` effects;
    `wrong answers` are DONE with something that is not right.
    """
    import pandas as pd

    groups: dict[str, list[Result]] = {}
    for result in results:
        groups.setdefault(result.agent, []).append(result)
    rows = {name: _row(group) for name, group in groups.items()}
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("agent")


def _row(results: list[Result]) -> dict[str, float]:
    return {
        **counted([result.right for result in results]),
        "tokens": sum(result.tokens for result in results),
        "seconds": round(sum(result.seconds for result in results), 1),
        "steps": sum(result.model_calls for result in results),
        "wasted": sum(result.wasted for result in results),
        "doubled": sum(result.doubled for result in results),
        "wrong answers": sum(r.state == "DONE" and not r.right for r in results),
    }
