"""What results show: a table of agents, and an ablation in pairs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbook.evaluation.runner import AnyAgent, Result, evaluate, name_of
from workbook.evaluation.statistics import paired_difference, wilson_interval
from workbook.evaluation.tasks import Task

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


def ablation_table(
    tasks: Iterable[Task],
    agents: Sequence[AnyAgent],
    *,
    out: Path | str,
    **options: Any,
) -> pd.DataFrame:
    """Evaluate agents on the same tasks; `table`, and each beside the first one.

    Each agent has a folder of its own in `out`; `options` are those of `evaluate`.
    `won` are tasks that only this agent has right, `lost` those that only the first one
    has; `p` is McNemar's, of `paired_difference`. ValueError: no agents, or two of one
    name.
    """
    tasks, names = list(tasks), [name_of(agent) for agent in agents]
    if len({*names}) < len(names):
        said = ", ".join(names)
        raise ValueError(f"each agent needs a name of its own, these are {said}")
    found = [
        evaluate(tasks, agent, out=Path(out) / re.sub(r"[^\w-]+", "_", name), **options)
        for agent, name in zip(agents, names, strict=True)
    ]
    frame = table(chain.from_iterable(found))
    right = [[result.right for result in results] for results in found]
    pairs = [paired_difference(zip(right[0], each, strict=True)) for each in right]
    for name in ("won", "lost", "p"):
        frame[name] = [getattr(pair, name) for pair in pairs]
    return frame


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
