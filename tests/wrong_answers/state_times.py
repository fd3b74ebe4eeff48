"""Plausible wrong answers to `state_times`, each with the test that must catch it."""

from workbook.lessons.traces_and_replay import state_times as right


def counts_for_the_target(events):
    return right({**event, "source": event.get("target")} for event in events)


def adds_up(events):
    return {state: [sum(stays)] for state, stays in right(events).items()}


def leaves_out_what_took_no_time(events):
    return right(event for event in events if event.get("elapsed_s"))


def sorts_the_states(events):
    return dict(sorted(right(events).items()))


def names_every_state(events):
    stays = {}
    for event in events:
        if event["kind"] == "transition":
            stays.setdefault(event["source"], []).append(event["elapsed_s"])
            stays.setdefault(event["target"], [])
    return stays


def looks_for_the_field(events):
    return right({**each, "kind": "transition"} for each in events if "source" in each)


def reads_twice(events):
    states = [event["source"] for event in events if event["kind"] == "transition"]
    moved = [event for event in events if event["kind"] == "transition"]
    return {s: [e["elapsed_s"] for e in moved if e["source"] == s] for s in states}


WRONG = {
    counts_for_the_target: "test_the_time_belongs_to_the_state_that_was_left",
    adds_up: "test_each_stay_is_a_number_of_its_own",
    leaves_out_what_took_no_time: "test_each_stay_is_a_number_of_its_own",
    sorts_the_states: "test_the_states_are_in_order",
    names_every_state: "test_the_time_belongs_to_the_state_that_was_left",
    looks_for_the_field: "test_other_events_are_not_looked_at",
    reads_twice: "test_the_events_may_come_one_by_one",
}
