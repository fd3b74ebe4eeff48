"""Lesson 12 in JupyterLab: what is measured, in tables, and an exercise solved."""

import os

import pytest
from playwright.sync_api import expect

HEAD = """def agreement(ours: Sequence[Hashable], theirs: Sequence[Hashable]) -> float:
    n = len(ours)
    if n == 0 or n != len(theirs):
        raise ValueError("two rows of as many labels are needed")
    same = sum(a == b for a, b in zip(ours, theirs)) / n
    counts, others = Counter(ours), Counter(theirs)
    luck = sum(counts[label] * others[label] for label in counts) / n**2
    if luck == 1:
        raise ValueError("one label for everything shows nothing")
"""
WRONG = f"{HEAD}    return same"
RIGHT = f"{HEAD}    return (same - luck) / (1 - luck)"


@pytest.fixture
def lesson(open_lesson):
    """The lesson, after Run All."""
    lesson = open_lesson("12_evaluation")
    lesson.run_all()
    return lesson


def test_lesson_12_from_graders_that_lie_to_a_judge_that_is_judged(lesson):
    """Run all; the tables are there; an exercise can be solved"""
    expect(lesson.output("missed.reveal")).to_contain_text("2004 is in 12004")
    expect(lesson.output("by your grade:")).to_contain_text("29 of 29")
    expect(lesson.output("shown.style.apply")).to_contain_text("no policy, no taint")
    expect(lesson.output("stop_after_ten")).to_contain_text("run the second time")
    lesson.pictures("lesson_12_light")
    if os.environ.get("WORKBOOK_SCREENSHOTS"):
        lesson.choose_theme("JupyterLab Dark")
        lesson.pictures("lesson_12_dark")
        lesson.choose_theme("JupyterLab Light")

    message = ["kappa is (observed - by luck) / (1 - by luck)", "0.4"]
    lesson.solve("agreement", WRONG, RIGHT, message=message)
