"""Plausible wrong answers to `think`, each with the test that must catch it."""

from workbook.runtime.table import Event, State
from workbook.runtime.waiting import TimedOut


def turn_of(run, caught=TimedOut):
    """Ask the model and read its turn; what is caught is OUT_OF_TIME."""
    try:
        return run.read(run.ask()).event
    except caught:
        return Event.OUT_OF_TIME


def limit(run):
    return run.limits.before_model_call(run.elapsed())


def asks_before_it_looks_at_the_limits(run):
    event = turn_of(run)
    return limit(run) or event


def lets_the_timeout_through(run):
    return limit(run) or turn_of(run, caught=())


def takes_any_failure_for_a_timeout(run):
    return limit(run) or turn_of(run, caught=Exception)


def returns_a_state(run):
    event = limit(run) or turn_of(run)
    states = {Event.FINAL_ANSWER: State.DONE, Event.TOOL_REQUESTED: State.EXECUTE_TOOL}
    return states.get(event, event)


def looks_at_no_clock(run):
    return run.limits.before_model_call(run.spent) or turn_of(run)


def asks_once_more_for_the_result(run):
    return limit(run) or turn_of(run) and turn_of(run)


WRONG = {
    asks_before_it_looks_at_the_limits: "test_the_limit_is_asked_before_the_model",
    lets_the_timeout_through: "test_a_model_that_does_not_answer_in_time",
    takes_any_failure_for_a_timeout: "test_what_a_model_raises_is_the_drivers",
    returns_a_state: "test_it_returns_what_the_model_did",
    looks_at_no_clock: "test_the_clock_is_looked_at",
    asks_once_more_for_the_result: "test_the_model_is_asked_once",
}
