"""What others say in figures, beside the figures of the source.

`data/lessons/13/claims.toml` has the sources, their figures as they are printed, and
the claims in our words. It has no verdicts: the cells of lesson 13 find them.
"""

import tomllib
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from workbook.paths import DATA

Figures = Mapping[str, Mapping[str, str]]
"""A table as it is printed: by row, then by column. "–" is no figure."""


class ClaimVerdict(StrEnum):
    """What can come of comparing a claim with its source."""

    RIGHT = "right"
    WRONG = "wrong"
    ELSEWHERE = "elsewhere"  # the figure is there, in another row or column
    NOT_REPORTED = "not reported"  # it may be so; this source does not say it
    NOT_COMPARABLE = "not comparable"  # the two were not measured on the same things


class Compared(NamedTuple):
    """A claimed figure beside a table's."""

    verdict: ClaimVerdict
    truth: str | None  # as printed where the claim points; None if nothing is there
    places: list[tuple[str, str]]  # row and column of all other equal figures


class Cited(NamedTuple):
    """A verdict, and the evidence by which somebody else can check it."""

    verdict: ClaimVerdict
    evidence: Any


def claims(path: Path = DATA / "lessons/13/claims.toml") -> dict[str, Any]:
    """Return a file's sources by key (`source`) and its claims (`claim`)."""
    return tomllib.loads(path.read_text("utf-8"))


def right_if(holds: bool, alike: bool = True) -> ClaimVerdict:
    """Return the verdict on what holds or not, measured on the same things or not."""
    if not alike:
        return ClaimVerdict.NOT_COMPARABLE
    return ClaimVerdict.RIGHT if holds else ClaimVerdict.WRONG


def roundings(value: Decimal | str, decimals: int) -> set[Decimal]:
    """Return what a figure may be printed as: rounded half up, and half to even.

    >>> sorted(roundings("12.5", 0)), roundings("–", 0)
    ([Decimal('12'), Decimal('13')], set())
    """
    place = Decimal(1).scaleb(-decimals)
    try:
        exact = Decimal(value)
        return {exact.quantize(place, way) for way in (ROUND_HALF_UP, ROUND_HALF_EVEN)}
    except InvalidOperation:
        return set()


def decimals_of(figure: str) -> int:
    """Return how many decimals a figure is printed with: 2 of "96.15", 0 of "37"."""
    return len(figure.partition(".")[2])


def implied_denominator(
    percent: float, decimals: int = 2, most: int = 30
) -> list[tuple[int, int]]:
    """Return the fractions, successes and n, of which a rate can be the rounded form.

    >>> implied_denominator(91.67)
    [(11, 12), (22, 24)]
    """
    printed = Decimal(str(percent))
    return [
        (successes, n)
        for n in range(1, most + 1)
        for successes in range(n + 1)
        if printed in roundings(Decimal(100 * successes) / n, decimals)
    ]


def compare_claim(claimed: str, row: str, column: str, table: Figures) -> Compared:
    """Return whether a figure is what a table has at that place, or at which others.

    >>> table = {"Act": {"EM": "25.7"}, "ReAct": {"EM": "27.4"}}
    >>> print(*compare_claim("27.4", "Act", "EM", table))
    elsewhere 25.7 [('ReAct', 'EM')]
    """
    figure, decimals = Decimal(claimed), decimals_of(claimed)
    fits = {
        (method, benchmark)
        for method, figures in table.items()
        for benchmark, printed in figures.items()
        if figure in roundings(printed, decimals)
    }
    truth = table.get(row, {}).get(column, "–")
    places = sorted(fits - {(row, column)})
    if truth == "–":
        return Compared(ClaimVerdict.NOT_REPORTED, None, places)
    if (row, column) in fits:
        return Compared(ClaimVerdict.RIGHT, truth, places)
    verdict = ClaimVerdict.ELSEWHERE if places else ClaimVerdict.WRONG
    return Compared(verdict, truth, places)


def my_verdicts() -> dict[str, Cited]:
    """Return our verdicts on the open claims of lesson 13, with their evidence."""
    off = ("planner", "web search", "calculator")
    return {
        "own_gain": Cited(
            ClaimVerdict.WRONG, [("ReAct", "ALFWorld"), ("imitation", "ALFWorld")]
        ),
        "ablation": Cited(
            ClaimVerdict.NOT_REPORTED, [f"Qwen-Turbo, K = 3, no {tool}" for tool in off]
        ),
        "tool_errors": Cited(ClaimVerdict.WRONG, [lambda: 1 / 0, lambda: {4}]),
    }
