"""At least one of k runs is right."""

from itertools import combinations

import pytest


def test_as_often_as_k_are_drawn(pass_at_k):
    """of all ways to draw k of n runs, none twice, the share with a right one"""
    assert pass_at_k(5, 2, 3) == pytest.approx(0.9), "1 - 0.6 ** 3 draws a run twice"
    for n in range(1, 7):
        for c in range(n + 1):
            for k in range(1, n + 1):
                drawn = list(combinations([True] * c + [False] * (n - c), k))
                share = sum(map(any, drawn)) / len(drawn)
                assert pass_at_k(n, c, k) == pytest.approx(share)


# Counting all the ways is right as well: it takes twice as long at each step, and is
# told so at one that comes to its end. Of thousands it would be deaf for ever.
@pytest.mark.parametrize("n", [25, 26, 27, 28, 10_000])
def test_of_thousands(pass_at_k, n):
    """it is correct for thousands of runs, too"""
    assert pass_at_k(n, 1, n // 2) == pytest.approx(n // 2 / n)


@pytest.mark.parametrize(("n", "c", "k"), [(5, 6, 1), (5, -1, 1), (5, 2, 0), (5, 2, 6)])
def test_what_cannot_be(pass_at_k, n, c, k):
    """a c outside 0 to n, or a k outside 1 to n, is a ValueError with its value"""
    with pytest.raises(ValueError, match=str(k if 0 <= c <= n else c)):
        pass_at_k(n, c, k)
