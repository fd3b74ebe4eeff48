"""Plausible wrong answers to `preflight`, each with the test that must catch it."""

import re

from workbook.tools.preflight import (
    BATCH_WORDS,
    about_values,
    asked_numbers,
    single_number,
)


def _warnings(question, tool, numbers, over=lambda n, limit: n > limit, about=about_values):
    schema = single_number(tool)
    if schema is None:
        return []
    warnings = []
    batch = next((word for word in BATCH_WORDS if word in question.lower()), None)
    if batch and about(question, tool):
        warnings.append(f"batch word: {batch}")
    if len(numbers) > 1:
        warnings.append("several values: " + ", ".join(map(str, numbers)))
    limit, low = schema.get("maximum", float("inf")), schema.get("minimum", 0)
    for n in numbers:
        warnings += [f"over limit: {n} > {limit}"] if over(n, limit) else []
        warnings += [f"under limit: {n} < {low}"] if n < low else []
    return warnings


def looks_for_whole_words(question, tool):
    numbers = [int(n) for n in re.findall(r"\b\d+\b", question)]
    return _warnings(question, tool, [n for n in numbers if n < 1000])


def takes_every_number(question, tool):
    return _warnings(question, tool, [int(n) for n in re.findall(r"\d+", question)])


def forbids_the_limit_itself(question, tool):
    numbers = asked_numbers(question, tool)
    return _warnings(question, tool, numbers, over=lambda n, limit: n >= limit)


def believes_every_batch_word(question, tool):
    return _warnings(question, tool, asked_numbers(question, tool), about=lambda *_: True)


def stops_at_the_first_warning(question, tool):
    return _warnings(question, tool, asked_numbers(question, tool))[:1]


def knows_tools_by_name(question, tool):
    limits = {"Factorial": 20, "PrimeFactors": 10**12}
    numbers = asked_numbers(question, tool) if tool.name in limits else []
    return _warnings(question, tool, numbers, lambda n, _: n > limits[tool.name])


def looks_up_only(question, tool):
    found = _warnings(question, tool, asked_numbers(question, tool))
    return [warning for warning in found if not warning.startswith("under")]


WRONG = {
    looks_for_whole_words: "test_without_word_boundaries",
    takes_every_number: "test_a_year_is_no_argument",
    forbids_the_limit_itself: "test_the_limit_itself_is_allowed",
    believes_every_batch_word: "test_a_batch_word_about_something_else",
    stops_at_the_first_warning: "test_all_warnings_in_order",
    knows_tools_by_name: "test_a_tool_under_another_name",
    looks_up_only: "test_a_number_below_the_limit",
}
