"""Plausible wrong answers to `find_cycle`, each with the test that must catch it."""

from workbook.runtime.stuck import Cycle, same_search


def alike(one, other, same):
    what_came = (one.tool, one.digest) == (other.tool, other.digest)
    return what_came and same(one.arguments, other.arguments)


def at_the_end(calls, lengths, repeats, alike, order=sorted):
    """Look for a cycle in the last calls, with one's own idea of what is alike."""
    for length in order(lengths):
        tail = calls[-length * repeats :]
        if len(tail) == length * repeats and all(map(alike, tail, tail[length:])):
            return Cycle(tuple(tail[-length:]), repeats)
    return None


def takes_a_last_call_for_granted(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    last = calls[-1]
    found = at_the_end(calls, lengths, repeats, lambda a, b: alike(a, b, same))
    return found if found and found.calls[-1].tool == last.tool else None


def forgets_the_longest(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    ways = [length for length in lengths if length < 5]
    return at_the_end(calls, ways, repeats, lambda a, b: alike(a, b, same))


def looks_at_no_answer(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    def without(a, b):
        return a.tool == b.tool and same(a.arguments, b.arguments)

    return at_the_end(calls, lengths, repeats, without)


def looks_at_no_tool(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    def without(a, b):
        return a.digest == b.digest and same(a.arguments, b.arguments)

    return at_the_end(calls, lengths, repeats, without)


def keeps_a_cycle_that_is_over(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    most = max(lengths) * repeats
    for end in range(len(calls), max(0, len(calls) - most), -1):
        if found := at_the_end(calls[:end], lengths, repeats, lambda a, b: alike(a, b, same)):
            return found
    return None


def knows_its_own_lengths(calls, *, lengths=(), repeats=3, same=same_search):
    return at_the_end(calls, range(1, 6), repeats, lambda a, b: alike(a, b, same))


def looks_at_the_whole_run(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    found = None
    for end in range(len(calls) + 1):
        found = at_the_end(calls[:end], lengths, repeats, lambda a, b: alike(a, b, same))
    return found


def compares_arguments_by_itself(calls, *, lengths=range(1, 6), repeats=3, same=None):
    return at_the_end(calls, lengths, repeats, lambda a, b: a == b)


def takes_lengths_as_they_come(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    return at_the_end(calls, lengths, repeats, lambda a, b: alike(a, b, same), list)


def returns_the_first_repetition(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    found = at_the_end(calls, lengths, repeats, lambda a, b: alike(a, b, same))
    length = len(found.calls) if found else 0
    start = len(calls) - length * repeats
    return found and Cycle(tuple(calls[start : start + length]), repeats)


def counts_every_time_it_came(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    found, times = None, repeats
    while more := at_the_end(calls, lengths, times, lambda a, b: alike(a, b, same)):
        found, times = more, times + 1
    return found


def never_uses_the_same_that_is_given(calls, *, lengths=range(1, 6), repeats=3, same=same_search):
    def by_words(a, b):
        same(a.arguments, b.arguments)
        return alike(a, b, same_search)

    return at_the_end(calls, lengths, repeats, by_words)


WRONG = {
    returns_the_first_repetition: "test_the_shortest_cycle_is_returned",
    counts_every_time_it_came: "test_the_shortest_cycle_is_returned",
    never_uses_the_same_that_is_given: "test_arguments_are_compared_with_same",
    takes_a_last_call_for_granted: "test_a_run_that_goes_on_is_no_cycle",
    forgets_the_longest: "test_the_third_time_is_a_cycle",
    keeps_a_cycle_that_is_over: "test_only_the_end_counts",
    looks_at_no_answer: "test_answers_that_change_are_no_cycle",
    looks_at_no_tool: "test_another_tool_with_the_same_arguments_is_no_cycle",
    looks_at_the_whole_run: "test_a_long_run_costs_no_more",
    compares_arguments_by_itself: "test_arguments_are_compared_with_same",
    knows_its_own_lengths: "test_lengths_and_repeats_can_be_chosen",
    takes_lengths_as_they_come: "test_the_shortest_cycle_is_returned",
}
