"""How the prompt grows from call to call, and what a prompt cache saves of that.

A server keeps what it worked out while reading a prompt. The next prompt has to be read
only from the first place where it differs. The figures here are the server's own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from workbook.models.base import TextModel
from workbook.record.events import Kind, TraceEvent
from workbook.record.trace import Trace

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


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


def plot_growth(events: Iterable[TraceEvent]) -> Axes:
    """Draw the input tokens of each call: what was sent before, and what is new."""
    from matplotlib import pyplot as plt
    from matplotlib.ticker import MaxNLocator

    rows = context_growth(events)
    calls = [call for call, _, _ in rows]
    new = [max(new, 0) for _, _, new in rows]
    again = [tokens - max(new, 0) for _, tokens, new in rows]
    total = sum(new) + sum(again)
    _, ax = plt.subplots(figsize=(7, 3.5), layout="constrained")
    ax.bar(calls, again, label="sent before", color="#1f77b4")
    ax.bar(calls, new, bottom=again, label="new", color="#d62728")
    share = sum(again) / total if total else 0.0
    ax.set_title(f"{share:.0%} of {total:,} input tokens had been sent before")
    ax.set_xlabel("call of the agent's model")
    ax.set_ylabel("input tokens")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.legend()
    return ax


def caching_prompts(trace: Trace) -> dict[str, str]:
    """Return three prompts of a classic run, in the order in which to send them.

    `cold` is the last prompt but one; `appended` is the last, which begins with all of
    it; `edited` is the last with one early word changed, as cutting or rewording old
    text would do.

    Args:
        trace: of a classic agent, with two calls or more.

    Raises:
        ValueError: there are not two such prompts.
    """
    requests = [e for e in trace.of(Kind.MODEL_REQUEST) if "parent" not in e]
    if len(requests) < 2:
        raise ValueError(f"two prompts are needed, the trace has {len(requests)}")
    before, last = (trace.prompt(event["seq"]) for event in requests[-2:])
    if not isinstance(before, str) or not isinstance(last, str):
        raise ValueError("these prompts are messages: give a classic agent's trace")
    word = last.split()[0]
    edited = last.replace(word, f"{word},", 1)
    return {"cold": before, "appended": last, "edited": edited}


def caching_experiment(model: TextModel, trace: Trace) -> pd.DataFrame:
    """Send the three prompts to a model and return what its server says of each.

    Take a model that writes one token, `LocalTextModel(max_tokens=1)`: what counts is
    the reading. An unrelated prompt goes first, so that the cold one is cold.

    Args:
        model: its completions have `usage.cached` and `timings["prompt_ms"]`.
        trace: of a classic agent.

    Returns:
        A row a prompt: `case`, `input_tokens`, `cached_tokens`, `read_tokens` (not
        cached), `prompt_ms` (NaN where the server does not say).
    """
    import pandas as pd

    prompts = caching_prompts(trace)
    model.complete("Once upon a time")
    rows = []
    for case, prompt in prompts.items():
        answer = model.complete(prompt)
        usage = answer.usage
        row = {
            "case": case,
            "input_tokens": usage.input,
            "cached_tokens": usage.cached,
            "read_tokens": usage.input - usage.cached,
            "prompt_ms": answer.timings.get("prompt_ms", float("nan")),
        }
        rows.append(row)
    return pd.DataFrame(rows)


def plot_caching(frame: pd.DataFrame) -> Figure:
    """Draw the time to read each prompt, and which share of it was cached."""
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(
        1, 2, figsize=(8, 3.2), layout="constrained", sharex=True
    )
    colors = ["#1f77b4", "#2ca02c", "#d62728"][: len(frame)]
    share = 100 * frame["cached_tokens"] / frame["input_tokens"]
    left.bar(frame["case"], frame["prompt_ms"] / 1000, color=colors)
    left.set_title("One early edit and all is read again")
    left.set_ylabel("time to read the prompt, seconds")
    right.bar(frame["case"], share, color=colors)
    right.set_title("What was appended to is still known")
    right.set_ylabel("tokens from the cache, %")
    right.set_ylim(0, 100)
    for axes in (left, right):
        axes.set_xlabel("prompt")
    return figure
