"""Tools that take one integer, and a log that is far too long."""

import math
from functools import partial
from typing import Any

from workbook.worlds.catalogue import contract

LOG_BEGINS = """02:13 The shop takes its last order of the night.
02:14 The shop stops: the disk of db-3 was full."""


def _factorial(n: int) -> dict[str, Any]:
    _check(n, 0, 20)  # 20! is the last one that fits in 64 bits
    return {"result": math.factorial(n)}


def _factors(n: int) -> dict[str, Any]:
    _check(n, 2, 10**12)  # at most a million divisors to try: under 0.2 s
    factors, rest, divisor = list[int](), n, 2
    while divisor * divisor <= rest:
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
        divisor += 1
    return {"n": n, "factors": factors + [rest] * (rest > 1)}


def _check(n: int, lowest: int, highest: int) -> None:
    if not lowest <= n <= highest:  # who reads no schema can be beyond its limits
        raise ValueError(f"n is {n}; use an integer from {lowest} to {highest}")


def _log(which: str) -> dict[str, Any]:
    jobs = (f"02:15 Job {n:05} of the backup ended well." for n in range(5000))
    return {"result": "\n".join([LOG_BEGINS, *jobs])[:200_000]}


factorial = partial(contract, "Factorial", _factorial)
prime_factorization = partial(contract, "PrimeFactors", _factors)
TOOLS = {
    "Factorial": lambda: [factorial()],
    "PrimeFactors": lambda: [prime_factorization()],
    "ReadLog": lambda: [contract("ReadLog", _log)],
}
