"""What counts as right, and what a share of right answers is worth."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable
from decimal import Decimal
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
    wanted = _numbers(gold)
    if len(wanted) != 1:
        raise ValueError(f"the right answer must be one number, not {gold!r}")
    return _numbers(answer) == wanted


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
    low: float  # of the 95 % interval of the difference
    high: float
    p: float  # how often luck alone parts won and lost so far, or farther


def paired_difference(pairs: Iterable[tuple[bool, bool]]) -> Paired:
    """Compare two ways, question by question: (right before, right after) each.

    `p` is McNemar's, exact and two-sided: each question that changed is a coin thrown.
    The interval is Newcombe's, from the Wilson intervals of both shares and how far the
    two go together. It raises ValueError for no pairs.

    >>> paired_difference([(False, True)] * 6 + [(True, True)] * 14).p
    0.03125

    Source: R. G. Newcombe, "Improved confidence intervals for the difference between
    binomial proportions based on paired data", Statistics in Medicine 17 (1998),
    2635-2650, method 10.
    """
    counts = Counter((bool(before), bool(after)) for before, after in pairs)
    order = (True, True), (False, True), (True, False), (False, False)
    both, won, lost, neither = (counts[pair] for pair in order)
    n, was, now = sum(counts.values()), both + lost, both + won
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

    difference = (now - was) / n
    low = difference - way(now / n - low_now, high_was - was / n)
    high = difference + way(high_now - now / n, was / n - low_was)
    tail = sum(math.comb(won + lost, k) for k in range(min(won, lost) + 1))
    p = min(1.0, 2 * tail / 2 ** (won + lost))
    return Paired(both, won, lost, neither, difference, low, high, p)


def _numbers(text: str) -> list[Decimal]:
    narrow = unicodedata.normalize("NFKC", text).replace("−", "-")
    return [Decimal(n) for n in _NUMBER.findall(_THOUSANDS.sub("", narrow))]
