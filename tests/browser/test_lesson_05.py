"""Lesson 05 in JupyterLab on a small screen: diagrams, gallery, player, an exercise."""

from playwright.sync_api import expect

WRONG = """def advance(table, state, event):
    return table.rows[state, event].target"""
RIGHT = """def advance(table, state, event):
    for rule in table.rules:
        if (rule.source, rule.event) == (state, event):
            return rule.target
    legal = [rule.event for rule in table.rules if rule.source == state]
    raise IllegalTransition(f"{state}: no {event}; legal: {', '.join(legal)}")"""


def assert_fits(lesson, shown):
    """It ends before the right edge, and nobody has to scroll sideways."""
    box = shown.bounding_box()
    assert box["x"] + box["width"] <= lesson.page.viewport_size["width"]
    assert shown.evaluate("e => e.scrollWidth - e.clientWidth") <= 1


def test_lesson_05_from_the_loop_to_the_gallery(open_lesson):
    """Run all at 1024; what is drawn is seen whole; an exercise can be solved"""
    lesson = open_lesson("05_state_machine", size={"width": 1024, "height": 768})
    lesson.run_all()
    for words in ("small.mermaid(", "table.mermaid("):
        drawn = lesson.output(words).locator(".workbook-diagram")
        expect(drawn).to_be_visible()
        assert_fits(lesson, drawn)
    gallery = lesson.output("endings = gallery(").locator(".gallery")
    expect(gallery).to_contain_text("CANCELLED (cancel)")
    assert 5 < gallery.locator(".marked").count() < 20  # what changed, on top
    expect(gallery.get_by_text("A made-up Observation")).to_be_visible()
    expect(gallery.get_by_text("The price question", exact=True)).to_be_hidden()
    assert_fits(lesson, gallery)
    widget = lesson.output('player("price_question"').locator(".player")
    assert_fits(lesson, widget)
    lesson.pictures("lesson_05")

    for _ in range(4):
        widget.get_by_role("button", name="Step", exact=True).click()
    expect(widget.locator("[role=status]")).to_contain_text(
        "4 of 33 events: EXECUTE_TOOL"
    )
    widget.get_by_role("button", name="Run", exact=True).click()
    expect(widget.locator("[role=status]")).to_contain_text("DONE")

    message = ["KeyError"]
    lesson.solve("advance", WRONG, RIGHT, message=message)
