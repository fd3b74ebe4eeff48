"""Plausible wrong answers to `lint_description`, with words their failures must show."""

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
    finds_the_limit_in_a_year: "the limit 20 is not named by 2024",
    wants_one_value_from_everybody: "a tool that takes text need not say",
    reports_in_any_order: "in the order of PROBLEMS",
    counts_one_too_few: "exactly 1,024 characters",
    reads_the_description_alone: "the unit may stand in the parameter's own",
}
