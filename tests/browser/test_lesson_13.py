"""Lesson 13 in JupyterLab: verdicts that are found, and the learner's own."""

import inspect

from playwright.sync_api import expect

from workbook.evaluation.claims import my_verdicts

LESSON = "13_read_the_claims"
RIGHT = inspect.getsource(my_verdicts)
WRONG = RIGHT.replace("ClaimVerdict.NOT_REPORTED", "ClaimVerdict.RIGHT")


def test_lesson_13_from_a_figure_to_verdicts_of_ones_own(lesson):
    """Run all; the open claims have no verdict; one that its rows refute is refused"""
    expect(lesson.output("verdicts = [")).to_contain_text("not judged yet")
    lesson.pictures_in_both_themes("lesson_13")
    message = ["ablation's verdict is NOT_REPORTED if no row"]
    lesson.solve("my_verdicts", WRONG, RIGHT, message=message)
