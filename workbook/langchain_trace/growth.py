"""How the prompt grows: everything that was said is sent again with every call.

The figures come from a trace's `model_turn` events, so they are those of whoever
counted: the scripted model's rule of thumb, or a real server's tokenizer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbook.record.trace import TraceEvent

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def context_growth(events: Iterable[TraceEvent]) -> list[tuple[int, int, int]]:
    """Return (number of the call, input tokens, new tokens) for each of its calls.

    Only the agent's own calls count, from 1: a `model_turn` with a `parent` was asked
    by a tool. New is what a call sends beyond the call before it; the first call sends
    everything new. Where old text was cut from the history, it is below zero.

    Args:
        events: of a trace, in order; a `Trace` will do.

    >>> turn = {"kind": "model_turn", "usage": {"input": 230}}
    >>> context_growth([turn, {**turn, "parent": 3}, {**turn, "usage": {"input": 291}}])
    [(1, 230, 230), (2, 291, 61)]
    """
    rows: list[tuple[int, int, int]] = []
    before = 0
    for event in events:
        if event["kind"] == "model_turn" and "parent" not in event:
            tokens = event["usage"]["input"]
            rows.append((len(rows) + 1, tokens, tokens - before))
            before = tokens
    return rows


def growth_frame(events: Iterable[TraceEvent]) -> pd.DataFrame:
    """Return `context_growth` as a table, with the sum of what was sent so far."""
    import pandas as pd

    columns = ["call", "input_tokens", "new_tokens"]
    frame = pd.DataFrame(context_growth(events), columns=columns)
    return frame.assign(sent_so_far=frame["input_tokens"].cumsum())


def plot_growth(events: Iterable[TraceEvent], ax: Axes | None = None) -> Axes:
    """Draw the input tokens of each call: what was sent before, and what is new.

    Args:
        events: of a trace.
        ax: where to draw; by default a new figure.
    """
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    frame = growth_frame(events)
    if ax is None:
        _, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
    new = frame["new_tokens"].clip(lower=0)
    again = frame["input_tokens"] - new
    ax.bar(frame["call"], again, label="sent before", color="#1f77b4")
    ax.bar(frame["call"], new, bottom=again, label="new", color="#d62728")
    total = int(frame["input_tokens"].sum())
    share = int(again.sum()) / total if total else 0.0
    ax.set_title(f"{share:.0%} of {total:,} input tokens had been sent before")
    ax.set_xlabel("call of the agent's model")
    ax.set_ylabel("input tokens")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend()
    return ax
