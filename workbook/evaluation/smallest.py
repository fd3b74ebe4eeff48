"""The smallest script with which a machine breaks a rule: found, and then shrunk."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

Turn = TypeVar("Turn")


def smallest_script(
    turns: Sequence[Turn],
    breaks: Callable[[list[Turn]], bool],
    *,
    most: int = 8,
    tries: int = 2_000,
) -> list[Turn] | None:
    """Return a shortest script for which `breaks(script)` is true; None: none found.

    Hypothesis draws scripts until one breaks the rule, and then takes away and
    simplifies as long as it still does: of two turns the earlier one in `turns` is the
    simpler. None is no proof that there is none.

    Args:
        turns: what the model may say in a turn, the simplest first.
        breaks: plays a script on the machine and says whether the rule was broken; for
            the same script always the same.
        most: the most turns of a script.
        tries: how many scripts are drawn at most.

    Source: `hypothesis.find`, and how Hypothesis shrinks what it found (its manual).
    """
    from hypothesis import Phase, find, settings
    from hypothesis.errors import NoSuchExample
    from hypothesis.strategies import lists, sampled_from

    scripts = lists(sampled_from(list(turns)), min_size=1, max_size=most)
    chosen = settings(
        max_examples=tries,
        database=None,
        deadline=None,
        phases=[Phase.generate, Phase.shrink],
    )
    try:
        return find(scripts, breaks, settings=chosen, random=random.Random(0))
    except NoSuchExample:
        return None
