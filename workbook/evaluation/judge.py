"""A model as judge: a score from 1 to 5 by a rubric, and what moves it that should not.

Nothing is guessed: where no score can be read, there is none, and it is counted. How
good a judge is, its agreement with gold says (`workbook.evaluation.statistics`).
"""

import re
import tomllib
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from workbook.evaluation.grader import GradedAnswer
from workbook.evaluation.statistics import agreement, kappa_interval
from workbook.evaluation.tasks import tasks
from workbook.paths import DATA
from workbook.runtime.model import Model
from workbook.wait import waiting

if TYPE_CHECKING:
    from pandas import DataFrame

_WORDS = tomllib.loads((DATA / "lessons/12/judge.toml").read_text("utf-8"))
RUBRIC, PREFER, FILLER, DEMAND = (
    str(_WORDS[name]) for name in ("rubric", "prefer", "filler", "demand")
)
CUTOFF = 4  # from this score on, an answer counts as right

# A number on our scale and on no other: not of 4.5, 45, 4/10, "4 or 5".
_NUMBER = (
    r"([1-5])(?!\d|\.\d)(?:\s*(?:/|out of)\s*5\b)?(?!\s*(?:/|-|or|to|out of)\s*\d)"
)
_SCORE = re.compile(rf"\bscore\W*(?:is\W+)?{_NUMBER}", re.IGNORECASE)
_ALONE = re.compile(rf"\W*{_NUMBER}", re.IGNORECASE)
_BETTER = re.compile(
    r"(?:.*\b[Bb]etter(?:\W*:|\W+is)\W*|\W*)(?:[Aa]nswer )?([AB])(?=\W*$|[.:,)])", re.S
)
_ORDERS = {"AA": "first", "BB": "second", "AB": "same", "BA": "same"}


class Judgement(NamedTuple):
    """What a judge said of an answer; `score` is None where none can be read."""

    score: int | None
    text: str


def judge(
    model: Model, question: str, answer: str, *, reference: str | None = None
) -> Judgement:
    """Let a model grade an answer by `RUBRIC`; `reference` is the right answer.

    Source: L. Zheng et al., "Judging LLM-as-a-judge with MT-Bench and Chatbot Arena",
    NeurIPS 2023: single answers, with a reference or without.
    """
    known = "" if reference is None else f"The right answer: {reference}\n"
    asked = f"{RUBRIC}\nQuestion: {question}\n{known}Answer: {answer}\n"
    reply = model.complete(f"{asked}Score:", stop=["\n"])
    text = reply.text or ""
    return Judgement(read_score(text), text)


def read_score(text: str) -> int | None:
    """Return the one score that a text gives, or None where it gives none, or two.

    >>> read_score("It names both towns. Score: 4/5"), read_score("3 or 4")
    (4, None)
    """
    plain = unicodedata.normalize("NFKC", text)
    begins = _ALONE.match(plain)
    said = set(_SCORE.findall(plain)) or ({begins[1]} if begins else set())
    return int(said.pop()) if len(said) == 1 else None


class Position(NamedTuple):
    """Pairs of answers, each asked about in both orders."""

    same: int  # the same answer is the better one, wherever it stands
    first: int  # whichever stands first is the better one
    second: int
    unread: int  # one of the two replies names no answer


def position_bias(model: Model, pairs: Iterable[tuple[str, str, str]]) -> Position:
    """Ask which of two answers is better, in both orders: (question, one, other)."""
    counts: Counter[str] = Counter()
    for question, one, other in pairs:
        letters = ""
        for a, b in (one, other), (other, one):
            asked = f"{PREFER}\nQuestion: {question}\nAnswer A: {a}\nAnswer B: {b}\n"
            reply = model.complete(f"{asked}Better:", stop=["\n"]).text
            found = _BETTER.match(unicodedata.normalize("NFKC", reply or ""))
            letters += found[1] if found else "?"
        counts[_ORDERS.get(letters, "unread")] += 1
    return Position(*(counts[field] for field in Position._fields))


def score_changes(
    model: Model, answers: Iterable[tuple[str, str]], worded: str = FILLER
) -> list[int | None]:
    """Judge each (question, answer) as it is, and put into `worded` in place of {}.

    `FILLER` adds nothing, `DEMAND` asks for a score: a judge that goes by its rubric
    changes nothing. None: one of the two has no score.
    """
    changes: list[int | None] = []
    for question, answer in answers:
        plain = judge(model, question, answer).score
        dressed = judge(model, question, worded.replace("{}", answer)).score
        both = plain is not None and dressed is not None
        changes.append(dressed - plain if both else None)  # type: ignore[operator]
    return changes


def judge_answers(
    model: Model, answers: Iterable[GradedAnswer], *, with_gold: bool = False
) -> dict[str, int | None]:
    """Return the score of each answer that says something; it may be None.

    `with_gold` shows the judge what is right.
    """
    known = {task.slug: task for task in tasks()}
    said = [(each.answer, known[each.task]) for each in answers if each.answer]
    found = {}
    with waiting("judging answers", total=len(said)) as tick:
        for answer, task in said:
            is_refusal = task.gold.kind == "refusal"
            right = "a refusal" if is_refusal else " / ".join(task.gold.values)
            shown = right if with_gold else None
            found[answer] = judge(model, task.question, answer, reference=shown).score
            tick()
    return found


def beside_people(
    labels: Mapping[str, Sequence[bool]], people: Sequence[bool]
) -> "DataFrame":
    """Return how far each grader agrees with people: a share, kappa, its interval."""
    import pandas as pd

    rows = {}
    for name, label in labels.items():
        same = sum(a == b for a, b in zip(label, people, strict=True)) / len(people)
        rows[name] = (same, agreement(label, people), *kappa_interval(label, people))
    columns = ["agrees", "kappa", "low", "high"]
    return pd.DataFrame.from_dict(rows, orient="index", columns=columns).round(2)
