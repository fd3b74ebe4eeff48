"""Check what a tool says about itself.

`lint_description` lists what a description lacks, and `lint_examples` which examples
are false: a false description is worse than none.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from workbook.paths import DATA
from workbook.runtime.arguments import problems_with
from workbook.runtime.calls import to_json
from workbook.runtime.tools import Tool
from workbook.views.preflight import single_number

MIN_CHARS, MAX_CHARS = 30, 1024  # less explains nothing; OpenAI takes no more
WORDS = tomllib.loads((DATA / "description_words.toml").read_text(encoding="utf-8"))
RIGHT, WRONG, ONE_A_CALL, UNIT = (
    re.compile("|".join(WORDS[what]), re.IGNORECASE)
    for what in ("right", "wrong", "one_a_call", "unit")
)


def lint_description(tool: Tool) -> list[str]:
    """Return what the tool's description lacks, in this order.

    - `too short`, `too long`: fewer than 30 or more than 1,024 characters.
    - `limit is not named`: the description lacks the `maximum` of a parameter.
    - `no right example`, `no wrong example`: no "Right: …", no "Wrong: …".
    - `one value per call is not said`: for a tool that takes one number.
    - `no unit`: for a parameter of the type `number`, if neither the description nor
      the parameter's own names a unit.

    >>> from workbook.environments.number_theory import factorial
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
        "one value per call is not said": (
            single_number(tool) is not None and not ONE_A_CALL.search(text)
        ),
        "no unit": not all(
            UNIT.search(f"{text} {part.get('description', '')}") for part in quantities
        ),
    }
    return [problem for problem, is_there in found.items() if is_there]


def lint_examples(tool: Tool) -> list[str]:
    """Return which right examples the schema refuses, and which wrong ones it takes."""
    lies = {True: "right example {} is refused", False: "wrong example {} is accepted"}
    return [
        f"the {lies[claim].format(to_json(example))} by the schema"
        for claim, example in _examples(tool.description)
        if bool(problems_with(tool.validator, example)) is claim
    ]


def names_number(text: str, limit: float) -> bool:
    """Tell whether the text has the number, with or without commas.

    >>> names_number("From 2 to 1,000 per call.", 1000), names_number("in 2024", 20)
    (True, False)
    """
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    named = re.escape(f"{limit:.15g}")
    return re.search(rf"(?<![\d.]){named}(?!\d|\.\d)", plain) is not None


def _examples(text: str) -> Iterator[tuple[bool, Any]]:
    """Yield (claimed to be right, arguments) for each JSON object after a label."""
    for claim, label in ((True, RIGHT), (False, WRONG)):
        for match in label.finditer(text):
            example = text[match.end() :].lstrip("` \n")
            with suppress(json.JSONDecodeError):  # an example in prose
                value, _ = json.JSONDecoder().raw_decode(example)
                if isinstance(value, dict):
                    yield claim, value
