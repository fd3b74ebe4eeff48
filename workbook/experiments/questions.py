"""Sums in words, and the world in which each question may be answered."""

import operator
import random
from dataclasses import dataclass
from functools import cache

from workbook.environments.text_world import rows_of
from workbook.environments.wiki import WikiTask, WikiWorld
from workbook.loop.answers import same_number
from workbook.loop.text_world import ToolWorld
from workbook.tools.calculator import safe_eval


@dataclass(frozen=True, slots=True)
class ArithmeticQuestion:
    """A small sum in words, and how many calls of a calculator it takes."""

    slug: str
    text: str
    answers: tuple[str, ...]
    calculations: int


@cache
def arithmetic_questions() -> tuple[ArithmeticQuestion, ...]:
    """Read the twenty questions: fourteen of one calculation, six of two."""
    return rows_of("arithmetic.jsonl", ArithmeticQuestion)


_FORMS = (
    (
        "A library has {a} shelves with {b} books on each. How many books are there?",
        "*",
    ),
    (
        "A shop sells {a} apples in the morning and {b} in the afternoon."
        " How many apples does it sell?",
        "+",
    ),
    ("A train has {a} seats, and {b} of them are taken. How many seats are free?", "-"),
    (
        "{a} sweets are shared equally by {b} children. How many does each child get?",
        "/",
    ),
    ("A ticket costs {a} euro. How much do {b} tickets cost?", "*"),
    ("Ann has {a} stamps and buys {b} more. How many stamps does she have now?", "+"),
    (
        "A tank holds {a} litres, and {b} litres leak out. How many litres are left?",
        "-",
    ),
    ("A rope of {a} metres is cut into {b} equal pieces. How long is each piece?", "/"),
)
_SIGNS = {"*": operator.mul, "+": operator.add, "-": operator.sub}


def drawn_sums(number: int, seed: int = 12) -> tuple[ArithmeticQuestion, ...]:
    """Return so many sums of one calculation: eight forms, with numbers that are drawn.

    A longer list begins with the shorter one of the same seed.
    """
    dice, found = random.Random(seed), []
    for n in range(number):
        text, sign = _FORMS[n % len(_FORMS)]
        b, a = dice.randint(12, 49), dice.randint(51, 99)
        if sign == "-":
            a = dice.randint(120, 900)
        if sign == "/":
            right = dice.randint(13, 60)
            a = b * right
        else:
            right = _SIGNS[sign](a, b)
        asked = text.format(a=a, b=b)
        found.append(ArithmeticQuestion(f"sum{n + 1:03}", asked, (str(right),), 1))
    return tuple(found)


def calculator_world(question: ArithmeticQuestion) -> ToolWorld:
    """Return a world with a calculator, in which the question can be answered."""
    return ToolWorld({"Calculator": _calculate}, question.answers[0], same_number)


def wiki_world(task: WikiTask) -> WikiWorld:
    """Return the encyclopedia, opened at a question."""
    world = WikiWorld()
    world.reset(task)
    return world


def _calculate(expression: str) -> str:
    """Show six digits of a fraction: a small model would copy all sixteen."""
    value = safe_eval(expression)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
