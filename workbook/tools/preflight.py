"""Read the question before any tool is called, and warn of calls that must fail.

A list for a tool that takes one number, a number beyond a tool's limit: both stand in
the question already. The words are data below, in English, Japanese and Chinese; the
limits come from the tool's own schema. Nothing here calls a tool or a model.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from workbook.tools.tool import Tool

BATCH_WORDS = (
    *("all at once", "at once", "all of these", "all of them", "in one go"),
    *("in one call", "in a single call", "at the same time", "simultaneously"),
    *("in a batch", "as a batch"),
    *("同時に", "まとめて", "一括", "一度に", "一気に", "いっぺんに"),
    *("一次性", "同时", "同時", "批量", "一口气", "一并"),
)
"""Words that ask for several values in one call; the first one found is reported."""

VALUE_WORDS = (
    r"\b(?:numbers?|values?|integers?|factorials?|factori[sz]e|factors?|channels?)\b",
    r"\b(?:calculate|compute|voltages?)\b",
    r"整数|数値|数字|数を|の数|計算(?!機)|階乗|因数|素数|電圧|チャンネル",
    r"计算(?!机)|這些數|这些数|几个数|阶乘|階乘|质因数|質因數|素数|电压|通道",
)
"""Patterns that say that a batch word is about values: 同時 alone is also 同時通訳."""

NUMBER = r"(?<!\d)\d++"
LIST = (
    rf"{NUMBER}(?:(?:[,、;&\s]|and|or|と|や|及び|および|和|与|跟)++{NUMBER}){{0,50}}+"
)
"""Numbers one after the other: `3`, `3, 5 and 30`, `3、5、30`, `3和5`.

`++` never gives back what it took, so that a hostile question costs no more time.
"""
MAX_QUESTION_CHARS = 2000
"""Longer questions are read up to here."""

_THE = (
    r"(?:[\s:(#]|\b(?:of|the|each|all|these|those|following|numbers?|integers?|values?"
)
_THE += r"|two|three|four|five|six|seven|eight|nine|ten|at once|in one go)\b)*"
_OF = r"(?:\s|の|的|之|を|それぞれ|同時に|まとめて|一括で?|一度に|一次性|同时|都|进行)*"
_FACTORIAL_CJK = "(?:階乗|阶乘|階乘)"
_FACTORS_CJK = "(?:素因数|因数分解|分解[质質]因[数數]|[质質]因[数數])"
_ASK = (
    r"(?:what is|what's|compute|calculate|evaluate|find|value of|求|計算|计算|[-+*/=])"
)
_AFTER = r"(?:[-+*/×÷^<>=)?]|[のをはと的]|是多少|等[于於]"
_AFTER += r"|(?-i:is|plus|minus|times|larger|greater|smaller|divisible)\b)"

ASKS_FOR: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "Factorial": (
            rf"\bfactorials?(?:\s+for)?\b{_THE}(?P<n>LIST)",
            r"(?P<n>NUMBER)[\s-]+factorial\b(?!\s+(?:design|experiment|analys))",
            rf"(?P<n>LIST){_OF}{_FACTORIAL_CJK}",
            rf"{_FACTORIAL_CJK}\s*[:(]\s*(?P<n>LIST)",
            # "100!" may be joy: it is arithmetic alone, asked for, in a list, or in a
            # formula
            r"^\s*(?P<n>NUMBER)\s*!\W*$",
            r"(?P<n>NUMBER\s?!(?:(?:[\s,、]|and|or|と|和)++NUMBER\s?!){1,50}+)(?!=)",
            rf"{_ASK}\s*(?P<n>NUMBER)\s*!(?!=)",
            rf"(?P<n>NUMBER)\s*!(?!=)\s*{_AFTER}",
        ),
        "PrimeFactors": (
            rf"\bprime factors?\b{_THE}(?P<n>LIST)",
            rf"\bfactor(?:i[sz]e|i[sz]ing|i[sz]ation of|s of)?\b{_THE}(?P<n>LIST)",
            r"(?P<n>LIST)\s++into\s+(?:its |their )?prime",
            rf"(?P<n>LIST){_OF}{_FACTORS_CJK}",
            rf"{_FACTORS_CJK}\w*\s*[:(]\s*(?P<n>LIST)",
        ),
        "Voltmeter": (
            rf"\bchannels?\b{_THE}(?P<n>LIST)",
            r"(?:チャンネル|通道)\s*(?P<n>LIST)",
            r"(?P<n>LIST)\s*[番号](?:の)?(?:チャンネル|通道)",
        ),
    }
)
"""Tool to the patterns in which a question hands it numbers, `n`.

The words NUMBER and LIST in a pattern stand for the two above.
"""


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
    for pattern in ASKS_FOR.get(tool.name, ()):
        pattern = pattern.replace("LIST", LIST).replace("NUMBER", NUMBER)
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
