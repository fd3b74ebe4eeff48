"""Plausible wrong answers to `context_growth`, with the tests that catch them."""


def counts_the_hidden_calls(events):
    rows, before = [], 0
    for event in events:
        if event["kind"] == "model_turn":
            tokens = event["usage"]["input"]
            rows.append((len(rows) + 1, tokens, tokens - before))
            before = tokens
    return rows


def asks_for_the_value_of_the_parent(events):
    rows, before = [], 0
    for event in events:
        if event["kind"] == "model_turn" and not event.get("parent"):
            tokens = event["usage"]["input"]
            rows.append((len(rows) + 1, tokens, tokens - before))
            before = tokens
    return rows


def numbers_from_zero(events):
    rows, before = [], 0
    for event in events:
        if event["kind"] == "model_turn" and "parent" not in event:
            tokens = event["usage"]["input"]
            rows.append((len(rows), tokens, tokens - before))
            before = tokens
    return rows


def never_goes_below_zero(events):
    rows, before = [], 0
    for event in events:
        if event["kind"] == "model_turn" and "parent" not in event:
            tokens = event["usage"]["input"]
            rows.append((len(rows) + 1, tokens, max(tokens - before, 0)))
            before = tokens
    return rows


WRONG = {
    counts_the_hidden_calls: "test_the_calls_of_a_tool_do_not_count",
    asks_for_the_value_of_the_parent: "test_a_parent_with_number_0_is_a_parent",
    numbers_from_zero: "test_the_first_call_sends_everything_new",
    never_goes_below_zero: "test_a_history_that_was_cut_shows_below_zero",
}
