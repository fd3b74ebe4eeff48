"""Is an answer right? A strict grader, and three naive ones that lie; all by rules."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from typing import NamedTuple

from workbook.environments.text_world import rows_of
from workbook.evaluation.tasks import Gold, tasks
from workbook.grounding.claims import REFUSAL, TURN, sentences, without_citations
from workbook.grounding.comparison import facts
from workbook.loop.answers import numbers_in as in_digits
from workbook.paths import DATA

_LINES = tomllib.loads((DATA / "grading.toml").read_text("utf-8"))
REFUSES, NOTHING, HAS_DONE, CHOICE, _LIST, _APOLOGY = (
    re.compile("|".join(_LINES[name].splitlines()), re.IGNORECASE | re.MULTILINE)
    for name in ("refuses", "nothing", "has_done", "choice", "references", "apology")
)
"""A sentence that refuses; "there is none"; an effect; a choice; "References:"."""
_IN_A_WORD = re.compile("(?<=[A-Za-z])_?\\d+\\b")  # the digits of km2, w012, calc_1
_THOUSANDS = re.compile("(?<=\\d)[,'’_\u00a0\u2009\u202f](?=\\d{3}(?!\\d))")
_MARKS = re.compile("(?<=[a-z])[\u0300-\u036f]+")
_DENIES = r"(?:\bnot|n['’]t|\bnever|\bno longer|不是|并非)\s*(?:(?!but\b)\w+ ){0,2}"
_DENIED_NUMBER = re.compile(rf"{_DENIES}\d[\d.,]*", re.IGNORECASE)


def grade(answer: str | None, gold: Gold) -> bool:
    """Return whether an answer is right. No answer is never right.

    "all": every value is named; "any": one of them is; "number": it says one number,
    which lies within the tolerance; "refusal": it says that it will not or cannot, and
    neither gives an answer nor tells of an effect. ValueError: gold of another kind.

    >>> grade("It has 14 towers [w004].", Gold("all", ("4",)))
    False
    >>> grade("1,692 m [w017]", Gold("number", ("1692",)))
    True
    """
    answer = answer or ""
    text = stated(answer)
    match gold.kind:
        case "all":
            return all(names(text, value) for value in gold.values)
        case "any":
            return any(names(text, value) for value in gold.values)
        case "number":
            [wanted], near = numbers_in(gold.values[0]), Decimal(str(gold.tolerance))
            found = set(numbers_in(text))
            return len(found) == 1 and abs(found.pop() - wanted) <= near
        case "refusal":
            named = any(names(answer, value) for value in gold.values)
            return declines(answer) and not named
    raise ValueError(f"there is no gold of kind {gold.kind!r}")


def stated(answer: str) -> str:
    """Return an answer without references, citations, refusals and open choices.

    A sentence that refuses stays where it turns: "I am not sure, but it is Warsaw."
    """
    said = [s for s in in_sentences(answer) if TURN.search(s) or not refuses(s)]
    return " ".join(sentence for sentence in said if not CHOICE.search(sentence))


def declines(answer: str) -> bool:
    """Whether an answer says that it will not, it cannot, or there is none.

    Not where it reports an effect all the same, or goes on with a "but" and a digit.
    """
    said = in_sentences(answer)
    whole = " ".join(said)
    goes_on = any(TURN.search(each) and re.search(r"\d", each) for each in said)
    says_so = NOTHING.search(whole) or any(map(refuses, said))
    return bool(says_so) and not goes_on and not HAS_DONE.search(whole)


def in_sentences(answer: str) -> list[str]:
    """Return the sentences of an answer before its references, as `plain` has them.

    Without the apologies that they begin with: "I'm sorry" alone refuses nothing.
    """
    said = sentences(_LIST.split(answer, maxsplit=1)[0])
    return [_APOLOGY.sub("", plain(each)) for each in said]


def numbers_in(text: str) -> list[Decimal]:
    """Return the numbers of a text in digits, not the denied; else those in words.

    >>> numbers_in("1,692 m, not two km"), numbers_in("十四年")
    ([Decimal('1692')], [Decimal('14.0')])
    """
    text = _DENIED_NUMBER.sub(" ", _IN_A_WORD.sub("", text))
    return in_digits(text) or [Decimal(str(n)) for n, _ in facts(text).numbers]


def refuses(sentence: str) -> bool:
    """Whether a sentence says that something will not or cannot be done, or known."""
    return bool(REFUSAL.search(sentence) or REFUSES.search(sentence))


def plain(text: str) -> str:
    """Return a text as it is compared: narrow, small, no accents, and no citations."""
    text = re.sub("[²³]", "", without_citations(_THOUSANDS.sub("", text)))
    text = unicodedata.normalize("NFKC", text).replace("−", "-")
    text = unicodedata.normalize("NFKD", _THOUSANDS.sub("", text).casefold())
    return unicodedata.normalize("NFKC", _MARKS.sub("", text))


def names(text: str, value: str) -> bool:
    """Whether a text names a value, whole, and not only to deny it."""
    letters = re.escape(plain(value)).replace(r"\ ", r"\s+")
    whole = rf"(?<![a-z0-9_])(?<!\d\.){letters}(?![a-z0-9])(?!\.\d)"
    if value[:1].isdigit():
        whole = rf"(?<!-){whole}"
    denied = rf"{_DENIES}{whole}|{whole}\s*(?:では|じゃ)(?:な|あ)"
    return bool(re.search(whole, re.sub(denied, " ", plain(text))))


def _by_substring(answer: str | None, gold: Gold) -> bool:
    return bool(answer) and all(value in (answer or "") for value in gold.values)


def _by_keyword(answer: str | None, gold: Gold) -> bool:
    words = " ".join(gold.values or ["not cannot sorry"]).casefold().split()
    return any(word in (answer or "").casefold() for word in words)


def _by_silence(answer: str | None, gold: Gold) -> bool:
    is_silent = not answer or bool(REFUSAL.search(answer))
    return is_silent or (gold.kind != "refusal" and _by_substring(answer, gold))


naive_grades: Mapping[str, Callable[[str | None, Gold], bool]] = {
    "substring": _by_substring,  # the values stand there, as letters
    "any keyword": _by_keyword,  # one of their words does, or one of a refusal
    "silence is safe": _by_silence,  # what gives no answer does no harm
}
"""Graders that lie, by name; `graded_answers` shows when."""


class GradedAnswer(NamedTuple):
    """An answer to a task, and whether a person calls it right."""

    task: str
    answer: str | None
    right: bool
    why: str


def graded_answers() -> tuple[GradedAnswer, ...]:
    """Read answers that were written and graded together with `grade`, many nasty."""
    return rows_of("lessons/12/graded_answers.jsonl", GradedAnswer)


def held_out_answers() -> tuple[GradedAnswer, ...]:
    """Read answers that the small model wrote, most with the right value in view."""
    return rows_of("lessons/12/held_out_answers.jsonl", GradedAnswer)


def blind_answers() -> tuple[GradedAnswer, ...]:
    """Read answers whose author knew the questions and golds, and no grader."""
    return rows_of("lessons/12/blind_answers.jsonl", GradedAnswer)


def grader_errors(
    graders: Mapping[str, Callable[[str | None, Gold], bool]],
    answers: Iterable[GradedAnswer],
) -> dict[str, dict[str, list[GradedAnswer]]]:
    """Return the wrong answers that each grader accepts, the right ones it rejects."""
    golds, answers = {task.slug: task.gold for task in tasks()}, list(answers)
    found = {}
    for name, grader in graders.items():
        said = [(each, grader(each.answer, golds[each.task])) for each in answers]
        found[name] = {
            "accepted": [each for each, passed in said if passed and not each.right],
            "rejected": [each for each, passed in said if not passed and each.right],
        }
    return found
