"""Plausible wrong answers to `within_budget`, each with the test that must catch it."""

from dataclasses import replace

from workbook.runtime.budget import NextCall
from workbook.runtime.model import Usage


def calls_and_time(spent, budget, kind):
    if kind == "tool" and spent.tool_calls + 1 > budget.tool_calls:
        return "out_of_tool_calls"
    if kind == "model" and spent.steps + 1 > budget.steps:
        return "out_of_steps"
    return "out_of_time" if spent.wall_s >= budget.wall_s else None


def tokens_and_money(usage, budget):
    pairs = [(usage.input, budget.input_tokens), (usage.output, budget.output_tokens)]
    pairs.append((usage.input + usage.output, budget.tokens))
    if any(used > most for used, most in pairs):
        return "out_of_tokens"
    if budget.prices and budget.prices.cost(usage) > budget.money:
        return "out_of_money"
    return None


def of(next_call):
    return Usage(next_call.input_tokens, next_call.output_tokens)


def right(spent, budget, next_call):
    word = calls_and_time(spent, budget, next_call.kind)
    if word or next_call.kind == "tool":
        return word
    return tokens_and_money(spent.usage + of(next_call), budget)


def looks_at_what_is_spent_alone(spent, budget, next_call):
    return right(spent, budget, NextCall(next_call.kind))


def looks_at_no_sum_of_tokens(spent, budget, next_call):
    return right(spent, replace(budget, tokens=float("inf")), next_call)


def takes_reached_for_exceeded(spent, budget, next_call):
    less = replace(budget, steps=budget.steps - 1, tool_calls=budget.tool_calls - 1)
    return right(spent, less, next_call)


def asks_a_tool_for_its_tokens(spent, budget, next_call):
    usage = spent.usage + of(next_call)
    return right(spent, budget, next_call) or tokens_and_money(usage, budget)


def takes_the_last_moment_for_time_left(spent, budget, next_call):
    in_time = spent.wall_s <= budget.wall_s
    return right(replace(spent, wall_s=0) if in_time else spent, budget, next_call)


def has_one_number_for_both_kinds(spent, budget, next_call):
    word = calls_and_time(spent, budget, "model") or calls_and_time(spent, budget, "tool")
    return word or right(spent, budget, next_call)


def forgets_what_was_cached(spent, budget, next_call):
    usage = Usage(spent.usage.input, spent.usage.output)
    return right(replace(spent, usage=usage), budget, next_call)


def adds_up_the_prices_of_the_next_call_alone(spent, budget, next_call):
    word = right(spent, budget, next_call)
    return tokens_and_money(of(next_call), budget) if word == "out_of_money" else word


WRONG = {
    looks_at_what_is_spent_alone: "test_tokens_are_asked_for_before",
    looks_at_no_sum_of_tokens: "test_tokens_are_asked_for_before",
    takes_reached_for_exceeded: "test_the_next_call_counts",
    asks_a_tool_for_its_tokens: "test_a_tool_costs_no_tokens",
    takes_the_last_moment_for_time_left: "test_a_call_needs_some_time",
    has_one_number_for_both_kinds: "test_each_kind_has_its_own_number",
    forgets_what_was_cached: "test_money_is_the_cost_of_all_tokens",
    adds_up_the_prices_of_the_next_call_alone: "test_money_is_the_cost_of_all_tokens",
}
