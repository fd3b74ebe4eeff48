"""How the prompt grows from call to call, and what a prompt cache saves of that.

A server keeps what it read of a prompt; the next one is read from the first place where
it differs. The figures here are the server's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from workbook.langchain_trace.classic import agent_prompts
from workbook.runtime.model import Model
from workbook.runtime.trace import Event as TraceEvent
from workbook.runtime.trace import Trace
from workbook.views.plots import on_any_page

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def context_growth(events: Iterable[TraceEvent]) -> list[tuple[int, int, int]]:
    """Return (number of the call, input tokens, new tokens) for each of its calls.

    Only the agent's own calls count, from 1: a `model_turn` with a `parent` was asked
    by a tool. New is what a call sends beyond the call before it: all of the first,
    below zero where old text was cut.

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


RECORDED = (230, 291, 337, 389, 440)
"""Prompt tokens of a run with gpt-4o-mini, in the notebook
`ai-reasoning-study/AI_Reasoning_Study.ipynb` of github.com/shibayu36/playground."""


def sent_before(rows: Sequence[tuple[int, int, int]]) -> float:
    """Return the share of all input tokens that an earlier call had sent already."""
    total = sum(tokens for _, tokens, _ in rows)
    return 1 - sum(max(new, 0) for _, _, new in rows) / total


@on_any_page
def plot_growth(
    rows: Sequence[tuple[int, int, int]], recorded: Sequence[int] = ()
) -> Axes:
    """Draw the rows of `context_growth`, and the prompt tokens of another run."""
    import pandas as pd

    new = [max(new, 0) for _, _, new in rows]
    before = [tokens - fresh for (_, tokens, _), fresh in zip(rows, new, strict=True)]
    calls = [f"{number}\n{tokens:,} tokens" for number, tokens, _ in rows]
    frame = pd.DataFrame({"sent before": before, "new": new}, calls)
    sent = sum(before) + sum(new)
    ax = frame.plot.bar(stacked=True, rot=0, color=["#1f77b4", "#ff7f0e"])
    if recorded:
        label = "gpt-4o-mini, recorded"
        ax.plot(range(len(recorded)), recorded, "o-", color="#2ca02c", label=label)
    ax.set_title(
        f"{sent_before(rows):.0%} of {sent:,} input tokens had been sent before"
    )
    ax.set(xlabel="call of the agent's model", ylabel="input tokens")
    ax.legend(loc="upper left")
    return ax


def caching_prompts(trace: Trace) -> dict[str, str]:
    """Return three prompts of a classic run, in the order in which to send them.

    `cold` is the last prompt but one; `appended` is the last, which begins with all of
    it; `edited` is the last with a comma after its first word.
    """
    *_, before, last = agent_prompts(trace)
    edited = re.sub(r"(\S+)", r"\1,", last, count=1)
    return {"cold": before, "appended": last, "edited": edited}


def caching_experiment(model: Model, trace: Trace) -> pd.DataFrame:
    """Send a classic run's three prompts; return what the server says, a row each.

    Take a model that writes one token, `LocalTextModel(max_tokens=1)`. An unrelated
    prompt goes first, so that the cold one is cold. Read are the tokens that were not
    cached; `prompt_ms` is milliseconds, NaN where the server does not say.
    """
    import pandas as pd

    model.complete("Once upon a time")
    rows = []
    for case, prompt in caching_prompts(trace).items():
        answer = model.complete(prompt)
        sent, cached = answer.usage.input, answer.usage.cached
        ms = answer.timings.get("prompt_ms", float("nan"))
        rows.append((case, sent, cached, sent - cached, ms))
    columns = ("case", "input_tokens", "cached_tokens", "read_tokens", "prompt_ms")
    return pd.DataFrame(rows, columns=columns)
