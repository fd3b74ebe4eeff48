"""Plausible wrong answers to `audit`, each with the test that must catch it."""

from collections import Counter



def _twice(table):
    count = Counter((rule.source, rule.event) for rule in table.rules)
    return [f"{s} has {n} rows for {e}" for (s, e), n in count.items() if n > 1]


def _closure(found, arrows):
    while new := {b for a, b in arrows if a in found} - found:
        found = found | new
    return found


def _unreached(table):
    found = _closure({table.start}, [(r.source, r.target) for r in table.rules])
    return [f"{state} is never reached" for state in table.states if state not in found]


def _traps(table):
    found = _closure(set(table.ends), [(r.target, r.source) for r in table.rules])
    return [f"{state} is a trap" for state in table.states if state not in found]


def _ways_out(table):
    return [f"{r.source} is an end" for r in table.rules if r.source in table.ends]


def looks_one_row_back(table):
    targets = {rule.target for rule in table.rules} | {table.start}
    lost = [f"{state} is never reached" for state in table.states if state not in targets]
    return _twice(table) + lost + _traps(table) + _ways_out(table)


def takes_any_way_on_for_a_way_to_an_end(table):
    sources = {rule.source for rule in table.rules} | table.ends
    traps = [f"{state} is a trap" for state in table.states if state not in sources]
    return _twice(table) + _unreached(table) + traps + _ways_out(table)


def stops_at_the_first_breach(table):
    found = _twice(table) + _unreached(table) + _traps(table) + _ways_out(table)
    return found[:1]


def forgets_two_rows_for_one_event(table):
    return _unreached(table) + _traps(table) + _ways_out(table)


WRONG = {
    looks_one_row_back: "test_a_row_from_an_unreached_state_does_not_count",
    takes_any_way_on_for_a_way_to_an_end: "test_two_states_that_lead_only_to_each_other_are_traps",
    stops_at_the_first_breach: "test_every_breach_is_reported",
    forgets_two_rows_for_one_event: "test_two_rows_for_one_event",
}
