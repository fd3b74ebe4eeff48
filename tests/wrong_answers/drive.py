"""Plausible wrong answers to `drive`, each with the test that must catch it."""

from workbook.fsm.table import Event, State


def lets_exceptions_out(table, handlers, context, emit):
    state = table.start
    while state not in table.ends:
        event = handlers[state](context)
        rule = table.rows[state, event]
        state = table.advance(state, event)
        emit(rule, None)
    return state


def waits_for_done(table, handlers, context, emit):
    state = table.start
    while state is not State.DONE:
        raised = None
        try:
            event = handlers[state](context)
            table.advance(state, event)
        except Exception as error:
            event, raised = Event.FAILED, error
        rule = table.rows[state, event]
        state = rule.target
        emit(rule, raised)
    return state


def advances_outside_of_the_try(table, handlers, context, emit):
    state = table.start
    while state not in table.ends:
        raised = None
        try:
            event = handlers[state](context)
        except Exception as error:
            event, raised = Event.FAILED, error
        rule = table.rows[state, event]
        state = table.advance(state, event)
        emit(rule, raised)
    return state


def forgets_to_tell_the_last_row(table, handlers, context, emit):
    state = table.start
    while True:
        raised = None
        try:
            event = handlers[state](context)
            table.advance(state, event)
        except Exception as error:
            event, raised = Event.FAILED, error
        rule = table.rows[state, event]
        state = rule.target
        if state in table.ends:
            return state
        emit(rule, raised)


def always_starts_in_think(table, handlers, context, emit):
    state = State.THINK
    while state not in table.ends:
        raised = None
        try:
            event = handlers[state](context)
            table.advance(state, event)
        except Exception as error:
            event, raised = Event.FAILED, error
        rule = table.rows[state, event]
        state = rule.target
        emit(rule, raised)
    return state


def keeps_what_was_raised(table, handlers, context, emit):
    state, raised = table.start, None
    while state not in table.ends:
        try:
            event = handlers[state](context)
            table.advance(state, event)
        except Exception as error:
            event, raised = Event.FAILED, error
        rule = table.rows[state, event]
        state = rule.target
        emit(rule, raised)
    return state


WRONG = {
    keeps_what_was_raised: "test_what_was_raised_is_told_once",
    lets_exceptions_out: "test_a_handler_that_raises_has_failed",
    waits_for_done: "test_every_end_ends_the_run",
    advances_outside_of_the_try: "test_an_event_without_a_row_has_failed",
    forgets_to_tell_the_last_row: "test_every_transition_is_told",
    always_starts_in_think: "test_the_start_is_the_tables",
}
