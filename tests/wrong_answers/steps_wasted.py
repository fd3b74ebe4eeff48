"""Plausible wrong answers to `steps_wasted`, each with the test that must catch it."""


def wastes(*, least=0, kinds=("tool_call",), inside=False, is_call=lambda event: True,
           checked=True, different=False):  # fmt: skip
    """Return a function that counts as one should; each argument makes one mistake."""

    def steps_wasted(trace, shortest):
        if checked and shortest < 0:
            raise ValueError(f"shortest is {shortest}")
        calls = [e for e in trace if e["kind"] in kinds and is_call(e)]
        calls = [e for e in calls if inside or "parent" not in e]
        if different:
            calls = {(e["tool"], str(e["arguments"])) for e in calls}
        return max(least, len(calls) - shortest)

    return steps_wasted


def counts_what_was_observed(trace, shortest):
    if shortest < 0:
        raise ValueError(f"shortest is {shortest}")
    kinds = [event["kind"] for event in trace if "parent" not in event]
    finished = min(kinds.count("tool_call"), kinds.count("observation"))
    return max(0, finished - shortest)


BEYOND = "test_calls_beyond_the_shortest_path"

WRONG = {
    wastes(least=-99): "test_never_below_zero",
    counts_what_was_observed: "test_a_trace_may_be_cut_short",
    wastes(inside=True): "test_calls_inside_a_call_do_not_count",
    wastes(is_call=lambda event: event.get("ok") is not False): BEYOND,
    wastes(different=True): BEYOND,
    wastes(kinds=("tool_call", "model_turn")): "test_turns_are_no_calls",
    wastes(checked=False): "test_a_path_has_no_calls_or_more",
}
