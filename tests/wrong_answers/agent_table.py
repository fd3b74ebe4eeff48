"""Plausible wrong answers to `agent_table`, each with the test that must catch it."""

from workbook.runtime.table import CORE, Event, State, Table, Transition, exits


def without(*events):
    return Table(tuple(rule for rule in CORE.rules if rule.event not in events))


def forgets_cancel_and_failure():
    return without(Event.CANCEL, Event.FAILED)


def forgets_that_a_call_takes_time():
    rows = [r for r in CORE.rules if r[:2] != (State.EXECUTE_TOOL, Event.OUT_OF_TIME)]
    return Table(tuple(rows))


def asks_the_model_again_without_a_word():
    return CORE.with_rules(Transition(State.THINK, Event.UNREADABLE_TURN, State.THINK, "again"))


def ends_in_an_error_when_steps_run_out():
    return CORE.with_rules(Transition(State.THINK, Event.OUT_OF_STEPS, State.ERROR, "too long"))


def goes_from_a_tool_to_the_model():
    row = Transition(State.EXECUTE_TOOL, Event.TOOL_RETURNED, State.THINK, "its turn")
    return CORE.with_rules(row)


def leads_out_of_the_end():
    return CORE.with_rules(*exits(State.DONE))


def forgets_a_second_call():
    return without(Event.MORE_CALLS)


def accepts_a_result_that_no_tool_gave():
    return CORE.with_rules(Transition(State.THINK, Event.TOOL_RETURNED, State.OBSERVE, "fine"))


def has_two_ways_for_one_event():
    return Table((Transition(State.THINK, Event.FINAL_ANSWER, State.ERROR, "or so"), *CORE.rules))


def starts_with_a_tool():
    return CORE.with_rules(start=State.EXECUTE_TOOL)


WRONG = {
    forgets_cancel_and_failure: "test_everywhere_the_user_may_stop_and_something_may_break",
    forgets_that_a_call_takes_time: "test_what_has_run_out_before_a_tool_call_exhausts",
    asks_the_model_again_without_a_word: "test_an_unreadable_turn_is_observed",
    ends_in_an_error_when_steps_run_out: "test_what_has_run_out_before_a_model_call_exhausts",
    goes_from_a_tool_to_the_model: "test_a_tool_is_observed_and_the_model_asked_again",
    leads_out_of_the_end: "test_nothing_else_can_happen",
    forgets_a_second_call: "test_more_calls_are_made_first",
    accepts_a_result_that_no_tool_gave: "test_nothing_else_can_happen",
    has_two_ways_for_one_event: "test_one_event_has_one_way",
    starts_with_a_tool: "test_an_answer_ends_the_run",
}
