"""A learner's first half hour, in a real browser."""

import re

import pytest
from playwright.sync_api import expect


def test_lesson_00_from_the_menu_to_a_solved_exercise(open_lesson):
    """Run all, be the model, answer wrongly, read why, solve it, look at a hint."""
    lesson = open_lesson("00_start_here")
    lesson.run_all()
    hints = lesson.output("hint(who_writes)")
    assert hints.inner_text() == ""  # Run All gives nothing away

    widget = lesson.page.locator(".be-the-model")
    box = widget.get_by_role("textbox", name="Your turn")
    box.fill("Action: Calculator\nAction Input: 100*0.2\nObservation: 99")
    widget.get_by_role("button", name="Send my turn").click()
    expect(widget).to_contain_text("Observation: 20")
    expect(widget).to_contain_text("You wrote an Observation")
    expect(widget).not_to_contain_text("99")
    box.fill("I think <img src=x onerror=alert(1)> it is 88.")
    widget.get_by_role("button", name="Send my turn").click()
    expect(widget).to_contain_text("There is no step in it")
    box.fill("Final Answer: <b>88</b>")
    widget.get_by_role("button", name="Send my turn").click()
    expect(widget).to_contain_text("Final Answer: <b>88</b>")
    expect(widget).to_contain_text("That is right")

    expect(widget.get_by_role("button", name="Send my turn")).to_be_disabled()

    message = ["returned", "who_writes('Observation')"]
    lesson.solve("who_writes", 'return "model"', message)
    lesson.type_into("hint(who_writes)", "hint(who_writes)")
    expect(hints).to_contain_text("hint 1 of 3")


def test_keys_after_a_button_go_into_the_box(open_lesson):
    """Whoever types on after a button writes a turn, and deletes no cell."""
    lesson = open_lesson("00_start_here")
    lesson.run("from workbook import about")
    lesson.run("be_the_model()")
    widget = lesson.page.locator(".be-the-model")
    box = widget.get_by_role("textbox", name="Your turn")
    cells = lesson.page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    for button in ("Show me one turn", "Send my turn", "Start again"):
        widget.get_by_role("button", name=button).click()
        lesson.page.keyboard.type("dddd")  # at once: d, d would delete the cell
        expect(box).to_be_focused()
        lesson.page.keyboard.type("xx")
        expect(box).to_have_value(re.compile("xx"))
        assert cells.count() == before


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_trace_is_a_table(open_lesson, scheme):
    """A trace shows itself as a table in either theme."""
    lesson = open_lesson("00_start_here", color_scheme=scheme)
    lesson.run("from workbook import about")
    lesson.run("asked = predict(")
    lesson.run('trace = play("price_question")')
    tables = lesson.output('trace = play("price_question")').locator("table")
    table = tables.filter(has_text="model request")
    expect(table).to_be_visible()
    assert table.locator("tr").count() > 15
