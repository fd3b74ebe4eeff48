"""Plausible wrong answers to `think`, each with the test that must catch it."""

from workbook.fsm.table import Event, State
from workbook.tools.timeouts import TimedOut


def asks_before_it_looks_at_the_limits(run):
    try:
        completion = run.ask()
    except TimedOut:
        return Event.OUT_OF_TIME
    reply = run.heard(completion)
    return run.limits.before_model_call(run.elapsed()) or reply.event


def has_no_limits(run):
    try:
        return run.heard(run.ask()).event
    except TimedOut:
        return Event.OUT_OF_TIME


def lets_the_timeout_through(run):
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    return run.heard(run.ask()).event


def takes_any_failure_for_a_timeout(run):
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    try:
        return run.heard(run.ask()).event
    except Exception:
        return Event.OUT_OF_TIME


def returns_a_state(run):
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    try:
        reply = run.heard(run.ask())
    except TimedOut:
        return Event.OUT_OF_TIME
    return State.DONE if reply.answer else State.EXECUTE_TOOL


def looks_at_no_clock(run):
    if ran_out := run.limits.before_model_call(run.spent):
        return ran_out
    try:
        return run.heard(run.ask()).event
    except TimedOut:
        return Event.OUT_OF_TIME


def never_reads_the_turn(run):
    if ran_out := run.limits.before_model_call(run.elapsed()):
        return ran_out
    try:
        run.ask()
    except TimedOut:
        return Event.OUT_OF_TIME
    return Event.FINAL_ANSWER


WRONG = {
    asks_before_it_looks_at_the_limits: "test_the_limit_is_asked_before_the_model",
    has_no_limits: "test_the_limit_is_asked_before_the_model",
    lets_the_timeout_through: "test_a_model_that_does_not_answer_in_time",
    takes_any_failure_for_a_timeout: "test_what_a_model_raises_is_the_drivers",
    returns_a_state: "test_it_returns_what_the_model_did",
    looks_at_no_clock: "test_the_clock_is_looked_at",
    never_reads_the_turn: "test_the_model_is_asked_once",
}
