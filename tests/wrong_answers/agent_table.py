"""Plausible wrong answers to `agent_table`, each with the test that must catch it."""

from workbook.fsm.table import CORE, Event, Transition, State, Table, exits


def returns_the_rules_alone():
    return CORE.rules


def forgets_cancel_and_failure():
    words = (Event.CANCEL, Event.FAILED)
    return Table(tuple(rule for rule in CORE.rules if rule.event not in words))


def an_unreadable_turn_goes_back_to_the_model():
    return CORE.with_rules(Transition(State.THINK, Event.UNREADABLE_TURN, State.THINK, "again"))


def ends_in_an_error_when_steps_run_out():
    return CORE.with_rules(Transition(State.THINK, Event.OUT_OF_STEPS, State.ERROR, "too long"))


def leads_out_of_the_end():
    return CORE.with_rules(*exits(State.DONE))


def forgets_a_second_call():
    return Table(tuple(rule for rule in CORE.rules if rule.event != Event.MORE_CALLS))


def has_a_row_too_many():
    return CORE.with_rules(Transition(State.OBSERVE, Event.OUT_OF_TIME, State.EXHAUSTED, "late"))


WRONG = {
    returns_the_rules_alone: "test_what_the_model_did",
    forgets_cancel_and_failure: "test_everywhere_the_user_may_stop_and_something_may_break",
    an_unreadable_turn_goes_back_to_the_model: "test_an_unreadable_turn_is_observed",
    ends_in_an_error_when_steps_run_out: "test_what_has_run_out_exhausts",
    leads_out_of_the_end: "test_it_is_an_honest_table",
    forgets_a_second_call: "test_more_calls_are_made_first",
    has_a_row_too_many: "test_nothing_else_can_happen",
}
