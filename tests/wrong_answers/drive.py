"""Plausible wrong answers to `drive`, each with the test that must catch it."""

from workbook.runtime.table import Event, IllegalTransition, State


def follow(
    table, handlers, context, emit, *, start=None, ends=None, caught=BaseException,
    cancels=True, looks_up=True, forgets=True, emits_last=True, keeps=True,
):
    """Drive as one should; each argument makes one mistake."""
    state, raised = start or table.start, None
    while state not in (ends or table.ends):
        raised = None if forgets else raised
        try:
            event = handlers[state](context)
            if looks_up:
                table.advance(state, event)
        except caught as error:
            stopped = cancels and isinstance(error, KeyboardInterrupt)
            event, raised = Event.CANCEL if stopped else Event.FAILED, error
            if not keeps and isinstance(error, IllegalTransition):
                raised = None
        target = table.advance(state, event)
        if emits_last or target not in table.ends:
            emit(table.rows[state, event], raised)
        state = target
    return state


def lets_ctrl_c_out(table, handlers, context, emit):
    return follow(table, handlers, context, emit, caught=Exception)


def takes_ctrl_c_for_a_failure(table, handlers, context, emit):
    return follow(table, handlers, context, emit, cancels=False)


def returns_cancelled_and_asks_no_table(table, handlers, context, emit):
    try:
        return follow(table, handlers, context, emit, caught=Exception)
    except KeyboardInterrupt:
        return State.CANCELLED


def lets_a_handler_end_the_program(table, handlers, context, emit):
    return follow(table, handlers, context, emit, caught=(Exception, KeyboardInterrupt))


def never_asks_the_table(table, handlers, context, emit):
    state = table.start
    while state not in table.ends:
        raised, event = None, None
        try:
            event = handlers[state](context)
        except KeyboardInterrupt as error:
            event, raised = Event.CANCEL, error
        except BaseException as error:
            event, raised = Event.FAILED, error
        if (state, event) not in table.rows:
            event, raised = Event.FAILED, IllegalTransition(f"no row for {event}")
        row = table.rows[state, event]
        emit(row, raised)
        state = row.target
    return state


def knows_the_ends_by_heart(table, handlers, context, emit):
    ends = {State.DONE, State.ERROR, State.CANCELLED, State.EXHAUSTED, "STOPPED"}
    return follow(table, handlers, context, emit, ends=ends)


def looks_the_row_up_outside_of_the_try(table, handlers, context, emit):
    return follow(table, handlers, context, emit, looks_up=False)


def keeps_quiet_about_a_missing_row(table, handlers, context, emit):
    return follow(table, handlers, context, emit, keeps=False)


def forgets_to_emit_the_last_row(table, handlers, context, emit):
    return follow(table, handlers, context, emit, emits_last=False)


def always_starts_in_think(table, handlers, context, emit):
    return follow(table, handlers, context, emit, start=State.THINK)


def keeps_what_was_raised(table, handlers, context, emit):
    return follow(table, handlers, context, emit, forgets=False)


def asks_one_handler_everywhere(table, handlers, context, emit):
    first = handlers[table.start]
    return follow(table, dict.fromkeys(table.states, first), context, emit)


WRONG = {
    lets_ctrl_c_out: "test_ctrl_c_is_a_cancel",
    takes_ctrl_c_for_a_failure: "test_ctrl_c_is_a_cancel",
    returns_cancelled_and_asks_no_table: "test_ctrl_c_is_a_cancel",
    never_asks_the_table: "test_the_table_is_asked_where_an_event_leads",
    lets_a_handler_end_the_program: "test_a_handler_that_raises_has_failed",
    knows_the_ends_by_heart: "test_every_end_ends_the_run",
    looks_the_row_up_outside_of_the_try: "test_an_event_without_a_row_has_failed",
    keeps_quiet_about_a_missing_row: "test_an_event_without_a_row_has_failed",
    forgets_to_emit_the_last_row: "test_every_transition_is_emitted",
    always_starts_in_think: "test_the_start_is_the_tables",
    keeps_what_was_raised: "test_what_was_raised_is_emitted_once",
    asks_one_handler_everywhere: "test_each_state_has_its_own_handler",
}
