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
from workbook.loop.turns import Action
from workbook.tools.calls import ToolCall
from workbook.tools.registry import ToolRegistry


@pytest.fixture(scope="module")
def registry():
    return ToolRegistry([factorial(), prime_factors()])


def call(registry, tool, n):
    return registry.run(ToolCall(tool, {"n": n}, "call_1"))


def test_the_limit_is_the_last_that_fits_in_64_bits():
    """20! fits in a signed 64-bit integer and 21! does not"""
    assert (
        math.factorial(FACTORIAL_LIMIT) < 2**63 <= math.factorial(FACTORIAL_LIMIT + 1)
    )


@pytest.mark.parametrize(
    ("n", "expected"), [(0, 1), (5, 120), (20, 2432902008176640000)]
)
def test_factorial_is_exact(registry, n, expected):
    """a factorial up to the limit is exact"""
    assert call(registry, "Factorial", n).result == {"result": expected}


@pytest.mark.parametrize("n", [21, 100, -1, 2.5, "5", [3, 4], None, True])
def test_factorial_refuses_what_it_cannot_take(registry, n):
    """a number beyond the limit, or no integer, is an error and not a crash"""
    observation = call(registry, "Factorial", n)
    assert (observation.ok, observation.error.kind) == (False, "invalid_arguments")


def test_a_list_is_answered_with_one_call_a_value(registry):
    """a list for a tool that takes one number is told to call once per value"""
    refused = registry.bind(Action("", "PrimeFactors", "[91, 143, 221]"))
    assert "once per value" in refused.text().lower()


NAMES = ["n", "num", "number", "numbers", "integer", "value"]


@pytest.mark.parametrize("tool", ["Factorial", "PrimeFactors"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("value", [12, [12], "12"])
def test_the_one_number_goes_by_many_names(registry, tool, name, value):
    """what models call the number is repaired, also where it stands in a list of one"""
    bound = registry.bind(Action("", tool, json.dumps({name: value})))
    assert bound.arguments == {"n": 12}
    assert registry.run(bound).ok


@pytest.mark.parametrize("tool", ["Factorial", "PrimeFactors"])
@pytest.mark.parametrize("name", NAMES)
def test_several_numbers_are_refused_under_every_name(registry, tool, name):
    """three numbers are refused under any name, and told to come one by one"""
    refused = registry.bind(Action("", tool, json.dumps({name: [12, 15, 18]})))
    assert refused.kind == "invalid_arguments"
    assert "call once per value" in refused.text()


@given(st.integers(2, 10**9))
@settings(max_examples=50, deadline=None)
def test_factors_are_primes_with_the_right_product(n):
    """the factors multiply to the number, are primes, and come in order"""
    factors = prime_factors_of(n)["factors"]

    assert math.prod(factors) == n
    assert factors == sorted(factors)
    assert all(f % d for f in set(factors) for d in range(2, math.isqrt(f) + 1))


@pytest.mark.parametrize(
    ("n", "factors"),
    [
        (2, [2]),
        (999_999_999_989, [999_999_999_989]),
        (10**12, [2] * 12 + [5] * 12),
        (999_983**2, [999_983, 999_983]),
    ],
)
def test_factors_at_the_edges(registry, n, factors):
    """the smallest number, the largest prime and the largest number are factored"""
    assert call(registry, "PrimeFactors", n).result == {"n": n, "factors": factors}


@pytest.mark.parametrize("n", [0, 1, 10**12 + 1])
def test_numbers_without_a_factorisation_are_refused(registry, n):
    """0, 1 and numbers beyond the limit are refused"""
    assert not call(registry, "PrimeFactors", n).ok


@pytest.mark.parametrize(("function", "n"), [(factorial_of, 21), (prime_factors_of, 1)])
def test_the_functions_keep_their_limits_themselves(function, n):
    """called without the contract, the function still refuses, with the value"""
    with pytest.raises(ValueError, match=f"n is {n}; use"):
        function(n)
