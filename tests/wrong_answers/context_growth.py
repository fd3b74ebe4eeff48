"""Plausible wrong answers to `context_growth`, with the tests that catch them."""


def _own(events, is_own=lambda event: "parent" not in event):
    turns = [event for event in events if event["kind"] == "model_turn"]
    return [event["usage"]["input"] for event in turns if is_own(event)]


def _rows(inputs, first=1, least=-1000, before=0):
    rows = []
    for tokens in inputs:
        rows.append((len(rows) + first, tokens, max(tokens - before, least)))
        before = tokens
    return rows


def takes_a_first_call_for_granted(events):
    inputs = _own(events)
    return [(1, inputs[0], inputs[0]), *_rows(inputs)[1:]]


def numbers_from_zero(events):
    return _rows(_own(events), first=0)


def finds_nothing_new_in_the_first_call(events):
    inputs = _own(events)
    return _rows(inputs, before=inputs[0]) if inputs else []


def asks_for_the_value_of_the_parent(events):
    return _rows(_own(events, lambda event: not event.get("parent")))


def never_goes_below_zero(events):
    return _rows(_own(events), least=0)


def reads_the_events_twice(events):
    calls = sum(event["kind"] == "model_turn" for event in events)
    return _rows(_own(events)[:calls])


WRONG = {
    takes_a_first_call_for_granted: "test_a_trace_without_calls_has_no_rows",
    numbers_from_zero: "test_the_calls_are_numbered",
    finds_nothing_new_in_the_first_call: "test_new_is_what_the_call_before_did_not_send",
    asks_for_the_value_of_the_parent: "test_the_calls_of_a_tool_do_not_count",
    never_goes_below_zero: "test_a_history_that_was_cut_shows_below_zero",
    reads_the_events_twice: "test_the_events_may_be_read_only_once",
}
