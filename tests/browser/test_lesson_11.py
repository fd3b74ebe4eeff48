"""Lesson 11 in JupyterLab: votes, a plot, an exercise solved."""

from playwright.sync_api import expect

LESSON = "11_self_consistency"
HEAD = """def pass_at_k(n: int, c: int, k: int) -> float:
    if not (0 <= c <= n and 1 <= k <= n):
        raise ValueError(f"c = {c} right and k = {k} drawn, of n = {n} runs")
"""
WRONG = f"{HEAD}    return 1 - (1 - c / n) ** k"
RIGHT = f"{HEAD}    return 1 - comb(n - c, k) / comb(n, k)"


def test_lesson_11_from_five_runs_to_an_exercise(lesson):
    """Run all; runs are counted; an exercise can be solved"""
    expect(lesson.output("for verify in [")).to_contain_text("the verifier chose it")
    expect(lesson.output("for verify in [")).to_contain_text("within 0.2 s")
    expect(lesson.page.locator(".workbook-plot")).to_have_count(1)
    lesson.pictures_in_both_themes("lesson_11")

    message = ["it is the share of the ways", "expected"]
    lesson.solve("pass_at_k", WRONG, RIGHT, message=message)
