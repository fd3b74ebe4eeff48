"""Two tools that take one integer: a factorial, and prime factors."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from workbook.tools.tool import Tool

FACTORIAL_LIMIT = 20  # the last factorial that fits in a signed 64-bit integer
FACTORISE_LIMIT = 10**12  # at most a million divisors to try: under 0.2 s

ALIASES = dict.fromkeys(
    ("number", "numbers", "num", "nums", "integer", "integers", "value", "values", "x"),
    "n",
)
"""What models call the one number, also when they mean several."""


def factorial_of(n: int) -> dict[str, int]:
    """Return n! for n from 0 to 20."""
    if not 0 <= n <= FACTORIAL_LIMIT:
        raise ValueError(f"n is {n}; use an integer from 0 to {FACTORIAL_LIMIT}")
    return {"result": math.factorial(n)}


def prime_factors_of(n: int) -> dict[str, int | list[int]]:
    """Return the primes whose product is `n`, for n from 2 to 10**12."""
    if not 2 <= n <= FACTORISE_LIMIT:
        raise ValueError(f"n is {n}; use an integer from 2 to {FACTORISE_LIMIT}")
    factors: list[int] = []
    rest, divisor = n, 2
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
        divisor += 1 if divisor == 2 else 2
    if rest > 1:
        factors.append(rest)
    return {"n": n, "factors": factors}


def factorial() -> Tool:
    """Return the tool `Factorial`: one integer from 0 to 20."""
    return _number_tool(
        "Factorial",
        "Computes n! exactly. One integer from 0 to 20 per call: 21! does not fit "
        'in 64 bits. Right: {"n": 5}. Wrong: {"n": [3, 4, 5]}; call once for each.',
        factorial_of,
        0,
        FACTORIAL_LIMIT,
    )


def prime_factors() -> Tool:
    """Return the tool `PrimeFactors`: one integer from 2 to 10**12."""
    return _number_tool(
        "PrimeFactors",
        "Splits one integer into its prime factors. From 2 to 1000000000000, one "
        'integer per call. Right: {"n": 360}. Wrong: {"n": [12, 15]}; call once '
        "for each.",
        prime_factors_of,
        2,
        FACTORISE_LIMIT,
    )


def _number_tool(
    name: str, description: str, run: Callable[[int], Any], least: int, most: int
) -> Tool:
    n = {"type": "integer", "minimum": least, "maximum": most}
    schema = {"properties": {"n": n}, "required": ["n"]}
    return Tool(name, description, schema, run, timeout_s=None, aliases=ALIASES)


TOOLS = {"Factorial": factorial, "PrimeFactors": prime_factors}
