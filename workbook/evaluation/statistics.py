"""What a share of right answers is worth, whether two versions differ, who agrees.

It knows nothing of models, tasks or graders: it works on counts and rows of labels.
"""

import math
import random
from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from statistics import NormalDist
from typing import NamedTuple


def wilson_interval(successes: int, n: int, z: float = 1.96) -> tuple[float, float]:
    """Return the range in which the true rate of success may lie.

    Wilson's score interval: all rates p for which the observed share lies at most `z`
    standard errors, taken at p, away from p; 1.96 gives 95 %. It raises ValueError for
    no trial, successes below 0 or above `n`, or no finite `z` ≥ 0.

    >>> low, high = wilson_interval(0, 20)
    >>> round(low, 2), round(high, 2)
    (0.0, 0.16)

    Source: E. B. Wilson, "Probable inference, the law of succession, and statistical
    inference", Journal of the American Statistical Association 22 (1927), 209-212.
    """
    if n < 1 or not 0 <= successes <= n or not 0 <= z < math.inf:
        raise ValueError(f"no rate from {successes} of {n} trials with z = {z}")
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
    # At 0 and at n of n one end is exact; rounding must not take it beyond.
    low = 0.0 if successes == 0 else (centre - half) / scale
    high = 1.0 if successes == n else (centre + half) / scale
    return low, high


class Paired(NamedTuple):
    """The same questions, asked in two ways: what became right, and what wrong."""

    both: int
    won: int  # wrong before, right after
    lost: int
    neither: int
    difference: float  # of the shares of right answers, after - before
    p: float  # how often luck alone parts won and lost so far, or farther

    def __str__(self) -> str:
        counts = f"won {self.won}, lost {self.lost}, both {self.both}"
        rest = f"neither {self.neither}: {self.difference:+.0%}, p = {self.p:.2g}"
        return f"{counts}, {rest}"


def paired_difference(pairs: Iterable[tuple[bool, bool]]) -> Paired:
    """Compare two ways, question by question: (right before, right after) each.

    `p` is McNemar's, exact and two-sided: each question that changed is a coin thrown.
    It raises ValueError for no pairs.

    >>> paired_difference([(False, True)] * 6 + [(True, True)] * 14).p
    0.03125

    Source: Q. McNemar, "Note on the sampling error of the difference between correlated
    proportions or percentages", Psychometrika 12 (1947), 153-157.
    """
    counts = Counter((bool(before), bool(after)) for before, after in pairs)
    both, won = counts[True, True], counts[False, True]
    lost, neither = counts[True, False], counts[False, False]
    n, changed = both + won + lost + neither, won + lost
    if n == 0:
        raise ValueError("there are no pairs to compare")
    tail, ways = 0, 1  # each from the one before: math.comb takes long for thousands
    for k in range(min(won, lost) + 1):
        tail, ways = tail + ways, ways * (changed - k) // (k + 1)
    p = min(1.0, 2 * tail / 2**changed)
    return Paired(both, won, lost, neither, (won - lost) / n, p)


def paired_interval(found: Paired) -> tuple[float, float]:
    """Return the range in which the true difference of two ways may lie, for 95 %.

    Source: R. G. Newcombe, "Improved confidence intervals for the difference between
    binomial proportions based on paired data", Statistics in Medicine 17 (1998),
    2635-2650, method 10.
    """
    both, won, lost, neither = found[:4]
    n, was, now = both + won + lost + neither, both + lost, both + won
    (low_was, high_was), (low_now, high_now) = (
        wilson_interval(right, n) for right in (was, now)
    )
    # How far the two go together: phi, with a correction for the few.
    together: float = both * neither - won * lost
    together = max(together - n / 2, 0) if together > 0 else together
    spread = math.sqrt(was * (n - was) * now * (n - now))
    phi = together / spread if spread else 0.0

    def way(a: float, b: float) -> float:
        return math.sqrt(a * a - 2 * phi * a * b + b * b)

    low = found.difference - way(now / n - low_now, high_was - was / n)
    high = found.difference + way(high_now - now / n, was / n - low_was)
    return low, high


def tasks_needed(difference: float, changed: float) -> int:
    """Return how many paired tasks would show a difference between two versions.

    `difference` is that of their pass rates, `changed` the share of tasks on which the
    two part (won and lost together). So many tasks give p below 0.05 in four of five
    comparisons (a power of 80 %); the exact p needs some more. ValueError: more
    difference than change.

    >>> tasks_needed(0.05, 0.10)
    312

    Source: R. J. Connor, "Sample size for testing differences in proportions for the
    paired-sample design", Biometrics 43 (1987), 207-211.
    """
    if not 0 < abs(difference) <= changed <= 1:
        raise ValueError(
            f"no number of tasks: difference {difference}, changed {changed}."
            " A difference is at most what has changed."
        )
    normal, square = NormalDist(), difference**2
    by_luck = normal.inv_cdf(1 - 0.05 / 2) * math.sqrt(changed)
    shown = normal.inv_cdf(0.8) * math.sqrt(changed - square)
    return math.ceil((by_luck + shown) ** 2 / square)


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
    same, luck = _same_and_by_luck(ours, theirs)
    return (same / len(ours) - luck) / (1 - luck)


def kappa_interval(
    ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> tuple[float, float]:
    """Return the range in which the true kappa may lie, for 95 %.

    As Cohen's own standard error it takes the agreement by luck as known; for the
    observed agreement it takes Wilson's interval, which has a width also where all
    agree. It raises what `agreement` raises.
    """
    same, luck = _same_and_by_luck(ours, theirs)
    low, high = ((end - luck) / (1 - luck) for end in wilson_interval(same, len(ours)))
    return max(low, -1.0), high


def _same_and_by_luck(
    ours: Sequence[Hashable], theirs: Sequence[Hashable]
) -> tuple[int, float]:
    """Return on how many two agree, and on which share of all they would by luck."""
    n, counts, others = len(ours), Counter(ours), Counter(theirs)
    if n == 0 or n != len(theirs):
        raise ValueError(f"two rows of as many labels are needed: {n}, {len(theirs)}")
    luck = sum(counts[label] * others[label] for label in counts) / n**2
    if luck == 1:
        raise ValueError(f"both say {ours[0]!r} to everything: that shows nothing")
    return sum(a == b for a, b in zip(ours, theirs, strict=True)), luck


class JudgedRate(NamedTuple):
    """A pass rate that a judge has seen, as the judge's known errors leave it."""

    corrected: float
    low: float  # of the 95 % interval of the corrected rate
    high: float


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
    corrected = true(said_right / n, finds, refuses)
    return JudgedRate(corrected, low, high)
