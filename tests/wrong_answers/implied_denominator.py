"""Plausible wrong answers to `implied_denominator`, each with its test."""

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal

from workbook.lessons.read_the_claims import implied_denominator, roundings


def pairs(most):
    return [(k, n) for n in range(1, most + 1) for k in range(n + 1)]


def rounds_as_python_does(percent, decimals=2, most=30):
    return [(k, n) for k, n in pairs(most) if round(100 * k / n, decimals) == percent]


def takes_half_a_unit_either_way(percent, decimals=2, most=30):
    shown, half = Decimal(str(percent)), Decimal(1).scaleb(-decimals) / 2
    return [p for p in pairs(most) if abs(share(*p) - shown) <= half]


def rounds_half_a_unit_down(percent, decimals=2, most=30):
    shown, place = Decimal(str(percent)), Decimal(1).scaleb(-decimals)
    ways = ROUND_HALF_UP, ROUND_HALF_DOWN
    return [
        p
        for p in pairs(most)
        if shown in {share(*p).quantize(place, way) for way in ways}
    ]


def rounds_half_a_unit_down_with_decimals(percent, decimals=2, most=30):
    rounds = rounds_half_a_unit_down if decimals else implied_denominator
    return rounds(percent, decimals, most)


def reads_the_decimals_off_the_number(percent, decimals=2, most=30):
    shown = Decimal(str(percent))
    decimals = min(decimals, max(0, -shown.as_tuple().exponent))
    return [p for p in pairs(most) if shown in roundings(share(*p), decimals)]


def looks_up_to_25(percent, decimals=2, most=25):
    shown = Decimal(str(percent))
    return [p for p in pairs(most) if shown in roundings(share(*p), decimals)]


def takes_the_first(percent, decimals=2, most=30):
    shown = {Decimal(str(percent))}
    found = [p for p in pairs(most) if shown & roundings(share(*p), decimals)]
    return found[:1]


def stops_before_most(percent, decimals=2, most=30):
    shown = {Decimal(str(percent))}
    return [p for p in pairs(most - 1) if shown & roundings(share(*p), decimals)]


def leaves_none_and_all_out(percent, decimals=2, most=30):
    shown = {Decimal(str(percent))}
    inner = [(k, n) for k, n in pairs(most) if 0 < k < n]
    return [p for p in inner if shown & roundings(share(*p), decimals)]


def share(k, n):
    return Decimal(100 * k) / n


WRONG = {
    rounds_as_python_does: "test_both_ways_of_rounding_count",
    rounds_half_a_unit_down: "test_both_ways_of_rounding_count",
    rounds_half_a_unit_down_with_decimals: "test_both_ways_of_rounding_count",
    takes_half_a_unit_either_way: "test_both_ways_of_rounding_count",
    looks_up_to_25: "test_the_fractions_that_round_to_it",
    reads_the_decimals_off_the_number: "test_the_last_zeros_are_printed_too",
    takes_the_first: "test_the_fractions_that_round_to_it",
    stops_before_most: "test_most_is_the_largest_n",
    leaves_none_and_all_out: "test_none_and_all",
}
