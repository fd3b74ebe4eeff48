"""Lab 11's experiments: for the same tokens, something else than votes.

A second look (Reflexion, Shinn et al., 2023, arXiv:2303.11366) and a plan before
acting, on the twenty sums of lesson 02.
"""

from collections.abc import Callable, Mapping, Sequence
from itertools import accumulate
from typing import NamedTuple

from workbook.checks.display import Grid
from workbook.choice import get_text_model
from workbook.evaluation.statistics import Paired, paired_difference
from workbook.experiments import votes
from workbook.experiments.questions import ArithmeticQuestion
from workbook.runtime.model import Model, Usage
from workbook.stage.recordings import real_result
from workbook.wait import waiting

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


def second_look(one: ArithmeticQuestion, model: Model) -> Way:
    """Answer; say that it may be wrong; answer again, with the model's note."""
    first = votes.solve(one, model)
    said = model.complete(LOOK.format(one.text, first.answer), stop=["\n"])
    note = f"I should have {(said.text or '').strip()}"
    then = votes.solve(one, model, f" {note}")
    tokens = _tokens(first.usage), _tokens(said.usage + then.usage)
    return Way([first.answer, then.answer], tokens, note)


def plan_and_act(one: ArithmeticQuestion, model: Model) -> Way:
    """Write a plan, then act on the question with it."""
    said = model.complete(PLAN.format(one.text), stop=["\n"])
    plan = (said.text or "").strip()
    done = votes.solve(one, model, f" {plan}")
    return Way([done.answer], [_tokens(said.usage + done.usage)], plan)


def _tokens(usage: Usage) -> int:
    return usage.input + usage.output


def on_all_sums(
    way: Callable[[ArithmeticQuestion, Model], Way], live: bool = False
) -> dict[str, Way]:
    """Return what a way gives on each of the twenty sums, greedy: a recording."""
    name = way.__name__

    def measure() -> dict[str, Way]:
        model, found = get_text_model("local", max_tokens=40), {}
        with waiting(name, total=len(votes.sums())) as tick:
            for slug, one in votes.sums().items():
                found[slug] = way(one, model)
                tick()
        return found

    kept = real_result("11_other_ways_to_spend_it", name, measure, live=live)
    return {slug: Way(*row) for slug, row in kept.items()}


def repaired(looks: Mapping[str, Way]) -> Paired:
    """Compare first answers with those after the second look: repaired are won."""
    return paired_difference(
        (votes.is_right(slug, way.answers[0]), votes.is_right(slug, way.answers[1]))
        for slug, way in looks.items()
    )


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
        then = {}
        for slug, runs in votes.recorded().items():
            spent = accumulate(run.tokens for run in runs)
            paid = max(1, sum(cost <= sum(found[slug].tokens) for cost in spent))
            then[slug] = votes.top(vote([run.answer for run in runs[:paid]]))
        now = votes.rights({slug: found[slug].answers[-1] for slug in then})
        pair = paired_difference(zip(votes.rights(then), now, strict=True))
        tokens = sum(sum(way.tokens) for way in found.values())
        right = sum(now), pair.both + pair.lost
        rows.append((name, tokens, *right, pair.won, pair.lost, round(pair.p, 2)))
    head = "way", "tokens", "right", "votes are", "alone", "votes alone", "p"
    return Grid(head, rows)
