"""Lesson 09 in JupyterLab: four ways round, the held-out set, an exercise."""

from playwright.sync_api import expect

LESSON = "09_grounding"
WRONG = """def split_claims(answer: str) -> list[str]:
    return [s for s in sentences(answer) if not NO_FACT.search(without_citations(s))]"""
RIGHT = """def split_claims(answer: str) -> list[str]:
    claims = []
    for sentence in sentences(answer):
        bare = without_citations(sentence)
        nothing = OPINION.search(bare) or REFUSAL.search(bare)
        more = find_citations(sentence) or TURN.search(bare)
        if not NO_FACT.search(bare) and (more or not nothing):
            claims.append(sentence)
    return claims"""
AROUND, AUDITED = "first_idea) for answer", "audits.audited("
MEASURED, THRESHOLDS = "audits.rates(", "for threshold in"


def test_lesson_09_from_a_claim_to_a_rate(lesson):
    """Run all; tables and the plot are there in both themes; an exercise is solved"""
    expect(lesson.output(AROUND)).to_contain_text("it was")
    expect(lesson.output(AUDITED)).to_contain_text("not what it says")
    expect(lesson.output(THRESHOLDS)).to_contain_text("REFUSED")
    expect(lesson.output(MEASURED)).to_contain_text("false refusal")
    expect(lesson.output(MEASURED)).to_contain_text("paraphrased")
    plot = lesson.page.locator(".workbook-plot")
    expect(plot).to_have_count(1)
    inks = {"Light": "none", "Dark": "invert(1) hue-rotate(180deg)"}
    try:
        for theme, ink in inks.items():
            lesson.choose_theme(f"JupyterLab {theme}")
            expect(plot).to_have_css("filter", ink)
            lesson.pictures(f"lesson_09_{theme.lower()}")
    finally:
        lesson.choose_theme("JupyterLab Light")

    message = ["an opinion of taste", "pretty"]
    lesson.solve("split_claims", WRONG, RIGHT, message=message)
