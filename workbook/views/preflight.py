"""Read the question before any tool is called, and warn of calls that must fail.

The tool has the words that ask for it, its schema has the limits, and
data/preflight_words.toml says how English, Japanese and Chinese put words and numbers
together. Nothing here calls a tool or a model.
"""

import re
import tomllib
import unicodedata
from collections.abc import Mapping
from functools import cache
from math import inf
from typing import Any

from workbook.paths import DATA
from workbook.runtime.arguments import types_of
from workbook.runtime.tools import Tool

WORDS = tomllib.loads((DATA / "preflight_words.toml").read_text(encoding="utf-8"))

BATCH_WORDS: tuple[str, ...] = tuple(WORDS["batch"])
MAX_QUESTION_CHARS = 2000  # of a longer one the rest is not read


def preflight(question: str, tool: Tool) -> list[str]:
    """Return what will go wrong when `tool` is called for `question`; empty if nothing.

    Only a tool that takes a single number gets warnings. In this order:

    - `"batch word: at once"`: the first of `BATCH_WORDS` in the question, if that is
      `about_values`.
    - `"several values: 3, 5"`: the question has more than one number for the tool.
    - `"over limit: 100 > 20"`, `"under limit: 1 < 2"`: each number, in order, that is
      above the schema's `maximum` or below its `minimum`.

    Full-width digits count as digits; upper and lower case are the same.

    >>> from workbook.environments.number_theory import factorial
    >>> preflight("１００の階乗を求めて", factorial())
    ['over limit: 100 > 20']
    """
    schema = single_number(tool)
    if schema is None:
        return []
    text = _plain(question).lower()
    batch = [f"batch word: {word}" for word in BATCH_WORDS if word in text]
    warnings = batch[:1] if about_values(question, tool) else []
    numbers = asked_numbers(question, tool)
    if len(numbers) > 1:
        warnings.append("several values: " + ", ".join(map(str, numbers)))
    low, high = schema.get("minimum", -inf), schema.get("maximum", inf)
    for n in numbers:
        if n > high:
            warnings.append(f"over limit: {n} > {high}")
        if n < low:
            warnings.append(f"under limit: {n} < {low}")
    return warnings


def about_values(question: str, tool: Tool) -> bool:
    """Tell whether the question speaks of numbers, or asks for this tool."""
    asking = (rf"(?<![a-z]){re.escape(w)}" for w in tool.asked_by if w[0].isalnum())
    patterns = [*WORDS["values"], *asking]
    return any(re.search(words, _plain(question), re.I) for words in patterns)


def asked_numbers(question: str, tool: Tool) -> list[float]:
    """Return the numbers that the question hands to the tool, each once, in order."""
    # 1,000 is one number, but two of them in [1,000]
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))(?![^\[\]]*\])", "", _plain(question))
    found: dict[float, int] = {}  # number to where it stands
    for pattern in _patterns(tool.name, tool.asked_by):
        for match in pattern.finditer(text):
            for part in re.finditer(r"-?\d+(?:\.\d+)?", match["n"]):
                number = float(part[0]) if "." in part[0] else int(part[0])
                found.setdefault(number, match.start("n") + part.start())
    return sorted(found, key=found.__getitem__)


@cache
def _patterns(name: str, asked_by: tuple[str, ...]) -> list[re.Pattern[str]]:
    """Return what finds the numbers `n` beside a tool's words, or beside its name."""
    spoken = re.sub(r"(?<=[a-z])(?=[A-Z])|[_-]+", " ", name).strip()
    patterns = []
    for word in (*asked_by, spoken):
        # There are no word boundaries in Japanese and Chinese.
        script = "letters" if word.isascii() else "characters"
        for shape in WORDS["shapes"][script if re.search(r"\w", word) else "signs"]:
            for part, meaning in WORDS["parts"].items():
                shape = shape.replace(part, meaning)
            shape = shape.replace("WORD", re.escape(word).replace(r"\ ", r"[\s_-]*"))
            patterns.append(re.compile(shape, re.IGNORECASE))
    return patterns


def _plain(question: str) -> str:
    """Return the question with plain digits; a raised one is no digit: 5² is not 52."""
    text = re.sub("[⁰¹²³⁴-⁹₀-₉]+", " ", question[:MAX_QUESTION_CHARS])
    return unicodedata.normalize("NFKC", text)[:MAX_QUESTION_CHARS]


def single_number(tool: Tool) -> Mapping[str, Any] | None:
    """Return the schema of a tool's one required number; None for any other tool."""
    required = tool.parameters.get("required", ())
    numbers: list[Mapping[str, Any]] = [
        part
        for name, part in tool.parameters["properties"].items()
        if name in required and types_of(part) & {"integer", "number"}
    ]
    if len(numbers) != 1 or "array" in types_of(numbers[0]):
        return None
    return numbers[0]
