"""Split an English question into ordered steps by fixed rules, without a model."""

import re
from functools import partial
from typing import Any

from workbook.worlds.catalogue import contract

NO_PLAN = "No rule fits this question. Split it yourself, or ask for one fact."

CALCULATION = re.compile(r"(?i)(?:what is |calculate )?([\d(][\d\s.()+*/-]*)[?.=]*")
COMPARISON = re.compile(
    r"(?i)which [^,:]+[,:] (.+) or (.+?)\?|is (.+) \w+er than (.+?)\?"
)
FACT = re.compile(r"(?i)(?:\w+ )?(?:who|what|when|where|which|how)\b(?! (?:do|to)\b)")
CAPITAL = r"(?:[A-Z][\w.-]*|\d+)(?![\w'])"
NAME = rf"(?:\[\d+\]|(?:the )?{CAPITAL}(?: (?:of |the |and )*{CAPITAL})*)"
# What a question describes, by a name or by a clause; the innermost is looked up first.
DESCRIPTIONS = (
    re.compile(rf"\bthe [a-z]+(?: [a-z]+)? of {NAME}"),
    re.compile(r"\bthe [a-z]+ (?:(?:in|on|with) )?(?:wh\w+|that) [^,?]+"),
)
NOTHING_MORE = re.compile(r"(?i)(?:what|who) (?:is|was) \[\d+\]\W*")
# The question goes on after the clause, and no rule can tell where.
UNCLEAR = re.compile(r"\b(?:did|does|was|were) \[\d+\]\W*$")


def plan(question: str) -> dict[str, Any]:
    """Return the steps in the order in which they can be done; none: no rule fits."""
    steps: list[dict[str, Any]] = []

    def add(do: str, what: str) -> None:
        needs = [1, 2] if do == "compare" else map(int, re.findall(r"\[(\d+)\]", what))
        number = len(steps) + 1
        steps.append({"number": number, "do": do, "what": what, "needs": [*needs]})

    text = " ".join(question.split())
    if found := CALCULATION.fullmatch(text):
        add("calculate", found[1].strip())
    elif found := COMPARISON.fullmatch(text):
        for name in filter(None, found.groups()):
            add("look_up", name)
        add("compare", text)
    elif FACT.match(text) and "?" not in text[:-1]:  # one question
        while found := DESCRIPTIONS[0].search(text) or DESCRIPTIONS[1].search(text):
            add("look_up", found[0])
            text = f"{text[: found.start()]}[{len(steps)}]{text[found.end() :]}"
        if not NOTHING_MORE.fullmatch(text):
            add("look_up", text)
            if UNCLEAR.search(text):
                steps.clear()
    return {"steps": steps} if steps else {"steps": [], "note": NO_PLAN}


planner = partial(contract, "Plan", plan)
TOOLS = {"Plan": lambda: [planner()]}
