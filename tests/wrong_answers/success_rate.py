"""Plausible wrong answers to `success_rate`, each with the test that must catch it."""

import json
from dataclasses import replace

from workbook.lessons.traces_and_replay import Rate


def as_json(arguments):
    return json.dumps(arguments, sort_keys=True)


def counted(events, inner=False, of_run=True, text=as_json, forgives=True, late=False):
    """Count as one should; each argument makes one mistake."""
    ok = calls = retries = 0
    asked, failed = {}, set()
    for event in events:
        if event.get("call_id") is None or ("parent" in event and not inner):
            continue
        run = event["trace_id"] if of_run else ""
        if event["kind"] == "tool_call":
            call = run, event["tool"], text(event["arguments"])
            asked[run, event["call_id"]] = call, call in failed
        elif event["kind"] == "observation":
            call, is_retry = asked.pop((run, event["call_id"]))
            calls, ok = calls + 1, ok + event["ok"]
            retries += call in failed if late else is_retry
            if not event["ok"]:
                failed.add(call)
            elif forgives:
                failed.discard(call)
    return Rate(ok, calls, retries)


def with_calls(events, kind):
    """Count as calls what is of one kind, and the agent's own."""
    events = list(events)
    own = [e for e in events if e["kind"] == kind and "parent" not in e]
    return replace(counted(events), calls=len(own))


def takes_no_calls_for_one_that_failed(events):
    rate = counted(events)
    return replace(rate, calls=max(rate.calls, 1))


def counts_what_was_asked(events):
    return with_calls(events, "tool_call")


def counts_every_observation(events):
    return with_calls(events, "observation")


def leaves_retries_out(events):
    rate = counted(events)
    return replace(rate, calls=rate.calls - rate.retries)


def takes_every_later_call_for_a_retry(events):
    return counted(events, forgives=False)


def takes_another_question_for_a_retry(events):
    return counted(events, text=lambda arguments: "")


def compares_the_arguments_as_written(events):
    return counted(events, text=str)


def compares_values_as_text(events):
    return counted(events, text=lambda a: str({n: str(a[n]) for n in sorted(a)}))


def looks_when_it_is_observed(events):
    return counted(events, late=True)


def counts_what_a_tool_calls(events):
    return counted(events, inner=True)


def takes_all_for_one_run(events):
    return counted(events, of_run=False)


WRONG = {
    takes_no_calls_for_one_that_failed: "test_no_calls_is_no_figure",
    counts_what_was_asked: "test_calls_and_those_that_went_well",
    counts_every_observation: "test_a_turn_that_nobody_could_read_is_no_call",
    leaves_retries_out: "test_a_retry_is_the_same_call_after_a_failure",
    takes_every_later_call_for_a_retry: "test_a_retry_is_the_same_call_after_a_failure",
    takes_another_question_for_a_retry: "test_a_retry_is_the_same_call_after_a_failure",
    compares_the_arguments_as_written: "test_the_order_of_the_arguments_does_not_count",
    compares_values_as_text: "test_the_order_of_the_arguments_does_not_count",
    looks_when_it_is_observed: "test_calls_in_flight_at_once_are_no_retries",
    counts_what_a_tool_calls: "test_a_call_inside_another_is_not_the_agents_own",
    takes_all_for_one_run: "test_events_of_several_runs",
}
