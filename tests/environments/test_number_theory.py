"""The two tools for one integer: exact within their limits, an error beyond them."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.number_theory import (
    FACTORIAL_LIMIT,
    factorial,
    factorial_of,
    prime_factors,
    prime_factors_of,
)
from workbook.runtime.calls import ToolCall
from workbook.runtime.tools import ToolRegistry
from workbook.runtime.turns import Action

REGISTRY = ToolRegistry([factorial(), prime_factors()])
BIG, SQUARE = 999_999_999_989, 999_983**2


def call(tool, n):
    return REGISTRY.run(ToolCall(tool, {"n": n}, "call_1"))


@pytest.mark.parametrize(
    ("tool", "n", "result"),
    [
        *(("Factorial", n, {"result": math.factorial(n)}) for n in (0, 5, 20)),
        ("PrimeFactors", 2, {"n": 2, "factors": [2]}),
        ("PrimeFactors", BIG, {"n": BIG, "factors": [BIG]}),
        ("PrimeFactors", 10**12, {"n": 10**12, "factors": [2] * 12 + [5] * 12}),
        ("PrimeFactors", SQUARE, {"n": SQUARE, "factors": [999_983, 999_983]}),
    ],
)
def test_both_are_exact_up_to_their_limits(tool, n, result):
    """the smallest and the largest number that they take are answered exactly"""
    assert call(tool, n).result == result
    assert math.factorial(FACTORIAL_LIMIT) < 2**63 <= math.factorial(21)


@pytest.mark.parametrize(
    ("tool", "n"),
    [
        ("Factorial", 21),
        ("Factorial", 2.5),
        ("PrimeFactors", 1),
        ("PrimeFactors", BIG * 9),
    ],
)
def test_what_they_cannot_take_is_refused(tool, n):
    """a number beyond the limits, or no integer, is an error and not a crash"""
    assert call(tool, n).error.kind == "invalid_arguments"


@pytest.mark.parametrize(("function", "n"), [(factorial_of, 21), (prime_factors_of, 1)])
def test_the_functions_keep_their_limits_themselves(function, n):
    """called without the contract, the function still refuses, with the value"""
    with pytest.raises(ValueError, match=f"n is {n}; use"):
        function(n)


@pytest.mark.parametrize("tool", ["Factorial", "PrimeFactors"])
@pytest.mark.parametrize("name", ["n", "numbers"])
def test_the_one_number_goes_by_many_names(tool, name):
    """what models call the number is repaired; several are to come one by one"""
    for value in (12, [12], "12"):
        bound = REGISTRY.bind(Action("", tool, json.dumps({name: value})))
        assert bound.arguments == {"n": 12}
    refused = REGISTRY.bind(Action("", tool, json.dumps({name: [12, 15, 18]})))
    assert (refused.kind, "call once per value" in refused.text()) == (
        *("invalid_arguments", True),
    )


@given(st.integers(2, 10**9))
@settings(max_examples=50, deadline=None)
def test_factors_are_primes_with_the_right_product(n):
    """the factors multiply to the number, are primes, and come in order"""
    factors = prime_factors_of(n)["factors"]
    assert math.prod(factors) == n
    assert factors == sorted(factors)
    assert all(f % d for f in set(factors) for d in range(2, math.isqrt(f) + 1))
