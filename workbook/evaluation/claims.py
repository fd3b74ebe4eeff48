"""What others say in figures, against what stands behind them.

`data/lessons/13/claims.toml` has the claims, where the truth of each is, and our
verdict; a cell of lesson 13 finds each verdict anew, and a test compares the two.
"""

import tomllib
from collections.abc import Mapping
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, ValidationError

from workbook.paths import DATA

Figures = Mapping[str, Mapping[str, str]]
"""A table as it is printed: by row, then by column. "–" is no figure."""


class ClaimVerdict(StrEnum):
    """What can come of comparing a claim with its source."""

    RIGHT = "right"
    WRONG = "wrong"
    ELSEWHERE = "elsewhere"  # the figure is there, in another row or column
    NOT_REPORTED = "not reported"
    NOT_COMPARABLE = "not comparable"  # what it sets side by side was not alike


class Compared(NamedTuple):
    """A claimed figure beside a table's."""

    verdict: ClaimVerdict
    truth: str | None  # as printed where the claim points; None where nothing is
    places: list[tuple[str, str]]  # row and column: where else it could be from


class PublicClaim(BaseModel):
    """One claim, and what became of it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    slug: str
    source: str  # who says it
    claimed: str
    where: Literal["paper", "arithmetic", "code that is run", "measurement here"]
    truth: str  # with its source
    verdict: ClaimVerdict
    cell: str  # the tag of the cell that finds it


class ClaimsFile(BaseModel):
    """Claims, and the tables of the ReAct paper as they are printed."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    paper: dict[str, dict[str, str]]  # method, benchmark, figure
    claim: list[PublicClaim]


def claims(path: Path = DATA / "lessons/13/claims.toml") -> ClaimsFile:
    """Return what a file of claims has; ValueError says where it is damaged."""
    try:
        found = ClaimsFile.model_validate(tomllib.loads(path.read_text("utf-8")))
    except ValidationError as error:
        told = [f"{' '.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors()]
        raise ValueError(f"{path.name} cannot be read: {'; '.join(told)}") from None
    slugs = [claim.slug for claim in found.claim]
    if twice := sorted({slug for slug in slugs if slugs.count(slug) > 1}):
        raise ValueError(f"{path.name} has two claims named {', '.join(twice)}")
    return found


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


def as_figure(text: object) -> Decimal:
    """Return a figure as a Decimal; ValueError where it is none, such as "about 27".

    A float is what it is printed as: 96.15 is 96.15, and no 96.150000000000005...
    """
    try:
        return Decimal(str(text))
    except InvalidOperation:
        told = f"{text!r} is no figure: write it as '27.4', without % or words"
        raise ValueError(told) from None


def implied_denominator(
    percent: float, decimals: int = 2, most: int = 30
) -> list[tuple[int, int]]:
    """Return the fractions, successes and n, of which a rate can be the rounded form.

    >>> implied_denominator(91.67)
    [(11, 12), (22, 24)]
    """
    printed = as_figure(percent)
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
    figure, decimals = as_figure(claimed), decimals_of(claimed)
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
