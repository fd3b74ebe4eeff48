"""Read the question before any tool is called, and warn of calls that must fail.

A list for a tool that takes one number, a number beyond a tool's limit: both stand in
the question already. The words are in data/preflight_words.toml, in English, Japanese
and Chinese; the limits come from the tool's own schema. Nothing here calls a tool or a
model.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from typing import Any

from workbook.paths import DATA
from workbook.tools.tool import Tool

WORDS = tomllib.loads((DATA / "preflight_words.toml").read_text(encoding="utf-8"))

BATCH_WORDS: tuple[str, ...] = tuple(WORDS["batch"])
"""Words that ask for several values in one call; the first one found is reported."""

VALUE_WORDS: tuple[str, ...] = tuple(WORDS["values"])
"""Patterns that say that a batch word is about values: 同時 alone is also 同時通訳."""

MAX_QUESTION_CHARS = 2000
"""Longer questions are read up to here."""


def preflight(question: str, tool: Tool) -> list[str]:
    """Return what will go wrong when `tool` is called for `question`; empty if nothing.

    Only a tool for a single number can be warned of. In this order:

    - `"batch word: at once"`: one of `BATCH_WORDS`, the first in their order, and one
      of `VALUE_WORDS` beside it.
    - `"several values: 3, 5"`: the question hands the tool more than one number.
    - `"over limit: 100 > 20"`: for each number above the schema's `maximum`.

    Full-width digits are digits, and letters count in either case.

    >>> from workbook.props.number_theory import factorial
    >>> preflight("１００の階乗を求めて", factorial())
    ['over limit: 100 > 20']
    """
    schema = single_number(tool)
    if schema is None:
        return []
    text = _plain(question)
    warnings = []
    batch = next((word for word in BATCH_WORDS if word in text.lower()), None)
    if batch and any(re.search(words, text, re.IGNORECASE) for words in VALUE_WORDS):
        warnings.append(f"batch word: {batch}")
    numbers = asked_numbers(text, tool)
    if len(numbers) > 1:
        warnings.append("several values: " + ", ".join(map(str, numbers)))
    limit = schema.get("maximum")
    if limit is not None:
        warnings += [f"over limit: {n} > {limit}" for n in numbers if n > limit]
    return warnings


def asked_numbers(question: str, tool: Tool) -> list[int]:
    """Return the numbers that the question hands to the tool, each once, in order.

    Other numbers in the question are left alone: a year is not an argument. There are
    no word boundaries in Japanese and Chinese, so the patterns use none there.

    >>> from workbook.props.number_theory import factorial
    >>> asked_numbers("In 1905, what were the factorials of 3 and 30?", factorial())
    [3, 30]
    """
    text = _plain(question)
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))", "", text)  # 1,000 is one number
    found: dict[int, int] = {}  # number to where it stands
    for pattern in WORDS["asks_for"].get(tool.name, ()):
        for part, meaning in WORDS["parts"].items():
            pattern = pattern.replace(part, meaning)
        for match in re.finditer(pattern, text, re.IGNORECASE):
            for digits in re.finditer(r"\d+", match["n"]):
                found.setdefault(int(digits[0]), match.start("n") + digits.start())
    return sorted(found, key=lambda number: found[number])


def _plain(question: str) -> str:
    """Return the question with plain digits; a raised one is no digit: 5² is not 52."""
    text = re.sub("[⁰¹²³⁴-⁹₀-₉]+", " ", question[:MAX_QUESTION_CHARS])
    return unicodedata.normalize("NFKC", text)[:MAX_QUESTION_CHARS]


def single_number(tool: Tool) -> Mapping[str, Any] | None:
    """Return the schema of a tool's one required number; None for any other tool."""
    required = tool.parameters.get("required", ())
    numbers = [
        part
        for name, part in tool.parameters["properties"].items()
        if name in required and part.get("type") in ("integer", "number")
    ]
    return numbers[0] if len(numbers) == 1 else None
