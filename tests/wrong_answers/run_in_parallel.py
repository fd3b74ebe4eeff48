"""Plausible wrong answers to `run_in_parallel`, each with the test that catches it."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby

from workbook.runtime.wrappers import failed


def tried(run, call, caught=Exception):
    try:
        return run(call)
    except caught as error:
        return failed(call, error)


def made(calls, run, is_read, at_once=8, *, one=tried, size=None, in_order=True):
    """Make calls as one should; each argument makes one mistake."""
    seen = []
    for reads, group in groupby(calls, is_read):
        group = list(group)
        workers = size(group) if size else at_once
        with ThreadPoolExecutor(workers if reads else 1) as pool:
            asked = [pool.submit(one, run, call) for call in group]
            asked = asked if in_order else as_completed(asked)
            seen += [each.result() for each in asked]
    return seen


def one_after_the_other(calls, run, is_read, at_once=8):
    return [tried(run, call) for call in calls]


def all_at_once(calls, run, is_read, at_once=8):
    return made(calls, run, lambda call: True, at_once)


def as_they_come(*given):
    return made(*given, in_order=False)


def one_error_sinks_all(*given):
    return made(*given, one=lambda run, call: run(call))


def catches_what_a_network_raises(*given):
    return made(*given, one=lambda run, call: tried(run, call, OSError))


def lets_a_write_raise(calls, run, is_read, at_once=8):
    def one(run, call):
        return tried(run, call) if is_read(call) else run(call)

    return made(calls, run, is_read, at_once, one=one)


def has_a_thread_for_each_call(calls, run, is_read, at_once=8):
    with ThreadPoolExecutor(min(at_once, len(calls))) as pool:
        return made(calls, run, is_read, pool._max_workers)


def nobody_can_stop_it(*given):
    return made(*given, one=lambda run, call: tried(run, call, BaseException))


def as_many_as_there_are(*given):
    return made(*given, size=len)


WRONG = {
    one_after_the_other: "test_reads_that_stand_side_by_side_are_made_at_once",
    all_at_once: "test_a_write_is_made_alone",
    as_they_come: "test_observations_keep_the_order_of_asking",
    one_error_sinks_all: "test_a_call_that_raises_is_one_failed_observation",
    catches_what_a_network_raises: "test_a_call_that_raises_is_one_failed_observation",
    lets_a_write_raise: "test_a_call_that_raises_is_one_failed_observation",
    has_a_thread_for_each_call: "test_no_calls_no_observations",
    nobody_can_stop_it: "test_a_person_can_stop_it",
    as_many_as_there_are: "test_no_more_than_so_many_at_once",
}
