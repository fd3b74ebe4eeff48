"""Lesson 11's experiments: the twenty sums of lesson 02, asked more than once.

The small model was asked all of them with several settings, once, which took a quarter
of an hour: `recorded` has what it said. `ask` asks it now.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import TYPE_CHECKING, Any, NamedTuple

from workbook.checks.display import Grid
from workbook.experiments.figures import blank
from workbook.experiments.questions import (
    ArithmeticQuestion,
    arithmetic_questions,
    calculator_world,
)
from workbook.experiments.rates import share
from workbook.loop import paper_agent
from workbook.loop.answers import matches_any, same_number
from workbook.loop.prompting import load_exemplars
from workbook.paths import DATA
from workbook.runtime.model import Model
from workbook.stage.recordings import real_model
from workbook.views.plots import on_any_page
from workbook.voting.consensus import Agreed, Tally

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

MAIN = "0.2 · 0.95"  # temperature and top-p
LINES = {"pass@k": "one is", "majority@k": "the vote is", "pass^k": "all are"}
Vote = Callable[[Sequence[Any]], Tally]
Consensus = Callable[..., Agreed]


class Row(NamedTuple):
    """One recorded run."""

    answer: str | None
    tokens: int  # read and written


@cache
def sums() -> dict[str, ArithmeticQuestion]:
    """Return the twenty sums by slug."""
    return {each.slug: each for each in arithmetic_questions()}


@cache
def recorded(setting: str = MAIN) -> dict[str, list[Row]]:
    """Return the recorded runs of each sum with a setting, in the order of seeds."""
    kept = json.loads((DATA / "recorded/11_samples.json").read_text("utf-8"))
    runs = kept["runs"][setting]
    return {slug: [Row(*row) for row in rows] for slug, rows in runs.items()}


def said(setting: str = MAIN) -> dict[str, list[str | None]]:
    """Return the recorded answers of each sum with a setting."""
    return {s: [row.answer for row in rows] for s, rows in recorded(setting).items()}


def is_right(slug: str, answer: str | None) -> bool:
    """Return whether this is the right answer to a sum."""
    return matches_any(answer, sums()[slug].answers, same_number)


def rights(answers: Mapping[str, str | None]) -> list[bool]:
    """Return for each sum whether its answer is right."""
    return [is_right(slug, answer) for slug, answer in answers.items()]


def solve(one: ArithmeticQuestion, model: Model, more: str = "") -> paper_agent.Attempt:
    """Let a model solve a sum with ReAct and a calculator; `more` is put behind it."""
    exemplars, world = load_exemplars("arithmetic"), calculator_world(one)
    asked = one.text + more
    return paper_agent.run("react", model, asked, exemplars, world)


def ask(slug: str) -> list[str | None]:
    """Return what the small model answers to a sum, with the seeds 1 to 5."""
    settings: Any = {"max_tokens": 40, "temperature": 0.2, "top_p": 0.95}
    models = (
        real_model("11_self_consistency", seed=seed, **settings) for seed in range(1, 6)
    )
    return [solve(sums()[slug], model).answer for model in models]


def top(tally: Tally) -> str | None:
    """Return the answer with most votes; None where there is a tie, or no vote."""
    return None if tally.tied or not tally.votes else tally.votes[0][0]


def voted(vote: Vote, setting: str, k: int) -> dict[str, str | None]:
    """Return for each sum the answer that the first k runs vote for."""
    return {slug: top(vote(answers[:k])) for slug, answers in said(setting).items()}


def by_votes(vote: Vote, columns: Sequence[tuple[str, int]]) -> Grid:
    """Return what votes bring and cost, for each setting and number of runs."""
    shown = []
    for setting, k in columns:
        found, runs = voted(vote, setting, k), recorded(setting).values()
        tokens = sum(row.tokens for rows in runs for row in rows[:k])
        silent = list(found.values()).count(None)
        shown.append((setting, k, share(rights(found)), silent, tokens))
    head = "temperature · top-p", "runs", "right", "no winner", "tokens"
    return Grid(head, shown)


def agreed(consensus: Consensus) -> DataFrame:
    """Return for each sum how many of five runs say the same, and whether it is right.

    Columns: `say`, `how` it was agreed, `right`, `answer`, `right answer`, `sum`.
    """
    import pandas as pd

    rows = []
    for slug, answers in said().items():
        together, one = consensus(answers), sums()[slug]
        top, most = together.tally.votes[0]
        right = is_right(slug, top)
        rows.append((most, together.how, right, top, one.answers[0], one.text))
    columns = ["say", "how", "right", "answer", "right answer", "sum"]
    return pd.DataFrame(rows, columns=columns)


def majority_at_k(
    answers: Sequence[str | None], k: int, slug: str, vote: Vote
) -> float:
    """Return how often k of these runs vote for the right answer; a tie is no win.

    All draws of k are counted, none of them holds a run twice.
    """
    draws = [top(vote(draw)) for draw in combinations(answers, k)]
    return sum(is_right(slug, answer) for answer in draws) / len(draws)


def at_k(vote: Vote, pass_at_k: Callable[..., float]) -> DataFrame:
    """Return pass@k, majority@k and pass^k, from 0 to 1, of each sum for k = 1 to 5.

    `right` is how many of its five runs are. pass^k, how often all of k runs are right,
    is tau-bench's (arXiv:2406.12045).
    """
    import pandas as pd

    rows = []
    for slug, answers in said().items():
        c = sum(is_right(slug, answer) for answer in answers)
        for k in range(1, 6):
            voted_right = majority_at_k(answers, k, slug, vote)
            shares = pass_at_k(5, c, k), voted_right, comb(c, k) / comb(5, k)
            rows.append((sums()[slug].text, c, k, *shares))
    return pd.DataFrame(rows, columns=["sum", "right", "k", *LINES])


@on_any_page
def plot_curves(lines: DataFrame) -> Axes:
    """Draw what k runs could find, vote for, and be relied on for; k is the index."""
    _, (axes,) = blank(size=(7, 3.2))
    named = lines.rename(columns=lambda name: f"{name}: {LINES[name]}")
    named.plot(ax=axes, style=["o-", "s-", "d-"])
    axes.set_title("More runs: one is right more often, all of them less often")
    axes.set(xlabel="runs, k", ylabel="right, of 20 sums (%)", ylim=(0, 100))
    axes.set_xticks(range(1, 6))
    return axes
