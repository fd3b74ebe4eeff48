"""What counts as right, and what a share of right answers is worth."""

import math
import random
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from statistics import NormalDist, fmean
from typing import NamedTuple

from workbook.loop.answers import exact_match

_NUMBER = re.compile(r"(?<![\d.])-?(?:\d+(?:\.\d+)?|\.\d+)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def same_number(answer: str, gold: str) -> bool:
    """Return whether `answer` names one number, and that number is `gold`.

    Words around it are no fault ("144 boxes"), a second number is ("12 * 12 = 144").
    Where `gold` is not a number, it raises ValueError.

    >>> same_number("$1,692.00", "1692"), same_number("16.92", "1692")
    (True, False)
    """
    wanted = numbers_in(gold)
    if len(wanted) != 1:
        raise ValueError(f"the right answer must be one number, not {gold!r}")
    return numbers_in(answer) == wanted


def matches_any(
    answer: str | None,
    golds: Iterable[str],
    is_right: Callable[[str, str], bool] = exact_match,
) -> bool:
    """Return whether an answer was given and is one of the accepted ones.

    >>> matches_any("cervantes", ["Miguel de Cervantes", "Cervantes"])
    True
    """
    return bool(answer) and any(is_right(answer or "", gold) for gold in golds)


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


def bootstrap_interval(
    differences: Sequence[float], *, draws: int = 2_000, seed: int = 1
) -> tuple[float, float]:
    """Return the range in which the mean of paired differences may lie, for 95 %.

    One difference a task, in any unit: seconds, tokens, or -1, 0 and 1. The middle 95 %
    of the means of tasks drawn with replacement. ValueError: no differences.

    Source: B. Efron, R. J. Tibshirani, "An introduction to the bootstrap" (1993),
    chapter 13, the percentile interval.
    """
    if not differences:
        raise ValueError("there are no differences to draw from")
    dice, n = random.Random(seed), len(differences)
    means = sorted(fmean(dice.choices(differences, k=n)) for _ in range(draws))
    return means[round(0.025 * draws)], means[round(0.975 * draws) - 1]


def tasks_needed(
    difference: float, changed: float, *, power: float = 0.8, alpha: float = 0.05
) -> int:
    """Return how many paired tasks would show a difference between two versions.

    `difference` is that of their pass rates, `changed` the share of tasks on which the
    two part (won and lost together), `power` how often so many tasks give p below
    `alpha`; the exact p needs some more. ValueError: more difference than change.

    >>> tasks_needed(0.05, 0.10)
    312

    Source: R. J. Connor, "Sample size for testing differences in proportions for the
    paired-sample design", Biometrics 43 (1987), 207-211.
    """
    if not (0 < abs(difference) <= changed <= 1 and 0 < alpha < 1 and 0 < power < 1):
        raise ValueError(
            f"no number of tasks: difference {difference}, changed {changed}, "
            f"power {power}, alpha {alpha}. A difference is at most what has changed."
        )
    normal, square = NormalDist(), difference**2
    by_luck = normal.inv_cdf(1 - alpha / 2) * math.sqrt(changed)
    shown = normal.inv_cdf(power) * math.sqrt(changed - square)
    return math.ceil((by_luck + shown) ** 2 / square)


def numbers_in(text: str) -> list[Decimal]:
    """Return the numbers that a text names, as they stand: 1,692 and １６９２ are one.

    >>> numbers_in("1,692 m, −3 at night")
    [Decimal('1692'), Decimal('-3')]
    """
    narrow = unicodedata.normalize("NFKC", text).replace("−", "-")
    return [Decimal(n) for n in _NUMBER.findall(_THOUSANDS.sub("", narrow))]
