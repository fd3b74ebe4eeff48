"""Plausible wrong answers to `compare_claim`, each with the test that must catch it."""

from workbook.lessons.read_the_claims import ClaimVerdict, Compared
from workbook.lessons.read_the_claims import compare_claim as good


def places_of(claimed, table):
    return [(r, c) for r in table for c in table[r] if table[r][c] == claimed]


def compares_texts(claimed, row, column, table):
    truth = table.get(row, {}).get(column, "–")
    others = sorted(set(places_of(claimed, table)) - {(row, column)})
    if truth == "–":
        return Compared(ClaimVerdict.NOT_REPORTED, None, others)
    missed = ClaimVerdict.ELSEWHERE if others else ClaimVerdict.WRONG
    return Compared(ClaimVerdict.RIGHT if claimed == truth else missed, truth, others)


def rounds_the_claim(claimed, row, column, table):
    found = good(claimed, row, column, table)
    if found.truth and "." not in found.truth:
        near = round(float(claimed)) == int(found.truth)
        return found._replace(verdict=ClaimVerdict.RIGHT) if near else found
    return found


def rounds_half_to_even(claimed, row, column, table):
    found = good(claimed, row, column, table)
    is_right = found.verdict == ClaimVerdict.RIGHT and len(claimed) < len(found.truth)
    if is_right and round(float(found.truth)) != float(claimed):
        return found._replace(verdict=ClaimVerdict.WRONG)
    return found


def takes_half_a_unit_either_way(claimed, row, column, table):
    found = good(claimed, row, column, table)
    near = found.truth and abs(float(claimed) - float(found.truth)) <= 0.5
    rounded = near and "." not in claimed and "." in found.truth
    return found._replace(verdict=ClaimVerdict.RIGHT) if rounded else found


def returns_the_claim_as_the_truth(claimed, row, column, table):
    found = good(claimed, row, column, table)
    return found._replace(truth=claimed) if found.verdict == "right" else found


def calls_another_place_wrong(claimed, row, column, table):
    found = good(claimed, row, column, table)
    wrong = found.verdict == ClaimVerdict.ELSEWHERE
    return found._replace(verdict=ClaimVerdict.WRONG) if wrong else found


def calls_what_is_nowhere_not_reported(claimed, row, column, table):
    found = good(claimed, row, column, table)
    wrong = found.verdict == ClaimVerdict.WRONG
    return found._replace(verdict=ClaimVerdict.NOT_REPORTED) if wrong else found


def looks_in_one_column(claimed, row, column, table):
    same = {r: {column: f[column]} for r, f in table.items() if column in f}
    return good(claimed, row, column, same)


def calls_a_gap_wrong(claimed, row, column, table):
    found = good(claimed, row, column, table)
    gap = found.verdict == "not reported"
    return found._replace(verdict=ClaimVerdict.WRONG) if gap else found


def forgets_the_dash(claimed, row, column, table):
    found = good(claimed, row, column, table)
    if table.get(row, {}).get(column) == "–":
        return found._replace(verdict=ClaimVerdict.WRONG, truth="–")
    return found


def names_its_own_place(claimed, row, column, table):
    found = good(claimed, row, column, table)
    own = [(row, column)] if found.verdict == "right" else []
    return found._replace(places=sorted([*own, *found.places]))


def names_one_place(claimed, row, column, table):
    found = good(claimed, row, column, table)
    return found._replace(places=found.places[:1])


WRONG = {
    compares_texts: "test_a_rounded_figure",
    rounds_the_claim: "test_decimals_that_the_table_has_not",
    rounds_half_to_even: "test_a_rounded_figure",
    takes_half_a_unit_either_way: "test_a_rounded_figure",
    returns_the_claim_as_the_truth: "test_a_right_figure",
    calls_another_place_wrong: "test_another_place",
    calls_what_is_nowhere_not_reported: "test_a_figure_that_is_nowhere",
    looks_in_one_column: "test_another_place",
    calls_a_gap_wrong: "test_no_figure_to_compare_with",
    forgets_the_dash: "test_no_figure_to_compare_with",
    names_its_own_place: "test_a_right_figure",
    names_one_place: "test_all_the_other_places",
}
