"""Plausible wrong answers to `wilson_interval`, and the test that must catch each."""

import math


def parts(successes, n, z):
    if n < 1 or not 0 <= successes <= n or not 0 <= z < math.inf:
        raise ValueError("no rate")
    p = successes / n
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return p, p + z * z / (2 * n), half, 1 + z * z / n


def the_normal_interval(successes, n, z=1.96):
    p, _, _, _ = parts(successes, n, z)
    half = z * math.sqrt(p * (1 - p) / n)
    low = 0.0 if successes == 0 else max(0.0, p - half)
    return low, 1.0 if successes == n else min(1.0, p + half)


def does_not_divide(successes, n, z=1.96):
    _, centre, half, _ = parts(successes, n, z)
    low = 0.0 if successes == 0 else centre - half
    return low, 1.0 if successes == n else centre + half


def leaves_the_ends_to_rounding(successes, n, z=1.96):
    _, centre, half, scale = parts(successes, n, z)
    return (centre - half) / scale, (centre + half) / scale


def knows_one_z(successes, n, z=1.96):
    _, centre, half, scale = parts(successes, n, max(z, 0) and 1.96)
    low = 0.0 if successes == 0 else (centre - half) / scale
    return low, 1.0 if successes == n else (centre + half) / scale


def takes_any_counts(successes, n, z=1.96):
    if not 0 <= z < math.inf:
        raise ValueError("no z")
    if n < 1 or not 0 <= successes <= n:
        return 0.0, 1.0
    _, centre, half, scale = parts(successes, n, z)
    low = 0.0 if successes == 0 else (centre - half) / scale
    return low, 1.0 if successes == n else (centre + half) / scale


def asks_only_whether_z_is_negative(successes, n, z=1.96):
    if z < 0:
        raise ValueError("no z")
    if not z < math.inf:
        return 0.0, 1.0
    _, centre, half, scale = parts(successes, n, z)
    low = 0.0 if successes == 0 else (centre - half) / scale
    return low, 1.0 if successes == n else (centre + half) / scale


WRONG = {
    the_normal_interval: "test_the_interval_is_wilsons",
    does_not_divide: "test_the_interval_is_wilsons",
    leaves_the_ends_to_rounding: "test_nothing_and_everything_stay_possible",
    knows_one_z: "test_z_is_how_sure_one_wants_to_be",
    takes_any_counts: "test_impossible_counts_are_refused",
    asks_only_whether_z_is_negative: "test_an_impossible_z_is_refused",
}
