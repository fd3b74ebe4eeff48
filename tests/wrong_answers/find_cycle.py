"""Plausible wrong answers to `find_cycle`, each with the test that must catch it."""

from workbook.guardrails.stuck import Cycle, same_search


def alike(one, other, same):
    what_came = (one.tool, one.digest) == (other.tool, other.digest)
    return what_came and same(one.arguments, other.arguments)


def sees_the_same_call_alone(
    calls, *, lengths=range(1, 6), repeats=3, same=same_search
):
    tail = calls[-repeats:]
    if len(tail) == repeats and all(alike(tail[0], each, same) for each in tail):
        return Cycle((tail[0],), repeats)
    return None


def looks_at_no_answer(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    for length in lengths:
        tail = calls[-length * repeats :]
        pairs = zip(tail, tail[length:])
        if len(tail) == length * repeats and all(
            a.tool == b.tool and same(a.arguments, b.arguments) for a, b in pairs
        ):
            return Cycle(tuple(tail[:length]), repeats)
    return None


def looks_at_no_tool(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    for length in lengths:
        tail = calls[-length * repeats :]
        pairs = zip(tail, tail[length:])
        if len(tail) == length * repeats and all(
            a.digest == b.digest and same(a.arguments, b.arguments) for a, b in pairs
        ):
            return Cycle(tuple(tail[:length]), repeats)
    return None


def counts_calls_wherever_they_stand(
    calls, *, lengths=range(1, 6), repeats=3, same=same_search
):
    if not calls:
        return None
    count = sum(alike(calls[-1], each, same) for each in calls)
    return Cycle((calls[-1],), repeats) if count >= repeats else None


def stops_at_the_second_time(
    calls, *, lengths=range(1, 6), repeats=3, same=same_search
):
    for length in lengths:
        tail = calls[-2 * length :]
        pairs = zip(tail, tail[length:])
        if len(tail) == 2 * length and all(alike(a, b, same) for a, b in pairs):
            return Cycle(tuple(tail[:length]), repeats)
    return None


def forgets_that_a_run_may_be_short(
    calls, *, lengths=range(1, 6), repeats=3, same=same_search
):
    for length in lengths:
        tail = calls[-length * repeats :]
        if all(alike(a, b, same) for a, b in zip(tail, tail[length:])):
            return Cycle(tuple(tail[:length]), repeats)
    return None


def looks_at_the_whole_run(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    for length in lengths:
        for start in range(len(calls) - length * repeats + 1):
            part = calls[start : start + length * repeats]
            found = all(alike(a, b, same) for a, b in zip(part, part[length:]))
            if found and start + length * repeats == len(calls):
                return Cycle(tuple(part[:length]), repeats)
    return None


def compares_arguments_by_itself(
    calls, *, lengths=range(1, 6), repeats=3, same=same_search
):
    for length in lengths:
        tail = calls[-length * repeats :]
        if len(tail) == length * repeats and tail[length:] == tail[:-length]:
            return Cycle(tuple(tail[:length]), repeats)
    return None


WRONG = {
    sees_the_same_call_alone: "test_the_third_time_is_a_cycle",
    looks_at_no_answer: "test_answers_that_change_are_no_cycle",
    looks_at_no_tool: "test_another_tool_with_the_same_arguments_is_no_cycle",
    counts_calls_wherever_they_stand: "test_only_the_end_counts",
    stops_at_the_second_time: "test_the_third_time_is_a_cycle",
    forgets_that_a_run_may_be_short: "test_a_run_that_goes_on_is_no_cycle",
    looks_at_the_whole_run: "test_a_long_run_costs_no_more",
    compares_arguments_by_itself: "test_other_clothes_are_no_disguise",
}
