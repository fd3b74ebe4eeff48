"""Plausible wrong answers to `wilson_interval`, and the test that must catch each."""

import math


def interval(successes, n, z=1.96, *, scaled=True, exact=True, root=True, of_z=float,
             counts=True, is_z=lambda z: 0 <= z < math.inf):  # fmt: skip
    """Return the interval as one should; each argument makes one mistake."""
    is_rate = n > 0 and 0 <= successes <= n
    if not is_z(z) or (counts and not is_rate):
        raise ValueError("no rate")
    if not is_rate or not math.isfinite(z):
        return 0.0, 1.0
    p, z = successes / n, of_z(z)
    half = z * math.sqrt(p * (1 - p) / n + (z * z / (4 * n * n) if root else 0))
    centre, scale = p + z * z / (2 * n), 1 + z * z / n if scaled else 1
    low = 0.0 if exact and successes == 0 else (centre - half) / scale
    return low, 1.0 if exact and successes == n else (centre + half) / scale


def takes(**mistake):
    """Return a function that makes one of these mistakes."""
    return lambda successes, n, z=1.96: interval(successes, n, z, **mistake)


WILSON = "test_the_interval_is_wilsons"

WRONG = {
    takes(root=False): WILSON,
    takes(scaled=False): WILSON,
    takes(exact=False): "test_nothing_and_everything_stay_possible",
    takes(of_z=lambda z: 1.96): "test_z_is_how_sure_one_wants_to_be",
    takes(counts=False): "test_impossible_counts_are_refused",
    takes(is_z=lambda z: not z < 0): "test_an_impossible_z_is_refused",
}
