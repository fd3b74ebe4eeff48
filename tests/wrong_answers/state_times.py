"""Plausible wrong answers to `state_times`, each with the test that must catch it."""

from collections import defaultdict


def counts_for_the_target(events):
    stays = {}
    for event in events:
        if event["kind"] == "transition":
            stays.setdefault(event["target"], []).append(event["elapsed_s"])
    return stays


def adds_up(events):
    total = {}
    for event in events:
        if event["kind"] == "transition":
            before = total.get(event["source"], 0.0)
            total[event["source"]] = before + event["elapsed_s"]
    return total


def leaves_out_what_took_no_time(events):
    stays = {}
    for event in events:
        if event["kind"] == "transition" and event["elapsed_s"]:
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
    return stays


def sorts_the_states(events):
    stays = defaultdict(list)
    for event in events:
        if event["kind"] == "transition":
            stays[event["source"]].append(event["elapsed_s"])
    return dict(sorted(stays.items()))


def names_every_state(events):
    stays = {}
    for event in events:
        if event["kind"] == "transition":
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
            stays.setdefault(event["target"], [])
    return stays


def leaves_out_the_person(events):
    stays = {}
    for event in events:
        if event["kind"] == "transition" and not event["source"].startswith("PENDING"):
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
    return stays


def looks_for_the_field(events):
    stays = {}
    for event in events:
        if "source" in event:
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
    return stays


def says_none(events):
    stays = {}
    for event in events:
        if event["kind"] == "transition":
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
    return stays or None


def reads_twice(events):
    states = dict.fromkeys(e["source"] for e in events if e["kind"] == "transition")
    return {
        state: [
            event["elapsed_s"]
            for event in events
            if event["kind"] == "transition" and event["source"] == state
        ]
        for state in states
    }


WRONG = {
    counts_for_the_target: "test_the_time_belongs_to_the_state_that_was_left",
    adds_up: "test_each_stay_is_a_number_of_its_own",
    leaves_out_what_took_no_time: "test_each_stay_is_a_number_of_its_own",
    sorts_the_states: "test_the_states_are_in_order",
    names_every_state: "test_a_state_that_was_not_left_is_not_there",
    leaves_out_the_person: "test_waiting_for_a_person_counts",
    looks_for_the_field: "test_other_events_are_not_looked_at",
    says_none: "test_without_transitions_there_are_no_times",
    reads_twice: "test_the_events_may_come_one_by_one",
}
