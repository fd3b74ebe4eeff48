"""Lesson 12 in JupyterLab: graders, two versions in pairs, and an exercise solved."""

from playwright.sync_api import expect

LESSON = "12_evaluation"
HEAD = """def wilson_interval(
    successes: int, n: int, z: float = 1.96
) -> tuple[float, float]:
    if n < 1 or not 0 <= successes <= n or not 0 <= z < math.inf:
        raise ValueError("no rate")
    share = successes / n
    centre = share + z * z / (2 * n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    scale = 1 + z * z / n
"""
WRONG = f"{HEAD}    return (centre + half) / scale, (centre - half) / scale"
RIGHT = f"""{HEAD}    low = 0.0 if successes == 0 else (centre - half) / scale
    return low, 1.0 if successes == n else (centre + half) / scale"""


def test_lesson_12_from_a_grader_that_lies_to_two_versions_in_pairs(lesson):
    """Run all; tables and pictures are there; an exercise can be solved"""
    expect(lesson.output("silence is safe")).to_contain_text("an empty answer")
    expect(lesson.output("120 blind")).to_contain_text("of 120")
    expect(lesson.output("after 40:")).to_contain_text("won 8, lost 0")
    lesson.pictures_in_both_themes("lesson_12")

    message = ["the low end comes first"]
    lesson.solve("wilson_interval", WRONG, RIGHT, message=message)
