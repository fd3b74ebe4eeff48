"""What each threshold of a score costs: the two ways to be wrong, side by side."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable
from typing import NamedTuple


class Cost(NamedTuple):
    """What a threshold does. Shares from 0 to 1: of the right, and of the wrong."""

    threshold: float
    right_refused: float
    wrong_accepted: float


def calibrate(pairs: Iterable[tuple[float, bool]]) -> list[Cost]:
    """Return a row for each threshold at which something changes, the lowest first.

    A pair is a score and whether what has it is right; a score of the threshold or more
    is accepted. The first row accepts all, the last one (∞) nothing.

    Raises:
        ValueError: a score is no number, or one error has no rate: there is no right
            one, or no wrong one.

    >>> for row in calibrate([(0.2, False), (0.4, True), (0.6, False), (0.8, True)]):
    ...     print(*row)
    0.2 0.0 1.0
    0.4 0.0 0.5
    0.6 0.5 0.5
    0.8 0.5 0.0
    inf 1.0 0.0
    """
    known = sorted((float(score), bool(is_right)) for score, is_right in pairs)
    if bad := [score for score, _ in known if not math.isfinite(score)]:
        raise ValueError(f"a score must be a number, not {bad[0]}")
    right = [score for score, is_right in known if is_right]
    wrong = [score for score, is_right in known if not is_right]
    if not right or not wrong:
        raise ValueError(
            f"{len(right)} right and {len(wrong)} wrong: give at least one of each"
        )
    return [
        Cost(
            threshold,
            bisect_left(right, threshold) / len(right),
            (len(wrong) - bisect_left(wrong, threshold)) / len(wrong),
        )
        for threshold in (*dict.fromkeys(score for score, _ in known), math.inf)
    ]
