"""Do two graders agree, beyond luck? And what does one that errs do to a pass rate?

It knows nothing of models: a judge is here a row of labels beside another row.
"""

import random
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple

from workbook.evaluation.grading import wilson_interval


def agreement(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    """Return Cohen's kappa: the part of all agreement beyond luck that two have.

    1: they always agree. 0: as often as two who give as many of each label, and look at
    no answer. Below 0: more seldom. It raises ValueError for no labels, rows of two
    lengths, or one label for everything by both: then luck alone explains it all.

    >>> agreement(["right"] * 3 + ["wrong"], ["right", "right", "wrong", "wrong"])
    0.5

    Source: J. Cohen, "A coefficient of agreement for nominal scales", Educational and
    Psychological Measurement 20 (1960), 37-46.
    """
    n = len(ours)
    if n == 0 or n != len(theirs):
        raise ValueError(f"two rows of as many labels are needed: {n}, {len(theirs)}")
    same = sum(a == b for a, b in zip(ours, theirs, strict=True)) / n
    counts, others = Counter(ours), Counter(theirs)
    luck = sum(counts[label] * others[label] for label in counts) / n**2
    if luck == 1:
        raise ValueError(f"both say {ours[0]!r} to everything: that shows nothing")
    return (same - luck) / (1 - luck)


def kappa_interval(
    ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> tuple[float, float]:
    """Return the range in which the true kappa may lie, for 95 %.

    As Cohen's own standard error it takes the agreement by luck as known; for the
    observed agreement it takes Wilson's interval, which has a width also where all
    agree. It raises what `agreement` raises.
    """
    agreement(ours, theirs)
    n, counts, others = len(ours), Counter(ours), Counter(theirs)
    same = sum(a == b for a, b in zip(ours, theirs, strict=True))
    luck = sum(counts[label] * others[label] for label in counts) / n**2
    low, high = ((end - luck) / (1 - luck) for end in wilson_interval(same, n))
    return max(low, -1.0), high


class JudgedRate(NamedTuple):
    """A pass rate as a judge sees it, and as its known errors leave it."""

    observed: float
    corrected: float
    low: float  # of the 95 % interval of the corrected rate
    high: float
    sensitivity: float  # of the right answers, how many the judge calls right
    specificity: float  # of the wrong answers, how many the judge calls wrong


def judged_rate(
    said_right: int, n: int, labelled: Iterable[tuple[bool, bool]]
) -> JudgedRate:
    """Return what a judge's "`said_right` of `n`" says about the true pass rate.

    `labelled` are other answers, each with (what the judge says, what is right). For
    the interval the three shares behind the corrected rate are drawn, each as its count
    allows. ValueError: impossible counts, labels of one kind only, or a judge that is
    no better than a coin.

    Source: W. J. Rogan, B. Gladen, "Estimating prevalence from the results of a
    screening test", American Journal of Epidemiology 107 (1978), 71-76.
    """
    if n < 1 or not 0 <= said_right <= n:
        raise ValueError(f"no rate from {said_right} of {n} answers")
    counts = Counter(labelled)
    hits, passed = counts[True, True], counts[True, False]
    right, wrong = hits + counts[False, True], passed + counts[False, False]
    if not right or not wrong:
        raise ValueError(f"labelled are {right} right and {wrong} wrong answers")
    finds, refuses = hits / right, 1 - passed / wrong
    if finds + refuses <= 1:
        raise ValueError(
            f"a judge that calls {finds:.0%} of the right answers right, and"
            f" {1 - refuses:.0%} of the wrong ones, tells nothing about them"
        )
    dice, draws = random.Random(1), 4_000

    def drawn(k: int, of: int) -> float:
        return dice.betavariate(k + 0.5, of - k + 0.5)

    def true(observed: float, finds: float, refuses: float) -> float:
        beyond = max(finds + refuses - 1, 1e-9)  # near a coin: all or nothing
        return min(1.0, max(0.0, (observed + refuses - 1) / beyond))

    rates = sorted(
        true(drawn(said_right, n), drawn(hits, right), 1 - drawn(passed, wrong))
        for _ in range(draws)
    )
    low, high = rates[round(0.025 * draws)], rates[round(0.975 * draws) - 1]
    mended = true(said_right / n, finds, refuses)
    return JudgedRate(said_right / n, mended, low, high, finds, refuses)
