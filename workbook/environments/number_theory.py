"""Two tools that take one integer: a factorial, and prime factors."""

import math
from typing import Any

from workbook.runtime.tools import Tool

FACTORIAL_LIMIT = 20  # the last factorial that fits in a signed 64-bit integer
FACTORISE_LIMIT = 10**12  # at most a million divisors to try: under 0.2 s
# What models call the one number `n`, also when they mean several.
NAMES = ("number", "numbers", "num", "nums", "integer", "integers", "value", "values")
MORE: Any = {
    "aliases": dict.fromkeys((*NAMES, "x"), "n"),
    "outside": False,
    "timeout_s": None,
}


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
    return {"n": n, "factors": factors + [rest] * (rest > 1)}


def factorial() -> Tool:
    """Return the tool `Factorial`: one integer from 0 to 20."""
    about = (
        "Computes n! exactly. One integer from 0 to 20 per call: 21! does not fit "
        'in 64 bits. Right: {"n": 5}. Wrong: {"n": [3, 4, 5]}; call once for each.'
    )
    asked_by = ("factorial", "階乗", "阶乘", "階乘", "!")
    schema = _between(0, FACTORIAL_LIMIT)
    return Tool("Factorial", about, schema, factorial_of, asked_by=asked_by, **MORE)


def prime_factors() -> Tool:
    """Return the tool `PrimeFactors`: one integer from 2 to 10**12."""
    about = (
        "Splits one integer into its prime factors. From 2 to 1000000000000, one "
        'integer per call. Right: {"n": 360}. Wrong: {"n": [12, 15]}; call once '
        "for each."
    )
    asked_by = (
        *("factor", "factorise", "factorize", "factorising", "factorizing"),
        *("factorisation", "factorization", "prime factor", "prime"),
        *("素因数分解", "素因数", "因数分解", "质因数", "質因數", "分解质因数"),
    )
    more, schema = {"asked_by": asked_by, **MORE}, _between(2, FACTORISE_LIMIT)
    return Tool("PrimeFactors", about, schema, prime_factors_of, **more)


def _between(lowest: int, highest: int) -> dict[str, Any]:
    n = {"type": "integer", "minimum": lowest, "maximum": highest}
    return {"properties": {"n": n}, "required": ["n"]}


TOOLS = {"Factorial": factorial, "PrimeFactors": prime_factors}
