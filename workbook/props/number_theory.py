"""Number theory for agents: two tools that take one integer and have a limit.

The limits are real and stand in the schemas, so that a call beyond them is refused
before anything is computed. Both tools are what a model likes to hand a whole list to.
"""

from __future__ import annotations

import math
from typing import Any

from workbook.tools.tool import Tool

FACTORIAL_LIMIT = 20
"""20! = 2,432,902,008,176,640,000 is the last factorial in a signed 64-bit integer.

Python could go on; a database column, a Java `long` or a NumPy array could not.
"""

FACTORISE_LIMIT = 10**12
"""Trial division needs at most a million divisors up to here: under 0.2 s."""


def factorial_of(n: int) -> dict[str, int]:
    """Return n! for n from 0 to 20 as `{"result": …}`.

    >>> factorial_of(5)
    {'result': 120}
    """
    if not 0 <= n <= FACTORIAL_LIMIT:
        raise ValueError(f"n is {n}; use an integer from 0 to {FACTORIAL_LIMIT}")
    return {"result": math.factorial(n)}


def prime_factors_of(n: int) -> dict[str, int | list[int]]:
    """Return the primes whose product is `n`, smallest first, each as often as it fits.

    Args:
        n: from 2 to 10**12.

    >>> prime_factors_of(360)
    {'n': 360, 'factors': [2, 2, 2, 3, 3, 5]}
    """
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
    return Tool(
        name="Factorial",
        description=(
            "Computes n! exactly. One integer from 0 to 20 per call: 21! does not fit "
            'in 64 bits. Right: {"n": 5}. Wrong: {"n": [3, 4, 5]}; call once for each.'
        ),
        parameters=_one_integer(0, FACTORIAL_LIMIT),
        run=factorial_of,
        timeout_s=None,
        aliases=_ALIASES,
        asked_by=("factorial", "階乗", "阶乘", "階乘", "!"),
    )


def prime_factors() -> Tool:
    """Return the tool `PrimeFactors`: one integer from 2 to 10**12."""
    return Tool(
        name="PrimeFactors",
        description=(
            "Splits one integer into its prime factors. From 2 to 1000000000000, one "
            'integer per call. Right: {"n": 360}. Wrong: {"n": [12, 15]}; call once '
            "for each."
        ),
        parameters=_one_integer(2, FACTORISE_LIMIT),
        run=prime_factors_of,
        timeout_s=None,
        aliases=_ALIASES,
        asked_by=(
            *("factor", "factorise", "factorize", "factorising", "factorizing"),
            *("factorisation", "factorization", "prime factor", "prime"),
            *("素因数分解", "素因数", "因数分解", "质因数", "質因數", "分解质因数"),
        ),
    )


_ALIASES = dict.fromkeys(
    ("number", "numbers", "num", "nums", "integer", "integers", "value", "values", "x"),
    "n",
)
"""What models call the one number, also when they mean several."""


def _one_integer(minimum: int, maximum: int) -> dict[str, Any]:
    n = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return {"type": "object", "properties": {"n": n}, "required": ["n"]}
