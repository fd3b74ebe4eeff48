"""Plausible wrong answers to `steps_wasted`, each with the test that must catch it."""


def calls(trace):
    return [e for e in trace if e["kind"] == "tool_call" and "parent" not in e]


def checked(shortest):
    if shortest < 0:
        raise ValueError(f"shortest is {shortest}")


def goes_below_zero(trace, shortest):
    checked(shortest)
    return len(calls(trace)) - shortest


def counts_what_came_back(trace, shortest):
    checked(shortest)
    seen = [e for e in trace if e["kind"] == "observation" and "parent" not in e]
    return max(0, len(seen) - shortest)


def counts_what_was_inside(trace, shortest):
    checked(shortest)
    made = [e for e in trace if e["kind"] == "tool_call"]
    return max(0, len(made) - shortest)


def counts_what_went_well(trace, shortest):
    checked(shortest)
    fine = [e for e in calls(trace) if e.get("ok") is not False]
    return max(0, len(fine) - shortest)


def counts_different_calls(trace, shortest):
    checked(shortest)
    different = {(e["tool"], str(e["arguments"])) for e in calls(trace)}
    return max(0, len(different) - shortest)


def counts_turns(trace, shortest):
    checked(shortest)
    turns = [e for e in trace if e["kind"] in ("tool_call", "model_turn")]
    return max(0, len([e for e in turns if "parent" not in e]) - shortest)


def takes_any_path(trace, shortest):
    return max(0, len(calls(trace)) - shortest)


WRONG = {
    goes_below_zero: "test_never_below_zero",
    counts_what_came_back: "test_a_trace_may_be_cut_short",
    counts_what_was_inside: "test_calls_inside_a_call_do_not_count",
    counts_what_went_well: "test_refused_and_repeated_calls_count",
    counts_different_calls: "test_refused_and_repeated_calls_count",
    counts_turns: "test_turns_are_no_calls",
    takes_any_path: "test_a_path_has_no_calls_or_more",
}
