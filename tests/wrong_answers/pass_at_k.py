"""Plausible wrong answers to `pass_at_k`, each with the test that must catch it."""

from math import comb


def checked(n, c, k):
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"c = {c} and k = {k} of n = {n}")


def draws_a_run_twice(n, c, k):
    checked(n, c, k)
    return 1 - (1 - c / n) ** k


def adds_up_the_chances(n, c, k):
    checked(n, c, k)
    return min(1, k * c / n)


def all_of_them_right(n, c, k):
    checked(n, c, k)
    return comb(c, k) / comb(n, k)


def takes_any_numbers(n, c, k):
    return 1 - comb(n - c, k) / comb(n, k)


def multiplies_in_floats(n, c, k):
    checked(n, c, k)
    ways = [1.0, 1.0]
    for i in range(k):
        ways[0] *= float(n - c - i)
        ways[1] *= float(n - i)
    return 1 - ways[0] / ways[1]


WRONG = {
    draws_a_run_twice: "test_as_often_as_k_are_drawn",
    adds_up_the_chances: "test_as_often_as_k_are_drawn",
    all_of_them_right: "test_as_often_as_k_are_drawn",
    takes_any_numbers: "test_what_cannot_be",
    multiplies_in_floats: "test_of_thousands",
}
