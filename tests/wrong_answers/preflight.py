"""Plausible wrong answers to `preflight`, each with the test that must catch it."""

import re

from workbook.lessons.tools_as_contracts import (
    BATCH_WORDS,
    asked_numbers,
    asks_for,
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


def takes_the_first_batch_word_of_the_question(question, tool):
    found = [word for word in BATCH_WORDS if word in question.lower()]
    first = min(found, key=question.lower().find, default="")
    warnings = preflight(question, tool)
    return [f"batch word: {first}" if w.startswith("batch") else w for w in warnings]


def sorts_the_numbers(question, tool):
    return _warnings(question, tool, sorted(asked_numbers(question, tool)))


def stops_at_the_first_warning(question, tool):
    return preflight(question, tool)[:1]


def takes_limits_for_granted(question, tool):
    schema = single_number(tool)
    if schema is None or schema["minimum"] > schema["maximum"]:
        return []
    return preflight(question, tool)


def warns_every_tool_of_a_batch_word(question, tool):
    found = [f"batch word: {word}" for word in BATCH_WORDS if word in question.lower()]
    about = asks_for(question, tool)
    return preflight(question, tool) or (found[:1] if about else [])


def looks_up_only(question, tool):
    return [w for w in preflight(question, tool) if not w.startswith("under")]


WRONG = {
    looks_for_whole_words: "test_the_numbers_are_those_that_are_asked",
    takes_every_number: "test_the_numbers_are_those_that_are_asked",
    forbids_the_limit_itself: "test_a_number_beyond_the_limit",
    believes_every_batch_word: "test_a_batch_word",
    stops_at_the_first_warning: "test_all_warnings_in_order",
    takes_the_first_batch_word_of_the_question: "test_the_first_batch_word_of_the_list_counts",
    sorts_the_numbers: "test_several_values",
    takes_limits_for_granted: "test_a_schema_without_limits",
    warns_every_tool_of_a_batch_word: "test_a_tool_for_text_gets_no_warning",
    looks_up_only: "test_a_number_below_the_limit",
}
