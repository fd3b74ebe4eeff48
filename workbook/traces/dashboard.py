"""Pictures: the prompts of one run; of many runs how they ended and what they took."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from workbook.models.prompts import count_tokens
from workbook.traces.metrics import Figures, Runs, figures
from workbook.traces.show import VOICES, cell
from workbook.traces.trace import Trace
from workbook.wait import waiting

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

MOST = 8  # rows of a panel; the tables of the figures have the others
GREY = "#6b6b6b"  # a contrast above 5:1 on white and, turned around, on a dark page
BLUE, RED = VOICES["model"][1], VOICES["danger"][1]
INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
LOOK: Any = {
    **dict.fromkeys(INK, GREY),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    **{"axes.titlesize": "medium", "legend.frameon": False},
}

P = ParamSpec("P")
T = TypeVar("T")


def on_any_page(draw: Callable[P, T]) -> Callable[P, T]:
    """Let a function draw in grey ink on no ground: for light and for dark pages."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> T:
        from matplotlib import rcParams

        # rc_context would undo what a notebook's backend sets at its first plot.
        before = {key: rcParams[key] for key in LOOK}
        rcParams.update(LOOK)
        try:
            return draw(*args, **kwargs)
        finally:
            rcParams.update(before)

    return drawn


@on_any_page
def plot_prompts(
    trace: Trace,
    *,
    window: int = 0,
    formula: Callable[[int, int, int], int] | None = None,
) -> Figure:
    """Draw how many tokens each prompt of a scripted run has (four characters each).

    Args:
        window: the tokens that the model can see: a line, if there is one.
        formula: of the first prompt, the last growth and the number of prompts; its
            result stands beside the sum.
    """
    from matplotlib import pyplot as plt

    asked = trace.of("model_request")[: len(trace.of("model_turn"))]  # and answered
    sizes = [count_tokens(str(trace.prompt(event["seq"]))) for event in asked]
    title = f"{len(sizes)} prompts with {sum(sizes):,} tokens in all"
    if formula:
        said = formula(sizes[0], sizes[-1] - sizes[-2], len(sizes))
        title += f"; by the formula {said:,}"
    figure, ax = plt.subplots(figsize=(7, 2.8), layout="constrained")
    ax.bar(range(1, len(sizes) + 1), sizes, color=BLUE)
    for number, size in enumerate(sizes, 1):  # no number lies on the line
        on_line = window - max(sizes) / 8 < size < window
        place = number, window if on_line else size
        ax.annotate(f"{size:,}", place, (0, 2), textcoords="offset points", ha="center")
    if window:
        ax.axhline(window, color=RED)
        ax.text(0.6, window, f"context window: {window:,}", va="bottom")
        over = next((n for n, size in enumerate(sizes, 1) if size > window), 0)
        title = f"From call {over} on, the prompt is longer than the context window"
    ax.set(title=title, xlabel="call of the model", ylabel="tokens of the prompt")
    ax.margins(y=0.15)
    plt.close(figure)
    return figure


@on_any_page
def dashboard(runs: Runs | Figures) -> Figure:
    """Draw figures, or those of runs as `figures` takes them, in three panels."""
    with waiting("drawing the runs"):  # the first picture loads matplotlib and pandas
        return _panels(runs)


def _panels(runs: Runs | Figures) -> Figure:
    from matplotlib import pyplot as plt

    found = runs if isinstance(runs, Figures) else figures(runs)
    told = "{runs:,} runs, {events:,} events".format(**found.totals())
    if found.lost:
        told += f"; {len(found.lost):,} broken"
    tables = found.frames()
    figure, axes = plt.subplots(3, figsize=(8, 6.6), layout="constrained")
    figure.suptitle(told)
    for (title, draw), ax in zip(PANELS.items(), axes, strict=True):
        if title in tables:
            ax.set_title(draw(ax, tables[title]))
            ax.tick_params(colors=GREY)
        else:
            ax.set_title(f"{title}: no figure")
            ax.set_axis_off()
    plt.close(figure)  # a notebook shows what is returned, and an open one once more
    return figure


def _ends(ax: Any, ends: pd.DataFrame) -> str:
    names = ends["state"] + ": " + ends["reason"]
    bars = ax.barh(names[:MOST].map(_plain), ends["runs"][:MOST], color=BLUE)
    ax.bar_label(bars, padding=3)
    _from_the_top(ax, "runs")
    done = ends["runs"][ends["state"] == "DONE"].sum()
    return f"{done:,} of {ends['runs'].sum():,} runs ended in DONE"


def _states(ax: Any, states: pd.DataFrame) -> str:
    rows = states.sort_values("total", ascending=False)[:MOST]
    names, medians, p95s = (rows[name] for name in ("state", "median", "p95"))
    names, least = names.map(_plain), 1e-6  # a logarithm knows no 0
    ax.hlines(names, medians.clip(least), p95s.clip(least), color=GREY)
    ax.plot(medians.clip(least), names, "o", color=BLUE, label="median")
    ax.plot(p95s.clip(least), names, "D", color=RED, label="95th percentile")
    ax.set_xscale("log")
    ax.legend()
    _from_the_top(ax, "seconds of a stay")
    share = rows["total"].iloc[0] / (states["total"].sum() or 1)
    return f"{names.iloc[0]} took {share:.0%} of the time"


def _tools(ax: Any, tools: pd.DataFrame) -> str:
    rows = tools[:MOST]
    names, calls, ok = rows["tool"].map(_plain), rows["calls"], rows["ok"]
    look = {"color": "none", "edgecolor": RED, "hatch": "///"}
    bars = ax.barh(names, calls, label="failed", **look)  # what is ok covers the rest
    ax.barh(names, ok, color=BLUE, edgecolor=BLUE, linewidth=2, label="ok")
    told = [f"{n:,} of {of:,} ok" for n, of in zip(ok, calls, strict=True)]
    ax.bar_label(bars, told, padding=3)
    ax.legend()
    _from_the_top(ax, "calls")
    all_ok, all_calls = tools["ok"].sum(), tools["calls"].sum()
    return f"{all_ok:,} of {all_calls:,} tool calls were ok"


def _plain(name: str) -> str:
    return cell(name).replace("$", r"\$")  # or else two of them are a formula


def _from_the_top(ax: Any, unit: str) -> None:
    ax.invert_yaxis()
    ax.set_xlabel(unit)
    ax.use_sticky_edges = False  # for what stands beside the bars
    ax.margins(x=0.4)
    ax.set_xlim(0 if ax.patches else None)


PANELS = {
    "How runs ended": _ends,
    "Seconds in a state": _states,
    "Tools, and seconds of a call": _tools,
}
"""What draws a table of the figures, and returns what is to be seen."""
