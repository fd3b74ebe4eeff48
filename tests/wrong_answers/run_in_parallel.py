"""Plausible wrong answers to `run_in_parallel`, each with the test that catches it."""

from concurrent.futures import ThreadPoolExecutor, as_completed
from itertools import groupby

from workbook.tools.parallel import failed


def tried(run, call):
    try:
        return run(call)
    except Exception as error:
        return failed(call, error)


def one_after_the_other(calls, run, is_read, at_once=8):
    return [tried(run, call) for call in calls]


def all_at_once(calls, run, is_read, at_once=8):
    with ThreadPoolExecutor(at_once) as pool:
        return list(pool.map(lambda call: tried(run, call), calls))


def as_they_come(calls, run, is_read, at_once=8):
    seen = []
    for reads, group in groupby(calls, is_read):
        with ThreadPoolExecutor(at_once if reads else 1) as pool:
            asked = [pool.submit(tried, run, call) for call in group]
            seen += [each.result() for each in as_completed(asked)]
    return seen


def one_error_sinks_all(calls, run, is_read, at_once=8):
    seen = []
    for reads, group in groupby(calls, is_read):
        with ThreadPoolExecutor(at_once if reads else 1) as pool:
            seen += pool.map(run, group)
    return seen


def writes_first(calls, run, is_read, at_once=8):
    writes = [call for call in calls if not is_read(call)]
    reads = [call for call in calls if is_read(call)]
    seen = {call.call_id: tried(run, call) for call in writes}
    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(lambda call: tried(run, call), reads))
    seen |= {call.call_id: each for call, each in zip(reads, found, strict=True)}
    return [seen[call.call_id] for call in calls]


def as_many_as_there_are(calls, run, is_read, at_once=8):
    seen = []
    for reads, group in groupby(calls, is_read):
        group = list(group)
        with ThreadPoolExecutor(len(group) if reads else 1) as pool:
            seen += pool.map(lambda call: tried(run, call), group)
    return seen


WRONG = {
    one_after_the_other: "test_reads_that_stand_side_by_side_are_made_at_once",
    all_at_once: "test_a_write_is_made_alone",
    as_they_come: "test_observations_keep_the_order_of_asking",
    one_error_sinks_all: "test_a_call_that_raises_is_one_failed_observation",
    writes_first: "test_a_write_is_made_alone",
    as_many_as_there_are: "test_no_more_than_so_many_at_once",
}
