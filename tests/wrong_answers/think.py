"""Plausible wrong answers to `think`, each with the test that must catch it."""

from workbook.fsm.table import Event, State
from workbook.tools.threads import TimedOut


def heard(run, caught=TimedOut, reads=True):
    """Ask the model and read its turn; what is caught is OUT_OF_TIME."""
    try:
        completion = run.ask()
        return run.heard(completion).event if reads else Event.FINAL_ANSWER
    except caught:
        return Event.OUT_OF_TIME


def limit(run):
    return run.limits.before_model_call(run.elapsed())


def asks_before_it_looks_at_the_limits(run):
    event = heard(run)
    return limit(run) or event


def lets_the_timeout_through(run):
    return limit(run) or heard(run, caught=())


def takes_any_failure_for_a_timeout(run):
    return limit(run) or heard(run, caught=Exception)


def returns_a_state(run):
    event = limit(run) or heard(run)
    states = {Event.FINAL_ANSWER: State.DONE, Event.TOOL_REQUESTED: State.EXECUTE_TOOL}
    return states.get(event, event)


def looks_at_no_clock(run):
    return run.limits.before_model_call(run.spent) or heard(run)


def never_reads_the_turn(run):
    return limit(run) or heard(run, reads=False)


WRONG = {
    asks_before_it_looks_at_the_limits: "test_the_limit_is_asked_before_the_model",
    lets_the_timeout_through: "test_a_model_that_does_not_answer_in_time",
    takes_any_failure_for_a_timeout: "test_what_a_model_raises_is_the_drivers",
    returns_a_state: "test_it_returns_what_the_model_did",
    looks_at_no_clock: "test_the_clock_is_looked_at",
    never_reads_the_turn: "test_the_model_is_asked_once",
}
