"""Plausible wrong answers to `advance`, each with the test that must catch it."""

from workbook.fsm.table import IllegalTransition


def looks_at_the_event_alone(table, state, event):
    for rule in table.rules:
        if rule.event == event:
            return rule.target
    legal = [rule.event for rule in table.rules if rule.source == state]
    raise IllegalTransition(f"{state} has no row for {event}, only for {legal}")


def gives_none_for_what_is_missing(table, state, event):
    targets = {(rule.source, rule.event): rule.target for rule in table.rules}
    return targets.get((state, event))


def stays_where_it_is(table, state, event):
    for rule in table.rules:
        if rule.source == state and rule.event == event:
            return rule.target
    return state


def says_only_that_it_is_illegal(table, state, event):
    for rule in table.rules:
        if rule.source == state and rule.event == event:
            return rule.target
    raise IllegalTransition("this is not in the table")


WRONG = {
    looks_at_the_event_alone: "test_one_event_means_something_else_in_another_state",
    gives_none_for_what_is_missing: "test_what_is_not_in_the_table_raises",
    stays_where_it_is: "test_what_is_not_in_the_table_raises",
    says_only_that_it_is_illegal: "test_the_message_names_state_and_event",
}
