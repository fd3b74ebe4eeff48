"""Plausible wrong answers to `advance`, each with the test that must catch it."""

from workbook.runtime.table import IllegalTransition


def of_row(table, state, event, message):
    for rule in table.rules:
        if (rule.source, rule.event) == (state, event):
            return rule.target
    legal = [rule.event for rule in table.rules if rule.source == state]
    raise IllegalTransition(message.format(state=state, event=event, legal=legal))


def looks_the_row_up_by_its_event(table, state, event):
    of_row(table, state, event, "{state} has no row for {event}, but for {legal}")
    return {rule.event: rule.target for rule in table.rules}[event]


def gives_none_for_what_is_missing(table, state, event):
    targets = {(rule.source, rule.event): rule.target for rule in table.rules}
    return targets.get((state, event))


def names_the_event_alone(table, state, event):
    return of_row(table, state, event, "no row for {event}, but for {legal}")


def lists_the_events_of_the_table(table, state, event):
    every = [rule.event for rule in table.rules]
    return of_row(table, state, event, f"{{state}} has no row for {{event}}, but for {every}")


def lists_no_events(table, state, event):
    return of_row(table, state, event, "{state} has no row for {event}")


WRONG = {
    looks_the_row_up_by_its_event: "test_state_and_event_choose_the_row",
    gives_none_for_what_is_missing: "test_what_is_not_in_the_table_raises",
    names_the_event_alone: "test_what_is_not_in_the_table_raises",
    lists_the_events_of_the_table: "test_the_message_lists_what_would_be_legal",
    lists_no_events: "test_the_message_lists_what_would_be_legal",
}
