"""Plausible wrong answers to `preflight`, each with the test that must catch it."""

import re

from workbook.views.preflight import (
    BATCH_WORDS,
    asked_numbers,
    preflight,
    single_number,
)


def _warnings(question, tool, numbers, over=lambda n, limit: n > limit):
    """Warn by the package of batch words, and by these numbers of the rest."""
    schema = single_number(tool)
    if schema is None:
        return []
    warnings = [w for w in preflight(question, tool) if w.startswith("batch word")]
    if len(numbers) > 1:
        warnings.append("several values: " + ", ".join(map(str, numbers)))
    high, low = schema.get("maximum", float("inf")), schema.get("minimum", 0)
    for n in numbers:
        warnings += [f"over limit: {n} > {high}"] if over(n, high) else []
        warnings += [f"under limit: {n} < {low}"] if n < low else []
    return warnings


def looks_for_whole_words(question, tool):
    numbers = [int(n) for n in re.findall(r"\b\d+\b", question)]
    return _warnings(question, tool, [n for n in numbers if n < 1000])


def takes_every_number(question, tool):
    return _warnings(question, tool, [int(n) for n in re.findall(r"\d+", question)])


def forbids_the_limit_itself(question, tool):
    return _warnings(question, tool, asked_numbers(question, tool), lambda n, high: n >= high)


def believes_every_batch_word(question, tool):
    found = [f"batch word: {word}" for word in BATCH_WORDS if word in question.lower()]
    rest = _warnings(question, tool, asked_numbers(question, tool))
    return found[:1] + [w for w in rest if w not in found] if single_number(tool) else []


def stops_at_the_first_warning(question, tool):
    return preflight(question, tool)[:1]


def knows_tools_by_name(question, tool):
    limits = {"Factorial": 20, "PrimeFactors": 10**12}
    numbers = asked_numbers(question, tool) if tool.name in limits else []
    return _warnings(question, tool, numbers, lambda n, _: n > limits[tool.name])


def looks_up_only(question, tool):
    return [w for w in preflight(question, tool) if not w.startswith("under")]


WRONG = {
    looks_for_whole_words: "test_the_numbers_are_those_that_are_asked",
    takes_every_number: "test_the_numbers_are_those_that_are_asked",
    forbids_the_limit_itself: "test_a_number_beyond_the_limit",
    believes_every_batch_word: "test_a_batch_word",
    stops_at_the_first_warning: "test_all_warnings_in_order",
    knows_tools_by_name: "test_a_tool_under_another_name",
    looks_up_only: "test_a_number_below_the_limit",
}
