"""Lesson 04 and its lab: a first tool, what a description must say, and a warning.

A description is held against the schema, and a question against the tool's words and
limits. Which words in three languages mean what is in `data/*_words.toml`.
"""

import json
import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import cache
from math import inf
from typing import Any

from workbook.paths import DATA
from workbook.runtime.arguments import type_name, types_of
from workbook.runtime.calls import ToolCall, to_json
from workbook.runtime.tools import Tool, ToolRegistry
from workbook.runtime.turns import Action


def lab_data(name: str) -> dict[str, Any]:
    """Read one of the files of lesson 04 and its labs."""
    path = DATA / "lessons" / "04" / f"{name}.toml"
    return tomllib.loads(path.read_text(encoding="utf-8"))


def percent_tool() -> Tool:
    """Return a tool that changes an amount by a percentage."""

    def run(amount: float, percent: float) -> dict[str, Any]:
        return {"result": amount * (100 + percent) / 100}

    return Tool(run=run, **lab_data("percent"))


MIN_CHARS, MAX_CHARS = 30, 1024  # less explains nothing; OpenAI takes no more
_SAYS = tomllib.loads((DATA / "description_words.toml").read_text(encoding="utf-8"))
RIGHT, WRONG, ONE_A_CALL, UNIT = (
    re.compile("|".join(_SAYS[what]), re.IGNORECASE)
    for what in ("right", "wrong", "one_a_call", "unit")
)


def lint_description(tool: Tool) -> list[str]:
    """Return what the tool's description lacks, in the order of this function."""
    text, parts = tool.description.strip(), tool.parameters["properties"].values()
    plain = re.sub(r"(?<=\d),(?=\d{3})", "", text)
    limits = [f"{part['maximum']:.15g}" for part in parts if "maximum" in part]
    quantities = [part for part in parts if part.get("type") == "number"]
    lacks = {
        "too short": len(text) < MIN_CHARS,
        "too long": len(text) > MAX_CHARS,
        "limit is not named": not all(
            re.search(rf"(?<![\d.]){re.escape(limit)}(?!\d|\.\d)", plain)
            for limit in limits
        ),
        "no right example": not RIGHT.search(text),
        "no wrong example": not WRONG.search(text),
        "'one value per call' is missing": single_number(tool) is not None
        and not ONE_A_CALL.search(text),
        "no unit": not all(
            UNIT.search(f"{text} {part.get('description', '')}") for part in quantities
        ),
    }
    return [problem for problem, is_there in lacks.items() if is_there]


def lint_examples(tool: Tool) -> list[str]:
    """Return which right examples the schema refuses, and which wrong ones it takes."""
    found, text = [], tool.description
    for label, lie in (RIGHT, "right {} is refused"), (WRONG, "wrong {} is taken"):
        for match in label.finditer(text):
            with suppress(json.JSONDecodeError):  # an example in prose
                after = text[match.end() :].lstrip("` \n")
                example, _ = json.JSONDecoder().raw_decode(after)
                is_taken = tool.validator.is_valid(example)
                if isinstance(example, dict) and is_taken is (label is WRONG):
                    found.append(lie.format(to_json(example)))
    return found


def improved_description(tool: Tool, wrong: Iterable[Mapping[str, Any]]) -> Tool:
    """Return the tool with a warning for each argument at fault in wrong calls.

    The most frequent fault comes first, and a warning that is there is replaced. The
    words are the schema's: those of an error or a model may be an attacker's.
    """
    faults, parts = Counter[str](), tool.parameters["properties"]
    required, limits = tool.parameters.get("required", ()), ("minimum", "maximum")
    for error in (each for call in wrong for each in tool.validator.iter_errors(call)):
        missing = getattr(error.kind, "property", None)
        name = error.instance_path[0] if error.instance_path else missing
        if name in parts:
            needed = " is needed" if name in required else ""
            part = parts[name]
            says = [f"{word} {part[word]}" for word in limits if word in part]
            faults[", ".join([f'"{name}"{needed}: one {type_name(part)}', *says])] += 1
        else:
            faults["there is no argument but " + ", ".join(map(to_json, parts))] += 1
    text = tool.description.partition("\n[Often wrong:")[0]
    warnings = "; ".join(fault for fault, _ in faults.most_common())
    block = f"\n[Often wrong: {warnings}.]" if warnings else ""
    return replace(tool, description=(text + block)[:MAX_CHARS])


