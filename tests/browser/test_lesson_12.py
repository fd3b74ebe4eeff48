"""Lesson 12 in JupyterLab: what is measured, in tables, and an exercise solved."""

from playwright.sync_api import expect

LESSON = "12_evaluation"
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


def test_lesson_12_from_graders_that_lie_to_a_judge_that_is_judged(lesson):
    """Run all; the tables are there; an exercise can be solved"""
    expect(lesson.output("missed.reveal")).to_contain_text("2004 is in 12004")
    expect(lesson.output("by your grade:")).to_contain_text("29 of 29")
    expect(lesson.output("shown.style.apply")).to_contain_text("no policy, no taint")
    expect(lesson.output("stop_after_ten")).to_contain_text("run the second time")
    lesson.pictures_in_both_themes("lesson_12")

    message = ["kappa is (observed - by luck) / (1 - by luck)", "0.4"]
    lesson.solve("agreement", WRONG, RIGHT, message=message)
