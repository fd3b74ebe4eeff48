"""Lesson 05 in JupyterLab: diagrams drawn, an exercise solved, two players at work."""

from playwright.sync_api import expect

WRONG = """def advance(table, state, event):
    return table.rows[state, event].target"""
RIGHT = """def advance(table, state, event):
    for rule in table.rules:
        if (rule.source, rule.event) == (state, event):
            return rule.target
    legal = [rule.event for rule in table.rules if rule.source == state]
    raise IllegalTransition(f"{state}: no {event}; legal: {', '.join(legal)}")"""


def test_lesson_05_from_the_loop_to_the_player(open_lesson):
    """Run all; diagrams, gallery and players stand there; an exercise can be solved"""
    lesson = open_lesson("05_state_machine")
    lesson.run_all()
    for words in ("arrows.update", "draw(small", "draw(CHECKED"):
        expect(lesson.output(words).locator(".jp-RenderedMermaid img")).to_be_visible()
    expect(lesson.output("endings = gallery(")).to_contain_text("CANCELLED (cancel)")
    assert lesson.output("endings = gallery(").locator("tbody tr").count() > 20
    expect(lesson.page.locator(".jp-RenderedImage img")).to_have_count(1)  # folded
    lesson.pictures("lesson_05")

    widget = lesson.output('player("price_question"').locator(".player")
    for _ in range(4):
        widget.get_by_role("button", name="Step", exact=True).click()
    expect(widget.locator("[role=status]")).to_contain_text(
        "4 of 33 events: EXECUTE_TOOL"
    )
    widget.get_by_role("button", name="Run", exact=True).click()
    expect(widget.locator("[role=status]")).to_contain_text("DONE")

    message = ["KeyError"]
    lesson.solve("advance", WRONG, RIGHT, message=message)
