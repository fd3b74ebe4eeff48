"""Plausible wrong answers to `within_budget`, each with the test that must catch it."""

from workbook.models.base import Usage


def calls_and_time(spent, limits, next_call):
    if next_call.kind == "tool" and spent.tool_calls + 1 > limits.tool_calls:
        return "out_of_tool_calls"
    if next_call.kind == "model" and spent.steps + 1 > limits.steps:
        return "out_of_steps"
    return "out_of_time" if spent.wall_s >= limits.wall_s else None


def tokens_and_money(usage, limits):
    pairs = [(usage.input, limits.input_tokens), (usage.output, limits.output_tokens)]
    pairs.append((usage.input + usage.output, limits.tokens))
    if any(used > most for used, most in pairs):
        return "out_of_tokens"
    if limits.prices and limits.prices.cost(usage) > limits.money:
        return "out_of_money"
    return None


def after(spent, next_call):
    return spent.usage + Usage(next_call.input_tokens, next_call.output_tokens)


def looks_at_what_is_spent_alone(spent, limits, next_call):
    word = calls_and_time(spent, limits, next_call)
    if word or next_call.kind == "tool":
        return word
    return tokens_and_money(spent.usage, limits)


def takes_reached_for_exceeded(spent, limits, next_call):
    if next_call.kind == "tool" and spent.tool_calls + 1 >= limits.tool_calls:
        return "out_of_tool_calls"
    if next_call.kind == "model" and spent.steps + 1 >= limits.steps:
        return "out_of_steps"
    word = calls_and_time(spent, limits, next_call)
    if word or next_call.kind == "tool":
        return word
    return tokens_and_money(after(spent, next_call), limits)


def asks_a_tool_for_its_tokens(spent, limits, next_call):
    word = calls_and_time(spent, limits, next_call)
    return word or tokens_and_money(after(spent, next_call), limits)


def leaves_no_time_and_goes_on(spent, limits, next_call):
    word = calls_and_time(spent, limits, next_call)
    if word == "out_of_time" and spent.wall_s == limits.wall_s:
        word = None
    if word or next_call.kind == "tool":
        return word
    return tokens_and_money(after(spent, next_call), limits)


def has_one_number_for_both_kinds(spent, limits, next_call):
    if spent.steps + 1 > limits.steps:
        return "out_of_steps"
    if spent.tool_calls + 1 > limits.tool_calls:
        return "out_of_tool_calls"
    if spent.wall_s >= limits.wall_s:
        return "out_of_time"
    if next_call.kind == "tool":
        return None
    return tokens_and_money(after(spent, next_call), limits)


def adds_up_the_prices_of_the_next_call_alone(spent, limits, next_call):
    word = calls_and_time(spent, limits, next_call)
    if word or next_call.kind == "tool":
        return word
    word = tokens_and_money(after(spent, next_call), limits)
    if word != "out_of_money":
        return word
    call = Usage(next_call.input_tokens, next_call.output_tokens)
    return tokens_and_money(call, limits)


WRONG = {
    looks_at_what_is_spent_alone: "test_tokens_are_asked_for_before",
    takes_reached_for_exceeded: "test_the_next_call_counts",
    asks_a_tool_for_its_tokens: "test_a_tool_costs_no_tokens",
    leaves_no_time_and_goes_on: "test_a_call_needs_some_time",
    has_one_number_for_both_kinds: "test_each_kind_has_its_own_number",
    adds_up_the_prices_of_the_next_call_alone: "test_money_is_the_cost_of_all_tokens",
}
