"""Sums in words, and the world in which each of them may be answered."""

import random
import tomllib
from dataclasses import dataclass
from functools import cache

from workbook.environments.text_world import rows_of
from workbook.loop.text_world import ToolWorld
from workbook.paths import DATA
from workbook.runtime.calculator import safe_eval


@dataclass(frozen=True, slots=True)
class ArithmeticQuestion:
    """A small sum in words."""

    slug: str
    text: str
    answers: tuple[str, ...]


@cache
def arithmetic_questions() -> tuple[ArithmeticQuestion, ...]:
    """Read the twenty questions: fourteen of one calculation, six of two."""
    return rows_of("arithmetic.jsonl", ArithmeticQuestion)


def drawn_sums(number: int, seed: int = 12) -> tuple[ArithmeticQuestion, ...]:
    """Return so many sums of one calculation: eight forms, with numbers that are drawn.

    A longer list begins with the shorter one of the same seed.
    """
    forms = tomllib.loads((DATA / "lessons/12/sums.toml").read_text("utf-8"))["form"]
    dice, found = random.Random(seed), []
    for n in range(number):
        sign = forms[n % len(forms)]["sign"]
        b, a = dice.randint(12, 49), dice.randint(51, 99)
        if sign == "-":
            a = dice.randint(120, 900)
        if sign == "/":
            a = b * dice.randint(13, 60)
        right = str(int(safe_eval(f"{a} {sign} {b}")))
        asked = forms[n % len(forms)]["text"].format(a=a, b=b)
        found.append(ArithmeticQuestion(f"sum{n + 1:03}", asked, (right,)))
    return tuple(found)


def calculator_world(question: ArithmeticQuestion) -> ToolWorld:
    """Return a world with a calculator, which is the same for every question."""
    return ToolWorld({"Calculator": _calculate})


def _calculate(expression: str) -> str:
    """Show six digits of a fraction: a small model would copy all sixteen."""
    value = safe_eval(expression)
    return f"{value:.6g}" if isinstance(value, float) else str(value)
