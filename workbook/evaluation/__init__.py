"""How good is it: questions with answers, runs over all of them, and what they show.

`experiment` asks every question with every method and keeps what came out and what it
cost; `grading` says what is right, and how sure one can be after so few questions.
"""

from workbook.evaluation.experiment import (
    Outcome,
    Question,
    marks,
    run_experiment,
    summarize,
)
from workbook.evaluation.grading import matches_any, same_number, wilson_interval
from workbook.evaluation.questions import (
    ArithmeticQuestion,
    arithmetic_questions,
    calculator_world,
    wiki_world,
)

__all__ = [
    "ArithmeticQuestion",
    "Outcome",
    "Question",
    "arithmetic_questions",
    "calculator_world",
    "marks",
    "matches_any",
    "run_experiment",
    "same_number",
    "summarize",
    "wiki_world",
    "wilson_interval",
]
