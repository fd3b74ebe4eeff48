"""Lab 11's experiments: for the same tokens, something else than votes.

A second look (Reflexion, Shinn et al., 2023, arXiv:2303.11366) and a plan before
acting, on the twenty sums of lesson 02; and the two hybrids of the ReAct paper.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

from workbook.evaluation.statistics import paired_difference
from workbook.exercises.display import Grid
from workbook.experiments import votes
from workbook.experiments.questions import ArithmeticQuestion
from workbook.loop.answers import Order
from workbook.models.base import TextModel
from workbook.models.choice import get_text_model
from workbook.playground.recorded import real_result
from workbook.wait import waiting

LESSON = "11_other_ways_to_spend_it"
LOOK = "Question: {}\nAnswer: {}\nThis answer may be wrong.\nNote: I should have"
PLAN = """Question: A box holds 12 pens. How many pens are in 7 boxes?
Plan: Multiply 12 by 7.

Question: {}
Plan:"""


class Way(NamedTuple):
    """What a way to spend tokens gave on one sum."""

    answers: Sequence[str | None]  # the last one is its answer
    tokens: Sequence[int]  # of each run, what was written for it with it
    note: str = ""


def second_look(one: ArithmeticQuestion, model: TextModel) -> Way:
    """Answer; say that it may be wrong; answer again, with the model's note."""
    first = votes.asking(one, model, {}).run(one.text)
    said = model.complete(LOOK.format(one.text, first.answer), stop=["\n"])
    note = f"I should have {said.text.strip()}"
    then = votes.asking(one, model, {}).run(f"{one.text} {note}")
    costs = _tokens(first.spent.usage), _tokens(said.usage, then.spent.usage)
    return Way([first.answer, then.answer], costs, note)


def plan_and_act(one: ArithmeticQuestion, model: TextModel) -> Way:
    """Write a plan, then act on the question with it."""
    plan = model.complete(PLAN.format(one.text), stop=["\n"])
    done = votes.asking(one, model, {}).run(f"{one.text} {plan.text.strip()}")
    tokens = _tokens(plan.usage, done.spent.usage)
    return Way([done.answer], [tokens], plan.text.strip())


def _tokens(*usages: Any) -> int:
    return sum(usage.input + usage.output for usage in usages)


def on_all_sums(way: Callable[[ArithmeticQuestion, TextModel], Way]) -> dict[str, Way]:
    """Return what a way gives on each of the twenty sums, greedy: a recording."""
    name = way.__name__

    def measure() -> dict[str, Way]:
        model, found = get_text_model("local", max_tokens=40), {}
        with waiting(name, total=len(votes.sums())) as tick:
            for slug, one in votes.sums().items():
                found[slug] = way(one, model)
                tick()
        return found

    kept = real_result(LESSON, name, measure, takes_minutes=True)
    return {slug: Way(*row) for slug, row in kept.items()}


def by_temperature(vote: votes.Vote) -> Grid:
    """Return one run and three, at two temperatures and two values of top-p."""
    names = [f"{heat} · {share}" for heat in (0.2, 0.6) for share in (0.5, 0.95)]
    return votes.by_votes(vote, [(name, k) for name in names for k in (1, 3)])


def singles(cold: str, warm: str) -> str:
    """Say which of two settings is right on sums where the other is not, in one run."""
    before, after = votes.said(warm), votes.said(cold)
    pair = paired_difference(
        (votes.is_right(slug, before[slug][0]), votes.is_right(slug, after[slug][0]))
        for slug in before
    )
    return f"{cold} alone {pair.won}, {warm} alone {pair.lost}: p = {pair.p:.3f}"


def repaired(looks: Mapping[str, Way]) -> Grid:
    """Return how many sums the second look left, repaired and spoiled."""
    rows = []
    for name, before in (("right", True), ("wrong", False)):
        then = [
            votes.is_right(slug, way.answers[1])
            for slug, way in looks.items()
            if votes.is_right(slug, way.answers[0]) is before
        ]
        rows.append((name, str(len(then)), str(sum(then)), str(then.count(False))))
    return Grid(["first answer", "sums", "then right", "then wrong"], rows)


def with_an_oracle(looks: Mapping[str, Way]) -> dict[str, Way]:
    """Return the second looks, taken only where the first answer was wrong."""
    return {
        slug: Way(way.answers[:1], way.tokens[:1])
        if votes.is_right(slug, way.answers[0])
        else way
        for slug, way in looks.items()
    }


def against_votes(ways: Mapping[str, Mapping[str, Way]], vote: votes.Vote) -> Grid:
    """Return each way beside votes of as many runs as its tokens pay, in pairs."""
    rows = []
    for name, found in ways.items():
        now = {
            slug: votes.is_right(slug, way.answers[-1]) for slug, way in found.items()
        }
        then = {}
        for slug, runs in votes.recorded().items():
            spent = list(accumulate(run.tokens for run in runs))
            paid = max(1, sum(cost <= sum(found[slug].tokens) for cost in spent))
            top = votes.top(vote([run.answer for run in runs[:paid]]))
            then[slug] = votes.is_right(slug, top)
        pair = paired_difference((then[slug], now[slug]) for slug in now)
        tokens = sum(sum(way.tokens) for way in found.values())
        counts = sum(now.values()), sum(then.values()), pair.won, pair.lost
        rows.append((name, f"{tokens:,}", *map(str, counts), f"{pair.p:.2f}"))
    head = "way", "tokens", "right", "votes are", "alone", "votes alone", "p"
    return Grid(head, rows)


def hybrids(back_off: Callable[..., str | None], vote: votes.Vote) -> Grid:
    """Return CoT-SC, ReAct, and each stepping in for the other, on the sums."""
    chains = votes.said("cot 0.7")
    acted = {slug: answers[0] for slug, answers in votes.said(votes.GREEDY).items()}
    found = {"CoT-SC": votes.voted(vote, "cot 0.7", 5), "ReAct, greedy": acted}
    for order in Order:
        found[order.value] = {s: back_off(order, acted[s], chains[s]) for s in chains}
    rows = [(name, str(votes.how_many_right(a))) for name, a in found.items()]
    most = [(vote(answers).votes or [("", 0)])[0][1] for answers in chains.values()]
    silent = list(acted.values()).count(None)
    gives_way = f"CoT-SC gives way on {sum(count < 2.5 for count in most)} of 20"
    return Grid(["on our sums", "right of 20"], rows, f"{gives_way}, ReAct on {silent}")
