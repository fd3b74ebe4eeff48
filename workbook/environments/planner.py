"""Split an English question into ordered steps by fixed rules, without a model."""

import re
import tomllib
import unicodedata
from functools import cache
from typing import Any, NamedTuple

from workbook.paths import DATA
from workbook.tools.tool import Tool

MAX_QUESTION_CHARS = 2000
MAX_HOPS = 8
NO_PLAN = "No rule fits this question. Split it yourself, or ask for one fact."
RULES = tomllib.loads((DATA / "environments/plan_rules.toml").read_text("utf-8"))


class PlanStep(NamedTuple):
    """Step `number` does look_up, calculate or compare, after the steps it `needs`."""

    number: int
    do: str
    what: str
    needs: tuple[int, ...] = ()


def plan(question: str) -> list[PlanStep]:
    """Return the steps for `question`, in the order in which they can be done.

    A question is cut into parts at ? ! ; and "then". A part is one of four:

    1. Arithmetic: one calculation; "half of …" looks up first what it is about.
    2. A comparison: each thing is looked up, then they are compared.
    3. A question about what it describes: the innermost description is looked up first,
       and is called [1] from there on.
    4. A question for one fact, which is looked up as it stands.

    Where a part is none of them, or not English, there is no plan: the list is empty. A
    part that refers back ("it") needs the part before it.

    >>> for step in plan("What is the capital of the country where Kepler was born?"):
    ...     print(step.number, step.do, step.what, step.needs)
    1 look_up the country where Kepler was born ()
    2 look_up the capital of [1] (1,)
    """
    text = unicodedata.normalize("NFKC", question)[:MAX_QUESTION_CHARS]
    if _rule("other_script").search(text):
        return []
    steps: list[PlanStep] = []
    for part in _rule("part_ends").split(text.replace("’", "'")):
        part = part.strip(" \t\r\n,;")
        if re.search(r"\w", part):
            found = _steps_for(part, len(steps))
            if not found:
                return []
            steps += found
    return steps


def _steps_for(part: str, before: int) -> list[PlanStep]:
    first, second, third = range(before + 1, before + 4)
    back = (before,) if before and _rule("refers_back").search(part) else ()
    expression = _rule("asking").sub("", part)
    if _rule("expression").fullmatch(expression):
        return [PlanStep(first, "calculate", expression.strip(), back)]
    if found := _rule("comparison").search(part):
        a, b = (each.strip() for each in found.groups() if each)
        return [
            PlanStep(first, "look_up", a, back),
            PlanStep(second, "look_up", b, back),
            PlanStep(third, "compare", part, (first, second)),
        ]
    if _rule("operation").search(part):
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
    text, hops, is_fact = part, list[str](), _rule("fact").search
    patterns = [_compiled(each) for each in RULES["descriptions"]]
    while found := next(filter(None, (each.search(text) for each in patterns)), None):
        head, what, tail = text[: found.start()], found[0], text[found.end() :]
        if clause := found.groupdict().get("clause"):
            what, verb = found["the"] + clause, found["verb"] or ""
            if not verb + tail.strip("?") and _rule("waits_for_a_verb").search(head):
                return []  # where the clause ends and the question goes on, is open
            tail = verb + tail
        hops.append(what)
        text = f"{head}[{before + len(hops)}]{tail}"
        if len(hops) == MAX_HOPS:
            return []
    if _rule("unclear").search(text):
        return []
    if hops and (end := _rule("nothing_more").search(text)):
        hops[-1] += end["rest"]
        return [part] if len(hops) == 1 and is_fact(part) else hops
    return [*hops, text] if is_fact(text) else []


@cache
def _compiled(text: str) -> re.Pattern[str]:
    """Compile a pattern of the rules, with what its words in capitals stand for."""
    words = re.compile(rf"\b(?:{'|'.join(RULES['words'])})\b")
    while words.search(text):
        text = words.sub(lambda word: RULES["words"][word[0]], text)
    return re.compile(text)


def _rule(name: str) -> re.Pattern[str]:
    return _compiled(RULES[name])


def _run(question: str) -> dict[str, Any]:
    steps = [{**step._asdict(), "needs": list(step.needs)} for step in plan(question)]
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
