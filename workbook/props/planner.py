"""Split a question into ordered steps, by rules and without a model.

The same question always gives the same plan, in English, Japanese and Chinese. The
rules are few and written down in `plan`; a question that fits none of them is one step.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any

from workbook.props.query_terms import normalise
from workbook.tools.tool import Tool

MAX_QUESTION_CHARS = 2000


@dataclass(frozen=True, slots=True)
class PlanStep:
    """One step of a plan.

    Args:
        number: 1, 2, 3, …
        do: `look_up`, `calculate` or `compare`.
        what: is looked up, calculated or compared.
        needs: the numbers of the steps that come before it.
    """

    number: int
    do: str
    what: str
    needs: tuple[int, ...] = ()


_PART_ENDS = re.compile(
    r"(?<=[?。])\s*|(?<=[^\d\s]!)\s*|(?<=[a-z0-9)]{2})\.\s+(?-i:(?=[A-Z]))|;\s*"
    r"|,?\s+(?:and\s+)?then\s+|,?\s+after\s+that,?\s+|,\s*and\s+(?=wh|how\b)"
    r"|[、,]?(?:次に|その後に?|それから|そして)[、,]?"
    r"|[,、]?(?:然后|然後|接着|接著|之后再|之後再)[,、]?",
    re.IGNORECASE,
)
_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"^(?P<what>(?:which|who)\b.*?)[,:]\s*(?P<a>.+?)\s+or\s+(?P<b>.+?)\??$",
        r"^(?P<what>compare)\s+(?P<a>.+?)\s+(?:and|with|to)\s+(?P<b>.+?)[.?]?$",
        r"^(?P<what>is)\s+(?P<a>.+?)\s+\w+er\s+than\s+(?P<b>.+?)\??$",
        r"^(?P<a>.+?)と(?P<b>.+?)(?:では|のうち|を比べ)[、,]?(?P<what>.*)$",
        r"^(?P<what>比较|比較)(?P<a>.+?)[和与與跟](?P<b>.+?)[?。]?$",
        r"^(?P<a>.+?)[和与與跟](?P<b>.+?)(?P<what>[,,]?(?:哪|谁|誰).*)$",
    )
)
_OPERATION = re.compile(
    r"\b(?:half|twice|double|squared?|times|plus|minus|divided|multiplied|percent"
    r"|sum|difference|average|ratio)\b|[+*/×÷%]"
    r"|倍|半分|足す|引く|掛け|割る|合計|差は|平均|一半|加上|减去|減去|乘以|除以|之和|之差",
    re.IGNORECASE,
)
_OPERATOR = (
    r"(?:[.,()+\-*/×÷^%!\s]|plus|minus|times|divided by|factorial of"
    r"|加上?|减去?|乘以|除以|[の的]?(?:階乗|阶乘|階乘))"
)
_EXPRESSION = re.compile(rf"{_OPERATOR}*\d(?:\d|{_OPERATOR})*", re.IGNORECASE)
_ASKING = re.compile(
    r"^(?:what\s+is\s+the|what\s+is|what's|calculate|compute|evaluate|how\s+much\s+is|请?计算|請?計算)"
    r"\s*|(?:を計算(?:して(?:ください)?)?|はいくつ(?:ですか)?|は何ですか|等于多少"
    r"|等於多少|是多少)?[?=。.]*$",
    re.IGNORECASE,
)
_REFERS_BACK = re.compile(
    r"\b(?:it|its|that|this|they|them|their|he|his|she|her|result|answer)\b"
    r"|それ|その|これ|彼|結果|它|他|她|这个|這個|结果|結果",
    re.IGNORECASE,
)


def plan(question: str) -> list[PlanStep]:
    """Return the steps for `question`, in the order in which they can be done.

    1. A question is cut into parts at ? ! 。 ; and at "then", 次に, 然后 and the like.
    2. A part that is arithmetic and nothing else is one calculation.
    3. A part that compares two things looks up each, then compares.
    4. A part with a word of arithmetic ("half of …", …の半分, …的一半) looks up what it
       is about, then calculates.
    5. Any other part is looked up.

    A later part that begins to refer back ("it", それ, 它) needs the part before it.

    >>> for step in plan("Which is higher, Mount Fuji or the Eiffel Tower?"):
    ...     print(step.number, step.do, step.what, step.needs)
    1 look_up Mount Fuji ()
    2 look_up the Eiffel Tower ()
    3 compare Which is higher, Mount Fuji or the Eiffel Tower? (1, 2)
    """
    text = normalise(question)[:MAX_QUESTION_CHARS]
    steps: list[PlanStep] = []
    for part in _PART_ENDS.split(text):
        part = part.strip(" \t\r\n,、。;")
        if re.search(r"\w", part):
            steps += _steps_for(part, before=len(steps))
    return steps


def _steps_for(part: str, before: int) -> list[PlanStep]:
    first, second, third = range(before + 1, before + 4)
    back = (before,) if before and _REFERS_BACK.search(part) else ()
    expression = _ASKING.sub("", part)
    if _EXPRESSION.fullmatch(expression):
        return [PlanStep(first, "calculate", expression.strip(), back)]
    for pattern in _COMPARISONS:
        if found := pattern.search(part):
            return [
                PlanStep(first, "look_up", found["a"].strip(), back),
                PlanStep(second, "look_up", found["b"].strip(), back),
                PlanStep(third, "compare", part, (first, second)),
            ]
    if not _OPERATION.search(part):
        return [PlanStep(first, "look_up", part, back)]
    if back:  # the value is there already
        return [PlanStep(first, "calculate", part, back)]
    return [
        PlanStep(first, "look_up", part),
        PlanStep(second, "calculate", part, (first,)),
    ]


def _run(question: str) -> dict[str, Any]:
    steps = [{**asdict(step), "needs": list(step.needs)} for step in plan(question)]
    return {"steps": steps}


def planner() -> Tool:
    """Return the tool `Plan`: one question in, its steps out."""
    question = {"type": "string", "minLength": 1, "maxLength": MAX_QUESTION_CHARS}
    return Tool(
        name="Plan",
        description=(
            "Splits one question per call into ordered steps: look_up, calculate, "
            "compare. It follows fixed rules and knows no facts; at most 2000 "
            "characters. "
            'Right: {"question": "Which is older, Kyoto or Nara?"}. '
            'Wrong: {"question": ["Kyoto?", "Nara?"]}.'
        ),
        parameters={
            "type": "object",
            "properties": {"question": question},
            "required": ["question"],
        },
        run=_run,
        timeout_s=None,
    )


TOOLS = {"Plan": planner}
