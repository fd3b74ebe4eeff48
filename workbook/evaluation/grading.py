"""What counts as right, and what a share of right answers is worth."""

import math
import re
import unicodedata
from collections.abc import Callable, Iterable
from decimal import Decimal

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


def _numbers(text: str) -> list[Decimal]:
    narrow = unicodedata.normalize("NFKC", text).replace("−", "-")
    return [Decimal(n) for n in _NUMBER.findall(_THOUSANDS.sub("", narrow))]
