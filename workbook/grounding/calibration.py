"""What each threshold of a score costs: the two ways to be wrong, side by side."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.traces.plots import BLUE, GREY, RED, on_any_page

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Cost(NamedTuple):
    """What a threshold does. Shares from 0 to 1: of the right, and of the wrong."""

    threshold: float
    right_refused: float
    wrong_accepted: float


def calibrate(pairs: Iterable[tuple[float, bool]]) -> list[Cost]:
    """Return a row for each threshold at which something changes, the lowest first.

    A pair is a score and whether what has it is right; a score of the threshold or more
    is accepted. The first row accepts all, the last one (∞) nothing.

    Raises:
        ValueError: a score is no number, or one error has no rate: there is no right
            one, or no wrong one.

    >>> for row in calibrate([(0.2, False), (0.4, True), (0.6, False), (0.8, True)]):
    ...     print(*row)
    0.2 0.0 1.0
    0.4 0.0 0.5
    0.6 0.5 0.5
    0.8 0.5 0.0
    inf 1.0 0.0
    """
    known = sorted((float(score), bool(is_right)) for score, is_right in pairs)
    if bad := [score for score, _ in known if not math.isfinite(score)]:
        raise ValueError(f"a score must be a number, not {bad[0]}")
    right = [score for score, is_right in known if is_right]
    wrong = [score for score, is_right in known if not is_right]
    if not right or not wrong:
        raise ValueError(
            f"{len(right)} right and {len(wrong)} wrong: give at least one of each"
        )
    return [
        Cost(
            threshold,
            bisect_left(right, threshold) / len(right),
            (len(wrong) - bisect_left(wrong, threshold)) / len(wrong),
        )
        for threshold in (*dict.fromkeys(score for score, _ in known), math.inf)
    ]


@on_any_page
def plot_costs(costs: Iterable[Cost], chosen: float | None = None) -> Figure:
    """Draw both errors over the threshold, and a line where somebody has chosen one."""
    from matplotlib import pyplot as plt

    rows = [cost for cost in costs if math.isfinite(cost.threshold)]
    at = [row.threshold for row in rows]
    figure, ax = plt.subplots(figsize=(7, 3.6), layout="constrained")
    refused, accepted = [[100 * row[n] for row in rows] for n in (1, 2)]
    look: Any = {"where": "pre", "marker": "o"}
    ax.step(at, refused, color=BLUE, label="right ones refused", **look)
    ax.step(at, accepted, color=RED, ls="--", label="wrong ones accepted", **look)
    if chosen is not None:
        ax.axvline(chosen, color=GREY, ls=":", label=f"chosen: {chosen:g}")
    ax.set(xlabel="threshold of the score", ylabel="% of the right, of the wrong")
    ax.set_title("A higher threshold trades one error for the other")
    ax.tick_params(colors=GREY)
    ax.legend()
    plt.close(figure)  # a notebook shows what is returned, and an open one once more
    return figure
