"""Split an English question into ordered steps by fixed rules, without a model."""

import re
from typing import Any, NamedTuple

from workbook.runtime.tools import Tool

MAX_QUESTION_CHARS = 2000
NO_PLAN = "No rule fits this question. Split it yourself, or ask for one fact."

CALCULATION = re.compile(r"(?i)(?:what is |calculate )?([\d(][\d\s.()+*/-]*)[?.=]*")
COMPARISON = re.compile(
    r"(?i)which [^,:]+[,:] (.+) or (.+?)\?|is (.+) \w+er than (.+?)\?"
)
FACT = re.compile(r"(?i)(?:\w+ )?(?:who|what|when|where|which|how)\b(?! (?:do|to)\b)")
CAPITAL = r"(?:[A-Z][\w.-]*|\d+)(?![\w'])"
NAME = rf"(?:\[\d+\]|(?:the )?{CAPITAL}(?: (?:of |the |and )*{CAPITAL})*)"
# What a question describes, the innermost first: by a name, or by a clause.
DESCRIPTIONS = (
    re.compile(rf"\bthe [a-z]+(?: [a-z]+)? of {NAME}"),
    re.compile(r"\bthe [a-z]+ (?:(?:in|on|with) )?(?:wh\w+|that) [^,?]+"),
)
NOTHING_MORE = re.compile(r"(?i)(?:what|who) (?:is|was) \[\d+\]\W*")
# The question goes on after the clause, and no rule can tell where.
UNCLEAR = re.compile(r"\b(?:did|does|was|were) \[\d+\]\W*$")


class PlanStep(NamedTuple):
    """Step `number` does look_up, calculate or compare, after the steps it `needs`."""

    number: int
    do: str
    what: str
    needs: tuple[int, ...] = ()


def plan(question: str) -> list[PlanStep]:
    """Return the steps for `question`, in the order in which they can be done.

    Arithmetic is one calculation. Of a comparison each thing is looked up, then they
    are compared. Of a question about what it describes, the innermost description is
    looked up first, and is called [1] from there on. Where no rule fits, the list is
    empty.

    >>> for step in plan("What is the capital of the country where Kepler was born?"):
    ...     print(step.number, step.do, step.what, step.needs)
    1 look_up the country where Kepler was born ()
    2 look_up the capital of [1] (1,)
    """
    text = " ".join(question[:MAX_QUESTION_CHARS].split())
    if found := CALCULATION.fullmatch(text):
        return [PlanStep(1, "calculate", found[1].strip())]
    if found := COMPARISON.fullmatch(text):
        a, b = filter(None, found.groups())
        looked_up = [PlanStep(1, "look_up", a), PlanStep(2, "look_up", b)]
        return [*looked_up, PlanStep(3, "compare", text, (1, 2))]
    if not FACT.match(text) or "?" in text[:-1]:  # several questions
        return []
    steps: list[PlanStep] = []
    while found := next(
        filter(None, (each.search(text) for each in DESCRIPTIONS)), None
    ):
        steps.append(_look_up(len(steps) + 1, found[0]))
        text = f"{text[: found.start()]}[{len(steps)}]{text[found.end() :]}"
    if NOTHING_MORE.fullmatch(text):
        return steps
    return [] if UNCLEAR.search(text) else [*steps, _look_up(len(steps) + 1, text)]


def _look_up(number: int, what: str) -> PlanStep:
    needs = tuple(map(int, re.findall(r"\[(\d+)\]", what)))
    return PlanStep(number, "look_up", what, needs)


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
