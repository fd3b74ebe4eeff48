"""Plausible wrong answers to `context_growth`, with the tests that catch them."""


def _rows(events, is_own=lambda event: "parent" not in event, first=1, least=-1000):
    rows, before = [], 0
    for event in events:
        if event["kind"] == "model_turn" and is_own(event):
            tokens = event["usage"]["input"]
            rows.append((len(rows) + first, tokens, max(tokens - before, least)))
            before = tokens
    return rows


def asks_for_the_value_of_the_parent(events):
    return _rows(events, lambda event: not event.get("parent"))


def numbers_from_zero(events):
    return _rows(events, first=0)


def never_goes_below_zero(events):
    return _rows(events, least=0)


WRONG = {
    asks_for_the_value_of_the_parent: "test_the_calls_of_a_tool_do_not_count",
    numbers_from_zero: "test_the_first_call_sends_everything_new",
    never_goes_below_zero: "test_a_history_that_was_cut_shows_below_zero",
}
