"""Plausible wrong answers to `find_cycle`, each with the test that must catch it."""

from workbook.runtime.stuck import Cycle, same_search


def alike(one, other, same):
    what_came = (one.tool, one.digest) == (other.tool, other.digest)
    return what_came and same(one.arguments, other.arguments)


def at_the_end(calls, lengths, repeats, alike, least=None):
    """Look for a cycle in the last calls, with one's own idea of what is alike."""
    for length in lengths:
        tail = calls[-length * repeats :]
        enough = len(tail) == length * repeats if least is None else len(tail) >= least
        if enough and all(map(alike, tail, tail[length:])):
            return Cycle(tuple(tail[:length]), repeats)
    return None


def sees_the_same_call_alone(calls, *, lengths=(), repeats=3, same=same_search):
    return at_the_end(calls, [1], repeats, lambda a, b: alike(a, b, same))


def looks_at_no_answer(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    def without(a, b):
        return a.tool == b.tool and same(a.arguments, b.arguments)

    return at_the_end(calls, lengths, repeats, without)


def looks_at_no_tool(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    def without(a, b):
        return a.digest == b.digest and same(a.arguments, b.arguments)

    return at_the_end(calls, lengths, repeats, without)


def stops_at_the_second_time(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    found = at_the_end(calls, lengths, 2, lambda a, b: alike(a, b, same))
    return found and found._replace(times=repeats)


def forgets_short_runs(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    return at_the_end(calls, lengths, repeats, lambda a, b: alike(a, b, same), least=0)


def looks_at_the_whole_run(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    found = None
    for end in range(len(calls) + 1):
        found = at_the_end(calls[:end], lengths, repeats, lambda a, b: alike(a, b, same))
    return found


def compares_arguments_by_itself(calls, *, lengths=range(1, 6), repeats=3, same=None):
    return at_the_end(calls, lengths, repeats, lambda a, b: a == b)


def prefers_the_longest(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    return at_the_end(calls, [*lengths][::-1], repeats, lambda a, b: alike(a, b, same))


WRONG = {
    sees_the_same_call_alone: "test_the_third_time_is_a_cycle",
    looks_at_no_answer: "test_answers_that_change_are_no_cycle",
    looks_at_no_tool: "test_another_tool_with_the_same_arguments_is_no_cycle",
    stops_at_the_second_time: "test_the_third_time_is_a_cycle",
    forgets_short_runs: "test_a_run_that_goes_on_is_no_cycle",
    looks_at_the_whole_run: "test_a_long_run_costs_no_more",
    compares_arguments_by_itself: "test_other_clothes_are_no_disguise",
    prefers_the_longest: "test_the_shortest_cycle_is_returned",
}
