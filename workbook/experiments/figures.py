"""Lesson 02's pictures and tables: what few questions say, and what the paper says.

Every picture's title says what to see in it. The paper's figures are in
`data/lessons/02/paper.toml`.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING, Any

from workbook.evaluation.statistics import Paired, wilson_interval
from workbook.paths import DATA
from workbook.views.plots import on_any_page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, GREEN, RED, GREY = "#1f77b4", "#2ca02c", "#d62728", "#7f7f7f"
TRIALS = DATA / "recorded" / "02_prompt_trials.json"
PAPER = DATA / "lessons" / "02" / "paper.toml"


def blank(
    number: int = 1, *, size: tuple[float, float], sharey: bool = False
) -> tuple[Figure, list[Axes]]:
    """Return a figure of a size in inches, and so many axes in a row."""
    from matplotlib import pyplot as plt

    figure, row = plt.subplots(1, number, figsize=size, sharey=sharey, squeeze=False)
    figure.set_layout_engine("constrained")
    return figure, list(row[0])


@on_any_page
def plot_rates(table: pd.DataFrame) -> Axes:
    """Draw the table of `summarize`: the share of right answers and its interval."""
    low, high = table["low %"], table["high %"]
    share = 100 * table["right"] / table["asked"]
    _, (axes,) = blank(size=(7, 3))
    reach = [(share - low).clip(lower=0), (high - share).clip(lower=0)]
    axes.bar(table.index, share, color=BLUE, ecolor=RED, capsize=6, yerr=reach)
    for place, (right, top) in enumerate(zip(table["right"], high, strict=True)):
        axes.text(place, top + 3, f"{right} right", ha="center")
    axes.set(ylim=(0, 110), xlabel="method", ylabel="right (%)")
    axes.set_title("Bars: what was counted. Red: the 95 % interval of the true rate")
    return axes


@on_any_page
def plot_plausible(right: int, asked: int) -> Sequence[Axes]:
    """Draw which counts three true rates would give; the middle one fits best.

    The outer two are the ends of Wilson's interval.
    """
    low, high = wilson_interval(right, asked)
    figure, each = blank(3, size=(9, 2.8), sharey=True)
    for axes, rate in zip(each, (low, right / asked, high), strict=True):
        counts = range(asked + 1)
        chances = [
            100 * comb(asked, k) * rate**k * (1 - rate) ** (asked - k) for k in counts
        ]
        colours = [RED if k == right else GREY for k in counts]
        axes.bar(counts, chances, color=colours)
        axes.set(title=f"if the true rate were {rate:.0%}", xlabel=f"right of {asked}")
    each[0].set_ylabel("how often (%)")
    figure.suptitle(
        f"True rates from {low:.0%} to {high:.0%} fit the count, {right} of"
        f" {asked} (red)"
    )
    return each


@on_any_page
def plot_pairs(found: Paired, before: str, after: str) -> Sequence[Axes]:
    """Draw what became of each question, and coins thrown for those that differ."""
    _, (left, right) = blank(2, size=(9, 2.8))
    names = ["both right", f"only {before}", f"only {after}", "both wrong"]
    counts = [found.both, found.lost, found.won, found.neither]
    _bars(left, counts, [GREY, BLUE, GREEN, GREY], names)
    left.set(title="Only the coloured ones tell them apart", xlabel="questions")
    n = found.won + found.lost
    uneven = abs(found.won - found.lost)
    chances = [100 * comb(n, k) / 2**n for k in range(n + 1)]
    colours = [RED if abs(n - 2 * k) >= uneven else GREY for k in range(n + 1)]
    right.bar(range(n + 1), chances, color=colours)
    right.set(title=f"{n} coins fall so unevenly (red): p = {found.p:.1%}")
    right.set(xlabel=f"heads of {n} coins", ylabel="how often (%)")
    return [left, right]


def prompt_trials() -> pd.DataFrame:
    """Return what Act and ReAct got right with seven prompts, as it was recorded."""
    import pandas as pd

    recorded = json.loads(TRIALS.read_text(encoding="utf-8"))
    print(f"recorded on {recorded['date']} with {recorded['model']}")
    return pd.DataFrame(recorded["trials"])[["prompt", "act", "react", "asked"]]


def paper(part: str) -> pd.DataFrame:
    """Return what the paper measured, in %: "questions", "worlds" or "failures".

    A column has the methods, or the reasons, and NaN for one that it does not have.
    """
    import pandas as pd

    return pd.DataFrame(tomllib.loads(PAPER.read_text(encoding="utf-8"))[part])


TITLES = {
    "questions": "ReAct alone is behind CoT on HotpotQA; the best rows combine both",
    "worlds": "In both worlds ReAct (blue) is ahead of Act and of imitation",
}


@on_any_page
def plot_paper(part: str) -> Sequence[Axes]:
    """Draw the paper's results on "questions" or in "worlds", ReAct's in blue."""
    figure, each = blank(2, size=(10, 2.8))
    for axes, (name, column) in zip(each, paper(part).items(), strict=True):
        rates = column.dropna()
        colours = [BLUE if "ReAct" in method else GREY for method in rates.index]
        _bars(axes, rates, colours, rates.index)
        axes.set(title=name, xlabel="right, or done (%)")
    figure.suptitle(TITLES[part])
    return each


def _bars(axes: Axes, lengths: Any, colours: Any, names: Any) -> None:
    """Draw a labelled bar for each name, the first one at the top."""
    axes.bar_label(axes.barh(list(names), list(lengths), color=colours), padding=3)
    axes.margins(x=0.2)
    axes.invert_yaxis()
