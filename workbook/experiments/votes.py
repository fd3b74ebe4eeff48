"""Lesson 11's experiments: the twenty sums of lesson 02, asked more than once.

The small model was asked all of them with several settings, once, which took a quarter
of an hour: `recorded` has what it said. `ask` asks it now.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import comb
from typing import Any, NamedTuple

from matplotlib.axes import Axes

from workbook.evaluation.statistics import wilson_interval
from workbook.exercises.display import Grid
from workbook.experiments.figures import blank
from workbook.experiments.questions import (
    ArithmeticQuestion,
    arithmetic_questions,
    calculator_world,
)
from workbook.fsm.assemble import assemble
from workbook.fsm.limits import Limits, Spent
from workbook.fsm.machine import RunResult
from workbook.loop import paper_agent
from workbook.loop.answers import matches_any, same_number
from workbook.loop.prompting import load_exemplars
from workbook.models.base import TextModel, ignore
from workbook.models.script import Script
from workbook.paths import DATA
from workbook.playground.recorded import real_model
from workbook.tools.calculator import calculator
from workbook.traces.dashboard import on_any_page
from workbook.voting.consensus import Agreed, Tally, answer_of
from workbook.voting.samples import Sample, ask_k
from workbook.wait import waiting

MAIN, GREEDY = "0.2 · 0.95", "greedy"  # temperature and top-p; the likeliest tokens
BY_CHANCE = {"temperature": 0.2, "top_p": 0.95}
Vote = Callable[[Sequence[Any]], Tally]
Consensus = Callable[..., Agreed]


class Row(NamedTuple):
    """One recorded run."""

    answer: str | None
    tokens: int  # read and written
    seconds: float


class Plain:
    """A model without a machine, asked in one of the paper's ways, as `ask_k` asks.

    `asked` is what else `paper_agent.run` takes: exemplars, a world, options.
    """

    def __init__(self, method: str, model: Any, about: Any, **asked: Any) -> None:
        self.method, self.model, self.asked = method, model, asked
        self.about, self.hook = dict(about), ignore

    def run(self, question: str) -> RunResult:
        """Ask once; raises what the model or the world raises."""
        end: dict[str, Any] = {}

        def tell(kind: str, /, **told: Any) -> None:
            self.hook(kind, **(self.about if kind == "run_started" else {}) | told)
            end.update(told)

        asked = {"question": question, "emit": tell, **self.asked}
        done = paper_agent.run(self.method, self.model, **asked)
        spent = Spent(done.calls, len(done.steps), usage=done.usage)
        known = end["state"], end["reason"], end["answer"]
        return RunResult(*known, spent, getattr(self.hook, "trace_id", ""))


@cache
def sums() -> dict[str, ArithmeticQuestion]:
    """Return the twenty sums by slug."""
    return {each.slug: each for each in arithmetic_questions()}


@cache
def recording() -> dict[str, Any]:
    """Return the whole recording, with its date, model and settings."""
    path = DATA / "recorded/11_samples.json"
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return kept


def recorded(setting: str = MAIN) -> dict[str, list[Row]]:
    """Return the recorded runs of each sum with a setting, in the order of seeds."""
    runs = recording()["runs"][setting]
    return {slug: [Row(*row) for row in rows] for slug, rows in runs.items()}


def said(setting: str = MAIN) -> dict[str, list[str | None]]:
    """Return the recorded answers of each sum with a setting."""
    return {s: [row.answer for row in rows] for s, rows in recorded(setting).items()}


def is_right(slug: str, answer: str | None) -> bool:
    """Return whether this is the right answer to a sum."""
    return matches_any(answer, sums()[slug].answers, same_number)


def asking(
    one: ArithmeticQuestion, model: TextModel, about: Mapping[str, Any]
) -> Plain:
    """Return a model that is to solve a sum with ReAct and a calculator."""
    asked = {"exemplars": load_exemplars("arithmetic"), "world": calculator_world(one)}
    return Plain("react", model, about, **asked)


def ask(slug: str, k: int = 5) -> list[Sample | Exception]:
    """Ask the small model a sum k times, with the seeds 1 to k."""
    one = sums()[slug]

    def sampled(seed: int) -> Plain:
        settings: Any = {"max_tokens": 40, "seed": seed, **BY_CHANCE}
        return asking(one, real_model("11_self_consistency", **settings), BY_CHANCE)

    return ask_k(sampled, one.text, k)


def beside_recorded(slug: str, runs: Sequence[Sample | Exception]) -> Grid:
    """Return the answers of these runs beside those of the recording, by seed."""
    pairs = zip(map(answer_of, runs), said()[slug], strict=True)
    rows = [(str(seed), *map(str, pair)) for seed, pair in enumerate(pairs, 1)]
    day, right = recording()["date"], sums()[slug].answers[0]
    return Grid(["seed", "now", f"on {day}"], rows, f"the right answer: {right}")


def scripted(
    turns: Mapping[int, Sequence[Any]], parts: Mapping[str, Callable[..., Any]]
) -> Callable[[int], Any]:
    """Return what makes the machine of a seed: its model says this, in two steps."""

    def make(seed: int) -> Any:
        model, limits = Script(turns[seed]), Limits(steps=2)
        return assemble(parts, model, [calculator()], limits=limits)

    return make


def top(tally: Tally) -> str | None:
    """Return the answer with most votes; None where there is a tie, or no vote."""
    return None if tally.tied or not tally.votes else tally.votes[0][0]


def voted(vote: Vote, setting: str, k: int) -> dict[str, str | None]:
    """Return for each sum the answer that the first k runs vote for."""
    return {slug: top(vote(answers[:k])) for slug, answers in said(setting).items()}


def how_many_right(answers: Mapping[str, str | None]) -> int:
    """Return on how many sums these answers are right."""
    return sum(is_right(slug, answer) for slug, answer in answers.items())


def by_votes(vote: Vote, columns: Sequence[tuple[str, int]]) -> Grid:
    """Return what votes bring and cost, for each setting and number of runs."""
    shown = []
    for setting, k in columns:
        rows, found = recorded(setting), voted(vote, setting, k)
        right, silent = how_many_right(found), list(found.values()).count(None)
        low, high = wilson_interval(right, len(found))
        tokens = sum(row.tokens for of in rows.values() for row in of[:k])
        seconds = sum(row.seconds for of in rows.values() for row in of[:k])
        cells = f"{right} of {len(found)}", f"{low:.0%} to {high:.0%}", str(silent)
        shown.append((setting, str(k), *cells, f"{tokens:,}", f"{seconds:.0f}"))
    head = "temperature · top-p", "runs", "right", "95 % interval", "no winner"
    return Grid([*head, "tokens", "seconds"], shown)


def by_agreement(consensus: Consensus) -> Grid:
    """Return how many sums are right, by how many of five runs agree."""
    found: dict[str, list[bool]] = {}
    for slug, answers in said().items():
        agreed = consensus(answers)
        top, most = agreed.tally.votes[0]
        found.setdefault(f"{most} of 5, {agreed.how}", []).append(is_right(slug, top))
    rows = [(name, str(len(r)), str(sum(r))) for name, r in sorted(found.items())]
    return Grid(["agree", "sums", "their top answer is right"], rows[::-1])


def agreed_on(consensus: Consensus, least: int = 4) -> Grid:
    """Return the sums on which at least so many of five runs say the same."""
    rows = []
    for slug, answers in said().items():
        top, most = consensus(answers).tally.votes[0]
        if most >= least:
            mark, one = "right" if is_right(slug, top) else "WRONG", sums()[slug]
            rows.append((f"{most} of 5", mark, top, one.answers[0], one.text))
    rows.sort(key=lambda row: row[:2], reverse=True)
    return Grid(["say", "it is", "answer", "right answer", "sum"], rows)


def agreed_by(model: TextModel, consensus: Consensus) -> Grid:
    """Ask a model the first five sums three times; return what its runs agree on."""
    rows = []
    with waiting("asking three times", total=5) as tick:
        for one in list(sums().values())[:5]:
            run = asking(one, model, {"temperature": 0.7})
            agreed = consensus(ask_k(lambda seed: run, one.text, 3))  # noqa: B023
            rows.append((str(agreed.answer), one.answers[0], agreed.why))
            tick()
    return Grid(["answer", "right answer", "why"], rows)


def pass_hat_k(n: int, c: int, k: int) -> float:
    """Return how often all of k runs are right, where c of n runs were.

    >>> pass_hat_k(n=5, c=4, k=2)  # tau-bench's pass^k (arXiv:2406.12045)
    0.6
    """
    return comb(c, k) / comb(n, k)


def majority_at_k(
    answers: Sequence[str | None], k: int, slug: str, vote: Vote
) -> float:
    """Return how often k of these runs vote for the right answer; a tie is no win.

    All draws of k are counted, none of them holds a run twice.
    """
    draws = [top(vote(draw)) for draw in combinations(answers, k)]
    return sum(is_right(slug, answer) for answer in draws) / len(draws)


def curves(vote: Vote, pass_at_k: Callable[..., float]) -> dict[str, list[float]]:
    """Return pass@k, majority@k and pass^k in per cent of the sums, for k = 1 to 5."""
    lines: dict[str, list[float]] = {"pass@k": [], "majority@k": [], "pass^k": []}
    for k in range(1, 6):
        rows = []
        for slug, answers in said().items():
            c = sum(is_right(slug, answer) for answer in answers)
            voted_right = majority_at_k(answers, k, slug, vote)
            rows.append((pass_at_k(5, c, k), voted_right, pass_hat_k(5, c, k)))
        for line, shares in zip(lines.values(), zip(*rows, strict=True), strict=True):
            line.append(100 * sum(shares) / len(rows))
    return lines


@on_any_page
def plot_curves(lines: Mapping[str, Sequence[float]]) -> Axes:
    """Draw what k runs could find, vote for, and be relied on for."""
    _, (axes,) = blank(size=(7, 3.2))
    says = {"pass@k": "one is", "majority@k": "the vote is", "pass^k": "all are"}
    for (name, line), style in zip(lines.items(), ("o-", "s-", "d-"), strict=True):
        axes.plot(range(1, len(line) + 1), line, style, label=f"{name}: {says[name]}")
    axes.set_title("More runs: one is right more often, all of them less often")
    axes.set(xlabel="runs, k", ylabel="right, of 20 sums (%)", ylim=(0, 100))
    axes.set_xticks(range(1, 6))
    axes.legend()
    return axes


def better_or_worse(vote: Vote) -> Grid:
    """Return how often 1, 3 and 5 runs vote right, on sums where runs differ."""
    rows = []
    for slug, answers in said().items():
        right = sum(is_right(slug, answer) for answer in answers)
        if 0 < right < len(answers):
            shares = [majority_at_k(answers, k, slug, vote) for k in (1, 3, 5)]
            shown = [f"{share:.1f}" for share in shares]
            rows.append((sums()[slug].text, f"{right} of 5", *shown))
    rows.sort(key=lambda row: float(row[4]) - float(row[2]))
    return Grid(["sum", "right", "majority@1", "@3", "@5"], rows)
