"""The look of all plots, on light and on dark pages, and the prompts of one run."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from workbook.runtime.script import count_tokens
from workbook.runtime.trace import Trace
from workbook.views.show import VOICES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

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
