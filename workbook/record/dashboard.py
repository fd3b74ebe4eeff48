"""One look at many runs: how they ended, where time went, what failed, what grew."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from workbook.record.figures import Figures, figures
from workbook.record.show import VOICES, cell
from workbook.record.trace import Runs

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST = 8  # rows of a panel; the tables of `Figures` have the others
GREY = "#777777"  # a contrast above 4:1 on white and on JupyterLab's dark page
BLUE, RED = VOICES["model"][1], VOICES["danger"][1]
FAILED = {"color": "none", "edgecolor": RED, "hatch": "///", "label": "failed"}
INK = ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color", "ytick.color")
LOOK: Any = {
    **dict.fromkeys(INK, GREY),
    **dict.fromkeys(("figure.facecolor", "axes.facecolor"), "none"),
    "axes.titlesize": "medium",
    "text.parse_math": False,
}


def dashboard(runs: Runs | Figures) -> Figure:
    """Draw four panels of figures, or of runs as `figures` takes them."""
    from matplotlib import pyplot as plt

    found = runs if isinstance(runs, Figures) else figures(runs)
    told = f"{found.runs:,} runs, {found.events:,} events"
    if left_out := len(found.lost) + found.undated:
        told += f"; {left_out:,} were not read to the end, or have no day"
    with plt.rc_context(LOOK):
        figure, axes = plt.subplots(2, 2, figsize=(10, 6.5), layout="constrained")
        figure.suptitle(told if found.runs else f"There is nothing to see: {told}")
        for draw, ax in zip((_ends, _states, _tools, _context), axes.flat, strict=True):
            ax.set_title(draw(ax, found))
            ax.tick_params(colors=GREY)
            ax.set_axis_on() if ax.has_data() else ax.set_axis_off()
    plt.close(figure)  # a notebook shows what is returned, and an open one once more
    return figure


def _ends(ax: Any, found: Figures) -> str:
    if not found.ends:
        return "No run has ended"
    ends = {f"{state}: {why}": n for (state, why), n in found.ends.most_common(MOST)}
    ax.barh(range(len(ends)), ends.values(), color=BLUE)
    _rows(ax, ends, "runs", *((f"{n:,}", n) for n in ends.values()))
    done = sum(n for (state, _), n in found.ends.items() if state == "DONE")
    return f"{done:,} of {found.runs:,} runs ended in DONE"


def _states(ax: Any, found: Figures) -> str:
    if not found.states:
        return "No run has told of its states"
    rows = {name: spread.row() for name, spread in found.states.items()}
    names = sorted(rows, key=lambda name: -rows[name][3])[:MOST]
    medians, p95s = ([max(rows[name][n], 1e-6) for name in names] for n in (1, 2))
    ax.hlines(range(len(names)), medians, p95s, color=GREY)
    ax.plot(medians, range(len(names)), "o", color=BLUE, label="median")
    ax.plot(p95s, range(len(names)), "D", color=RED, label="95th percentile")
    ax.set_xscale("log")
    ax.legend(frameon=False)
    _rows(ax, names, "seconds of a stay")
    total = sum(row[3] for row in rows.values())
    share = rows[names[0]][3] / total if total else 0
    return f"{cell(names[0])} took {share:.0%} of the time"


def _tools(ax: Any, found: Figures) -> str:
    all_calls = found.rate
    if all_calls.share is None:
        return "No tool call was observed"
    rates = sorted(found.rates.items(), key=lambda tool: -tool[1].calls)[:MOST]
    ok = [rate.ok for _, rate in rates]
    ax.barh(range(len(rates)), ok, color=BLUE, label="ok")
    # No bar where none failed: one without a width still has an edge.
    failed = [rate.calls - rate.ok or math.nan for _, rate in rates]
    ax.barh(range(len(rates)), failed, left=ok, **FAILED)
    ax.legend(frameon=False)
    told = ((f"{rate.ok:,} of {rate.calls:,} ok", rate.calls) for _, rate in rates)
    _rows(ax, [name for name, _ in rates], "calls", *told)
    return f"{all_calls.share:.0%} of {all_calls.calls:,} tool calls were ok"


def _context(ax: Any, found: Figures) -> str:
    if not found.context:
        return "No turn tells its tokens"
    calls = sorted(found.context)
    medians = [found.context[call].quantile(50) for call in calls]
    ax.plot(calls, medians, "o-", color=BLUE)
    ax.set(xlabel="call of the agent's model", ylim=(0, None))
    ax.set(ylabel="input tokens, median of the runs")
    return f"From {medians[0]:,.0f} to {medians[-1]:,.0f} tokens of input"


def _rows(ax: Any, names: Any, unit: str, *told: tuple[str, int]) -> None:
    """Name the rows, from the top, and tell something where each bar ends."""
    ax.set_yticks(range(len(names)), [cell(name) for name in names])
    ax.invert_yaxis()
    ax.set_xlabel(unit)
    for at, (said, end) in enumerate(told):
        ax.annotate(said, (end, at), (3, 0), textcoords="offset points", va="center")
    if told:
        ax.set_xlim(0, 1.4 * max(end for _, end in told))
