"""Plausible wrong answers to `context_growth`, each with words of its failure."""


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
    counts_the_hidden_calls: "is not the agent's",
    asks_for_the_value_of_the_parent: "the field counts, not its value",
    numbers_from_zero: "the first call has number 1",
    never_goes_below_zero: "sends less than the one before",
}
