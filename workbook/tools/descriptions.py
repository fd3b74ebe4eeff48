"""Check what a tool says about itself: a model picks tools by their descriptions.

The rules are the habits that save calls: the limits in words, one right and one wrong
example, one value a call, units. `lint_description` says which are missing, and
`lint_examples` whether the examples are true.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from workbook.tools.preflight import single_number
from workbook.tools.tool import Tool

MIN_CHARS, MAX_CHARS = 30, 400
"""Below 30 characters nothing is explained; above 400 every turn pays for it."""

PROBLEMS = (
    "too short",
    "too long",
    "limit is not named",
    "no right example",
    "no wrong example",
    "one value a call is not said",
    "no unit",
)
"""What `lint_description` can find, in the order in which it reports it."""

RIGHT = re.compile(
    r"\b(?:right|correct|good|example)\b[^:]{0,20}:"
    r"|(?:正しい例?|良い例|正[确確]\w{0,3})[:：]",
    re.I,
)
WRONG = re.compile(
    r"\b(?:wrong|incorrect|bad|do not|don't)\b[^:.]{0,20}:|\bnot\s*:"
    r"|(?:誤り|誤った例|悪い例|[错錯][误誤]\w{0,3})[:：]",
    re.I,
)
ONE_A_CALL = re.compile(
    r"\b(?:per|a|each|every|one) (?:call|invocation|request)\b|\bcall once\b"
    r"|\bone at a time\b|1回に|一回に|一度に(?:一|1)つ|每次|一次一[个個]",
    re.I,
)
UNIT = re.compile(
    r"\b(?:milli|micro|centi|kilo|mega)?"
    r"(?:seconds?|volts?|amperes?|met(?:er|re)s?|grams?|watts?|hertz|joules?|pascals?)\b"
    r"|\b(?:minutes?|hours?|days?|years?|bytes?|tokens?|percent|degrees?|radians?)\b"
    r"|\b(?:celsius|fahrenheit|kelvin|cents?|euros?|dollars?|yen|yuan|pixels?)\b"
    r"|\b(?:units? of|no unit|EUR|USD|JPY|CNY)\b|%|°[CF]|[秒円元米]"
    r"|(?:\d ?|\bin )(?-i:ms|s|min|h|mV|V|mm|cm|m|km|mg|g|kg|Hz|kHz|Pa|J|W|kW)\b",
    re.I,
)


def lint_description(tool: Tool) -> list[str]:
    """Return what is missing in the tool's description, in the words of `PROBLEMS`.

    - `too short`, `too long`: fewer than 30 or more than 400 characters.
    - `limit is not named`: a parameter has a `maximum`, and the description does not
      hold that number.
    - `no right example`, `no wrong example`: no "Right: …", no "Wrong: …".
    - `one value a call is not said`: the tool takes one number, and nothing like "one
      per call" or "call once" stands there.
    - `no unit`: a parameter of the type `number`, and a unit neither in the
      description nor in that parameter's own.

    >>> from workbook.props.number_theory import factorial
    >>> lint_description(factorial())
    []
    """
    text = tool.description.strip()
    parts: Mapping[str, Any] = tool.parameters["properties"]
    limits = [part["maximum"] for part in parts.values() if "maximum" in part]
    quantities = [part for part in parts.values() if part.get("type") == "number"]
    found = {
        "too short": len(text) < MIN_CHARS,
        "too long": len(text) > MAX_CHARS,
        "limit is not named": not all(names_number(text, limit) for limit in limits),
        "no right example": not RIGHT.search(text),
        "no wrong example": not WRONG.search(text),
        "one value a call is not said": single_number(tool) is not None
        and not ONE_A_CALL.search(text),
        "no unit": not all(
            UNIT.search(f"{text} {part.get('description', '')}") for part in quantities
        ),
    }
    return [problem for problem in PROBLEMS if found[problem]]


def lint_examples(tool: Tool) -> list[str]:
    """Return, in sentences, which JSON examples are not what they claim to be.

    A right example must pass the tool's schema, and a wrong one must not: a
    description that lies is worse than none.
    """
    claims = {True: "right", False: "wrong"}
    return [
        f"the {claims[claim]} example {json.dumps(example, ensure_ascii=False)} "
        f"{'is refused' if claim else 'is accepted'} by the schema"
        for claim, example in _examples(tool.description)
        if tool.validator.is_valid(example) is not claim
    ]


def names_number(text: str, limit: float) -> bool:
    """Tell whether the number stands in the text, with or without commas.

    >>> names_number("From 2 to 1,000 per call.", 1000), names_number("in 2024", 20)
    (True, False)
    """
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    return (
        re.search(rf"(?<![\d.]){re.escape(f'{limit:.15g}')}(?![\d]|\.\d)", plain)
        is not None
    )


def _examples(text: str) -> Iterator[tuple[bool, Any]]:
    """Yield (claimed to be right, arguments) for each JSON object after a label."""
    decoder = json.JSONDecoder()
    for claim, label in ((True, RIGHT), (False, WRONG)):
        for match in label.finditer(text):
            example = text[match.end() :].lstrip("` \n")
            if not example.startswith("{"):
                continue  # an example in prose
            try:
                yield claim, decoder.raw_decode(example)[0]
            except json.JSONDecodeError:
                continue
