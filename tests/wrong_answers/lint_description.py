"""Plausible wrong answers to `lint_description`, with the tests that catch them."""

from workbook.tools.descriptions import (
    MAX_CHARS,
    MIN_CHARS,
    ONE_A_CALL,
    PROBLEMS,
    RIGHT,
    UNIT,
    WRONG as WRONG_EXAMPLE,
    names_number,
)
from workbook.tools.preflight import single_number


def _lint(tool, names=names_number, single=single_number, longest=MAX_CHARS, unit=True):
    text = tool.description.strip()
    parts = tool.parameters["properties"].values()
    own = [p.get("description", "") if unit else "" for p in parts if p.get("type") == "number"]
    found = {
        "too short": len(text) < MIN_CHARS,
        "too long": len(text) > longest,
        "limit is not named": not all(names(text, p["maximum"]) for p in parts if "maximum" in p),
        "no right example": not RIGHT.search(text),
        "no wrong example": not WRONG_EXAMPLE.search(text),
        "one value a call is not said": single(tool) is not None and not ONE_A_CALL.search(text),
        "no unit": not all(UNIT.search(f"{text} {words}") for words in own),
    }
    return [problem for problem in PROBLEMS if found[problem]]


def finds_the_limit_in_a_year(tool):
    return _lint(tool, names=lambda text, limit: str(limit) in text)


def wants_one_value_from_everybody(tool):
    return _lint(tool, single=lambda tool: tool)


def reports_in_any_order(tool):
    return sorted(_lint(tool))


def counts_one_too_few(tool):
    return _lint(tool, longest=MAX_CHARS - 1)


def reads_the_description_alone(tool):
    return _lint(tool, unit=False)


WRONG = {
    finds_the_limit_in_a_year: "test_the_limit_is_a_number_of_its_own",
    wants_one_value_from_everybody: "test_one_value_matters_for_numbers_only",
    reports_in_any_order: "test_everything_is_missing",
    counts_one_too_few: "test_a_thousand_characters_are_not_too_long",
    reads_the_description_alone: "test_a_unit_in_the_parameter",
}
