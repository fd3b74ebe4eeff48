"""Plausible wrong answers to `preflight`, each with the test that must catch it."""

import re

from workbook.tools.preflight import (
    BATCH_WORDS,
    VALUE_WORDS,
    asked_numbers,
    single_number,
)


def _warnings(question, tool, numbers, over=lambda n, limit: n > limit, about_values=True):
    schema = single_number(tool)
    if schema is None:
        return []
    warnings = []
    batch = next((word for word in BATCH_WORDS if word in question.lower()), None)
    about = any(re.search(words, question, re.IGNORECASE) for words in VALUE_WORDS)
    if batch and (about or not about_values):
        warnings.append(f"batch word: {batch}")
    if len(numbers) > 1:
        warnings.append("several values: " + ", ".join(map(str, numbers)))
    limit = schema.get("maximum", float("inf"))
    return warnings + [f"over limit: {n} > {limit}" for n in numbers if over(n, limit)]


def looks_for_whole_words(question, tool):
    numbers = [int(n) for n in re.findall(r"\b\d+\b", question)]
    return _warnings(question, tool, [n for n in numbers if n < 1000])


def takes_every_number(question, tool):
    return _warnings(question, tool, [int(n) for n in re.findall(r"\d+", question)])


def forbids_the_limit_itself(question, tool):
    numbers = asked_numbers(question, tool)
    return _warnings(question, tool, numbers, over=lambda n, limit: n >= limit)


def believes_every_batch_word(question, tool):
    return _warnings(question, tool, asked_numbers(question, tool), about_values=False)


def stops_at_the_first_warning(question, tool):
    return _warnings(question, tool, asked_numbers(question, tool))[:1]


WRONG = {
    looks_for_whole_words: "test_without_word_boundaries",
    takes_every_number: "test_a_year_is_no_argument",
    forbids_the_limit_itself: "test_the_limit_itself_is_allowed",
    believes_every_batch_word: "test_a_batch_word_about_something_else",
    stops_at_the_first_warning: "test_all_warnings_in_order",
}
