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


def stops_at_the_first_invariant(table):
    return _twice(table) or _unreached(table) or _traps(table) or _ways_out(table)


def forgets_two_rows_for_one_event(table):
    return _unreached(table) + _traps(table) + _ways_out(table)


def takes_an_event_in_two_states_for_a_breach(table):
    places = Counter(event for _, event in {(r.source, r.event) for r in table.rules})
    shared = [f"{e} is in {n} states" for e, n in places.items() if n > 1]
    return shared + _twice(table) + _unreached(table) + _traps(table) + _ways_out(table)


def lets_a_run_leave_its_end(table):
    return _twice(table) + _unreached(table) + _traps(table)


WRONG = {
    looks_one_row_back: "test_each_state_that_cannot_be_reached",
    takes_any_way_on_for_a_way_to_an_end: "test_each_trap",
    stops_at_the_first_invariant: "test_every_breach_is_reported",
    forgets_two_rows_for_one_event: "test_two_rows_for_one_event",
    takes_an_event_in_two_states_for_a_breach: "test_an_honest_table_has_no_breach",
    lets_a_run_leave_its_end: "test_a_way_out_of_an_end",
}