_WORDS = tomllib.loads((DATA / "preflight_words.toml").read_text(encoding="utf-8"))
BATCH_WORDS: tuple[str, ...] = tuple(_WORDS["batch"])


def preflight(question: str, tool: Tool) -> list[str]:
    """Return what will go wrong when the tool is called for the question."""
    schema, numbers = single_number(tool), asked_numbers(question, tool)
    if schema is None:
        return []
    found = [f"batch word: {word}" for word in BATCH_WORDS if word in question.lower()]
    warnings = found[:1] if asks_for(question, tool) else []
    if len(numbers) > 1:
        warnings.append(f"several values: {', '.join(map(str, numbers))}")
    low, high = schema.get("minimum", -inf), schema.get("maximum", inf)
    for n in numbers:
        if n > high:
            warnings.append(f"over limit: {n} > {high}")
        if n < low:
            warnings.append(f"under limit: {n} < {low}")
    return warnings


def single_number(tool: Tool) -> Mapping[str, Any] | None:
    """Return the schema of a tool's one required number; None for any other tool."""
    numbers: list[Mapping[str, Any]] = [
        part
        for name, part in tool.parameters["properties"].items()
        if name in tool.parameters.get("required", ())
        and types_of(part) & {"integer", "number"}
    ]
    is_single = len(numbers) == 1 and "array" not in types_of(numbers[0])
    return numbers[0] if is_single else None


def asks_for(question: str, tool: Tool) -> bool:
    """Return whether a word of the tool, or a number for it, is in the question."""
    words = (rf"(?<![a-z]){re.escape(w)}" for w in tool.asked_by if w[0].isalnum())
    found = any(re.search(word, _plain(question), re.IGNORECASE) for word in words)
    return found or bool(asked_numbers(question, tool))


def asked_numbers(question: str, tool: Tool) -> list[float]:
    """Return the numbers that the question hands to the tool, each once, in order."""
    # 1,000 is one number, but two of them in [1,000]
    text = re.sub(r"(?<=\d),(?=\d{3}(?!\d))(?![^\[\]]*\])", "", _plain(question))
    found: dict[float, int] = {}  # number to its place
    for pattern in _patterns(tool.name, tuple(tool.asked_by)):
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
        for shape in _WORDS["shapes"][script if re.search(r"\w", word) else "signs"]:
            for part, meaning in _WORDS["parts"].items():
                shape = shape.replace(part, meaning)
            shape = shape.replace("WORD", re.escape(word).replace(r"\ ", r"[\s_-]*"))
            patterns.append(re.compile(shape, re.IGNORECASE))
    return patterns


def _plain(question: str) -> str:
    """Return the question with plain digits; a raised one is no digit: 5² is not 52."""
    text = re.sub("[⁰¹²³⁴-⁹₀-₉]+", " ", question[:2000])  # the rest is not read
    return unicodedata.normalize("NFKC", text)[:2000]


def menu(swapped: str = "", names: Iterable[str] = ()) -> dict[str, str]:
    """Return three lines by the name shown; what is swapped is the next tool's."""
    tools, lines = lab_data("which_tool")["tool"], {}
    shown = names or [tool["name"] for tool in tools]
    for name, own, following in zip(shown, tools, tools[1:] + tools[:1], strict=True):
        part = {k: (following if k in swapped else own)[k] for k in own}
        arguments = f"{part['argument']}, {part['note']}"
        lines[name] = f"{name}({arguments}): {part['description']}"
    return lines


def first_call(tool: Tool, text: str) -> tuple[ToolCall | None, str]:
    """Return the call in a text after `Action Input:`, or None, and what is read."""
    registry = ToolRegistry([tool])
    bound = registry.bind(Action("", tool.name, text))
    if isinstance(bound, ToolCall):
        return bound, registry.run(bound).text()
    return None, bound.text()
