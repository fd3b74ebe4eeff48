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
    box = widget.locator("textarea")
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


def test_the_gallery_is_whole_at_1024(open_lesson):
    """On a small screen no part is cut off; a row opens by keyboard, and is played."""
    lesson = open_lesson("00_start_here")
    lesson.page.set_viewport_size({"width": 1024, "height": 768})
    source = "from workbook.playground import gallery\ngallery()"
    lesson.type_into("be_the_model()", source)
    shown = lesson.page.locator(".gallery")
    expect(shown).to_be_visible(timeout=60_000)
    sideways = "e => e.scrollWidth > e.clientWidth"
    area = shown.locator("xpath=ancestor::*[contains(@class, 'jp-OutputArea-output')]")
    assert not shown.evaluate(sideways)
    assert not area.evaluate(sideways)
    box = shown.bounding_box()
    assert box["x"] + box["width"] <= 1024
    assert box["height"] <= 720
    row = shown.locator(".row > summary", has_text="inside a thought")
    row.focus()
    lesson.page.keyboard.press("Enter")
    expect(shown.locator("details[open] .answer").first).to_contain_text("Action Input")
    expect(row).to_be_focused()
    shown.locator("details[open] button").last.click()
    expect(lesson.page.locator(".player")).to_be_visible(timeout=60_000)

    lesson.page.keyboard.press("p")
    expect(shown).to_have_class(re.compile("presenting"))
    letters = shown.locator(".chip").first
    assert letters.evaluate("e => parseFloat(getComputedStyle(e).fontSize)") >= 22
    lesson.page.keyboard.press("Escape")
    expect(shown).not_to_have_class(re.compile("presenting"))
    shown.get_by_role("button", name="Present").click()
    expect(shown).to_have_class(re.compile("presenting"))
    lesson.page.keyboard.press("x")  # JupyterLab does not hear it, and cuts no cell
    shown.locator("details[open] button").last.click()
    expect(shown).not_to_have_class(re.compile("presenting"))
    expect(shown).to_be_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_trace_is_a_table(open_lesson, scheme):
    """A trace shows itself as a table in either theme."""
    lesson = open_lesson("00_start_here", color_scheme=scheme)
    lesson.run("from workbook import about")
    lesson.run("asked = predict(")
    lesson.run('trace = play("price_question")')
    tables = lesson.output('trace = play("price_question")').locator("table")
    table = tables.filter(has_text="model_request")
    expect(table).to_be_visible()
    assert table.locator("tr").count() > 15


@pytest.mark.parametrize("late", [False, True])
def test_a_prediction_is_kept_and_revealed(open_lesson, late):
    """A guess stands next to what happened, also one that is made after the run."""
    lesson = open_lesson("00_start_here")
    lesson.run("from workbook import about")
    lesson.run("asked = predict(")
    choice = lesson.output("asked = predict(").get_by_text("4 times", exact=True)
    told = lesson.output("asked.reveal(")
    if not late:
        choice.click()
    lesson.run("asked.reveal(")
    if late:
        expect(told).to_contain_text("No guess yet")
        expect(told.get_by_text("5 times")).to_be_hidden()
        choice.click()
    expect(told.locator(".workbook-report")).to_contain_text("4 times")
    expect(told.get_by_text("5 times")).to_be_visible()
