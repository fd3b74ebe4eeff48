"""Lesson 09 in JupyterLab: what a threshold costs, the eight answers, an exercise."""

from playwright.sync_api import expect

LESSON = "09_grounding"
WRONG = """def find_citations(text: str) -> list[str]:
    return list(dict.fromkeys(BRACKETS.findall(text)))"""
RIGHT = """def find_citations(text: str) -> list[str]:
    found = []
    for inside in BRACKETS.findall(CODE.sub(" ", text)):
        for part in re.split("[,;]", inside):
            if cited := DOC_ID.fullmatch(part.strip()):
                number = cited["number"]
                found.append(f"doc_{number}" if number else cited[0])
    return list(dict.fromkeys(found))"""
AUDITED, TABLE, GALLERY = "evidence_of(map", "for row in GROUNDED", "replace(both"
MEASURED = "said[["


def test_lesson_09_from_a_claim_to_a_state(lesson):
    """Run all; tables and diagrams are there in both themes; an exercise is solved"""
    expect(lesson.output(AUDITED)).to_contain_text("not what it says")
    expect(lesson.output(TABLE).locator(".jp-RenderedMermaid img")).to_be_visible()
    expect(lesson.output(MEASURED)).to_contain_text("and a grammar")
    expect(lesson.page.locator(".jp-RenderedImage img")).to_have_count(1)
    expect(lesson.output(GALLERY).locator(".gallery tbody tr th")).not_to_have_count(0)
    expect(lesson.output(GALLERY)).to_contain_text("The right source, the wrong number")
    try:
        for theme in ("Light", "Dark"):
            lesson.choose_theme(f"JupyterLab {theme}")
            lesson.pictures(f"lesson_09_{theme.lower()}")
    finally:
        lesson.choose_theme("JupyterLab Light")

    message = ["one pair of brackets may hold several", "w3"]
    lesson.solve("find_citations", WRONG, RIGHT, message=message)
