"""Split a question into ordered steps, by the rules in `plan` and without a model."""

import re
import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from workbook.environments.query_terms import language, normalise
from workbook.paths import DATA
from workbook.tools.tool import Tool

MAX_QUESTION_CHARS = 2000
MAX_HOPS = 8
NO_PLAN = "No rule fits this question. Split it yourself, or ask for one fact."
RULES = tomllib.loads((DATA / "plan_rules.toml").read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class PlanStep:
    """Step `number` does look_up, calculate or compare, after the steps it `needs`."""

    number: int
    do: str
    what: str
    needs: tuple[int, ...] = ()


def plan(question: str) -> list[PlanStep]:
    """Return the steps for `question`, in the order in which they can be done.

    1. A question is cut into parts at ? ! 。 ; and at "then", 次に, 然后 and the like.
    2. A part that is arithmetic and nothing else is one calculation.
    3. A part that compares two things looks up each, then compares.
    4. A part with a word of arithmetic ("half of …", …の半分, …的一半) looks up what it
       is about, then calculates.
    5. A part that describes what it asks about looks up the description first, the
       innermost before all others, and calls it [1] from there on. Descriptions are
       "the capital of France", "France's capital", "the city named after Washington",
       "the country where Marie Curie was born", フランスの首都, 法国的首都.
    6. A part that asks for one fact is looked up as it stands.
    7. Where a part fits no rule, there is no plan: the list is empty.

    A later part that begins to refer back ("it", それ, 它) needs the part before it.

    >>> for step in plan("What is the capital of the country where Kepler was born?"):
    ...     print(step.number, step.do, step.what, step.needs)
    1 look_up the country where Kepler was born ()
    2 look_up the capital of [1] (1,)
    """
    text = normalise(question)[:MAX_QUESTION_CHARS].replace("’", "'")
    steps: list[PlanStep] = []
    for part in _pattern(RULES["part_ends"]).split(text):
        part = part.strip(" \t\r\n,、。;")
        if re.search(r"\w", part):
            found = _steps_for(part, len(steps))
            if not found:
                return []
            steps += found
    return steps


def _steps_for(part: str, before: int) -> list[PlanStep]:
    first, second, third = range(before + 1, before + 4)
    refers_back = before and _pattern(RULES["refers_back"]).search(part)
    back = (before,) if refers_back else ()
    expression = _pattern(RULES["asking"]).sub("", part)
    if _pattern(RULES["expression"]).fullmatch(expression):
        return [PlanStep(first, "calculate", expression.strip(), back)]
    for pattern in RULES["comparisons"]:
        if found := _pattern(pattern).search(part):
            return [
                PlanStep(first, "look_up", found["a"].strip(), back),
                PlanStep(second, "look_up", found["b"].strip(), back),
                PlanStep(third, "compare", part, (first, second)),
            ]
    if _pattern(RULES["operation"]).search(part):
        if back:  # the value is there already
            return [PlanStep(first, "calculate", part, back)]
        about = PlanStep(first, "look_up", part)
        return [about, PlanStep(second, "calculate", part, (first,))]
    steps = []
    for number, what in enumerate(_hops(part, before), start=first):
        needs = tuple(n for n in range(first, number) if f"[{n}]" in what)
        steps.append(PlanStep(number, "look_up", what, needs or back))
    return steps


def _hops(part: str, before: int) -> list[str]:
    """Return what to look up one after the other; [3] is what step 3 has found."""
    spoken = language(part)
    split = _descriptions if spoken == "en" else _chain
    hops, left = split(RULES[spoken], part, before)
    is_fact = _pattern(RULES["fact"]).search
    if left:
        return [*hops, left] if is_fact(left) else []
    if not is_fact(part):  # "the height of Etna" is clear without a question
        return hops if spoken == "en" else []
    return [part] if len(hops) == 1 else hops


def _descriptions(rules: Any, text: str, before: int) -> tuple[list[str], str]:
    """Return the descriptions, innermost first, and what is left to be looked up."""
    hops: list[str] = []
    while len(hops) < MAX_HOPS:
        tries = (_pattern(each).search(text) for each in rules["descriptions"])
        found = next(filter(None, tries), None)
        if found is None:
            break
        head, what, tail = text[: found.start()], found[0], text[found.end() :]
        if clause := found.groupdict().get("clause"):
            what, verb = found["the"] + clause, found["verb"] or ""
            waits = not verb and not re.search(r"\w", tail)
            if waits and _pattern(rules["waits_for_a_verb"]).search(head):
                ending = _pattern(rules["last_verb"]).search(what)
                verb = ending[0] if ending else ""
                what = what.removesuffix(verb)
            tail = verb + tail
        hops.append(what)
        text = f"{head}[{before + len(hops)}]{tail}"
    else:
        return [], ""
    if _pattern(rules["unclear"]).search(text):
        return [], ""
    if hops and (end := _pattern(rules["nothing_more"]).search(text)):
        return [*hops[:-1], hops[-1] + end["rest"]], ""
    return hops, text


def _chain(rules: Any, part: str, before: int) -> tuple[list[str], str]:
    """Return the links of AのBのC or A的B的C, and what is left to be looked up."""
    found = _pattern(rules["chain"]).search(part.rstrip("?!"))
    chain, rest = (found["chain"], found["rest"] or "") if found else (part, "")
    names = re.split(rules["split"] + "(?![^『「《]*[』」》])", chain)
    if not all(names):
        return [], ""
    is_clause = _pattern(rules["clause"]).search(names[0])
    if len(names) == 1 and not is_clause:
        return [], part
    first = 1 if is_clause else 2
    hops = [rules["split"].join(names[:first])]
    for name in names[first:]:
        hops.append(f"[{before + len(hops)}]{rules['split']}{name}")
    more = not _pattern(rules["nothing_more"]).search(rest)
    return hops, f"[{before + len(hops)}]{rest}" if more else ""


@cache
def _pattern(text: str) -> re.Pattern[str]:
    """Compile a pattern of the rules, with what its words in capitals stand for."""
    words = re.compile(rf"\b(?:{'|'.join(RULES['words'])})\b")
    while words.search(text):
        text = words.sub(lambda word: RULES["words"][word[0]], text)
    return re.compile(text)


def _run(question: str) -> dict[str, Any]:
    steps = [{**asdict(step), "needs": list(step.needs)} for step in plan(question)]
    return {"steps": steps} if steps else {"steps": [], "note": NO_PLAN}


def planner() -> Tool:
    """Return the tool `Plan`: one question in, its steps out."""
    question = {"type": "string", "minLength": 1, "maxLength": MAX_QUESTION_CHARS}
    about = (
        "Splits one question per call into ordered steps: look_up, calculate, "
        "compare; [1] is what step 1 found. It follows fixed rules, knows no "
        "facts, and says where it has no plan; at most 2000 characters. "
        'Right: {"question": "Which is older, Kyoto or Nara?"}. '
        'Wrong: {"question": ["Kyoto?", "Nara?"]}.'
    )
    schema = {"properties": {"question": question}, "required": ["question"]}
    return Tool("Plan", about, schema, _run, timeout_s=None, outside=False)


TOOLS = {"Plan": planner}
