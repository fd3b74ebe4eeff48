"""Charts of rows, for light and for dark pages: bars or lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

GREY, BLUE, RED = "#6b6b6b", "#1f77b4", "#d62728"
COLOURS = BLUE, "#9467bd", "#8c564b", "#17becf"  # none is a voice's besides the first
INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
LOOK: Any = {
    **dict.fromkeys(INK, GREY),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    **{"axes.titlesize": "medium", "legend.frameon": False},
}


def chart(
    rows: Sequence[Mapping[str, Any]],
    x: str,
    *ys: str,
    title: str,
    limit: float | None = None,
    label: str = "limit",
    lines: bool = False,
) -> Figure:
    """Draw columns of rows over the column `x`; a `limit` is a red line with a label.

    A column of one bar a row has its numbers on it; None is a gap.
    """
    from matplotlib import pyplot, rcParams

    # rc_context would undo what a notebook's backend sets at its first plot.
    before = {key: rcParams[key] for key in LOOK}
    rcParams.update(LOOK)
    try:
        figure, axes = pyplot.subplots(figsize=(7, 2.8), layout="constrained")
        for n, (name, colour) in enumerate(zip(ys, COLOURS, strict=False)):
            values = [nan if row.get(name) is None else row[name] for row in rows]
            look: Any = {"color": colour, "label": name}
            if lines:
                axes.plot([row[x] for row in rows], values, marker=".", **look)
                continue
            at = [place + n * 0.8 / len(ys) for place in range(len(rows))]
            bars = axes.bar(at, values, 0.8 / len(ys), **look)
            if len(ys) == 1:
                axes.bar_label(bars, fmt="{:,.4g}", padding=2)
        if not lines:
            middle = 0.4 - 0.4 / len(ys)
            places = [place + middle for place in range(len(rows))]
            axes.set_xticks(places, [str(row[x]) for row in rows])
        elif all(isinstance(row[x], int) for row in rows):
            axes.locator_params(axis="x", integer=True)
        if limit is not None:
            axes.axhline(limit, color=RED, label=f"{label}: {limit:,}")
        if len(ys) > 1 or limit is not None:
            figure.legend(loc="outside right upper")
        axes.set(title=title, xlabel=x, ylabel=ys[0] if len(ys) == 1 else "")
        axes.margins(y=0.15)
        pyplot.close(figure)
    finally:
        rcParams.update(before)
    return figure
