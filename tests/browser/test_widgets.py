"""Predictions, be the model, the gallery and the landing page in JupyterLab."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CELL, CONTRASTS, READABLE, SMALL

SETUP, ASK, TELL = "from workbook import about", "asked = predict(", "asked.reveal("
ASKS = """from workbook.stage.predict import predict
asked = predict("How many times is the model asked?", "once", "4 times", "5 times")
asked"""
TELLS = 'asked.reveal("5 times", why="The model has no memory.")'
BE = "from workbook.stage.role_play import be_the_model\nbe_the_model()"
PLAYS = """from workbook.stage.gallery_page import gallery
rows = ["made_up_question", "drift", "price_question", "html_from_a_tool"]
gallery(["naive", "langchain", "fsm"], only=rows)"""
WAITS = """from threading import Event
from workbook import waiting
print("before")
try:
    with waiting("asking the model", total=40) as tick:
        for _ in range(20):
            tick()
        Event().wait()
except KeyboardInterrupt:
    print("after")"""
SIDEWAYS = "e => e.scrollWidth - e.clientWidth"
TEXT = ":is(b, small, span, button, a, summary, .note)"
COVERS = "e => e.contains(document.elementFromPoint(1019, 763))"


@pytest.fixture(scope="module")
def lesson(window):
    """Lesson 00 on a small screen, with a stage's cells typed over its own."""
    opened = window.open("00_start_here", size=SMALL)
    opened.run(SETUP)
    for words, source in {ASK: ASKS, TELL: TELLS, CELL: BE}.items():
        opened.type_into(words, source)
    expect(opened.output(TELL)).to_contain_text("No guess yet")
    return opened


def press(lesson, keys):
    lesson.page.keyboard.press(keys)


def expect_saved(lesson):
    """Ctrl+S saves the notebook, wherever the focus is."""
    dirty = lesson.page.locator(".jp-mod-dirty")
    expect(dirty).to_have_count(1)
    idle = lesson.page.locator(".jp-Notebook-ExecutionIndicator[data-status='idle']")
    expect(idle).to_have_count(1)  # what it sends late is not in the file
    press(lesson, "Control+s")
    expect(dirty).to_have_count(0)


def expect_readable(lesson, shown):
    for _ in lesson.both_themes():
        assert shown.evaluate(SIDEWAYS) <= 1
        assert min(shown.evaluate(CONTRASTS, TEXT)) > READABLE


def test_keys_after_a_button_go_into_the_box(lesson):
    """Whoever types on after a button writes a turn, and deletes no cell"""
    widget = lesson.output(CELL).locator(".be-the-model")
    box = widget.get_by_role("textbox")
    cells = lesson.page.locator(".jp-Notebook .jp-Cell")
    before, turn = cells.count(), "First I need 20%"
    for button, is_done in {
        "Show me one turn": lambda: expect(box).to_have_value(re.compile(turn)),
        "Send my turn": lambda: expect(widget).to_contain_text(turn),
        "Start again": lambda: expect(widget).not_to_contain_text(turn),
    }.items():
        widget.get_by_role("button", name=button).click()
        lesson.page.keyboard.type("dddd")  # at once: d, d would delete the cell
        expect(box).to_be_focused()
        is_done()
        lesson.page.keyboard.type("xx")
        expect(box).to_have_value(re.compile("xx"))
        assert cells.count() == before


def test_a_guess_is_kept_and_compared(lesson):
    """A late guess unfolds the answer, and stays when its cell runs again"""
    told = lesson.output(TELL)
    expect(told.get_by_text("5 times")).to_be_hidden()
    group = lesson.output(ASK).get_by_role("group", name="How many times is the model")
    choice = group.get_by_role("button", name="4 times")
    choice.focus()
    press(lesson, "Enter")
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect(choice).to_be_focused()
    expect(told).to_contain_text(
        "✗ Not right: you guessed 4 times. What happened: 5 times."
    )
    expect(lesson.output(ASK).get_by_role("status")).to_contain_text("✗ Not right")
    expect_saved(lesson)
    press(lesson, "Shift+Enter")
    expect(choice).not_to_be_focused()
    expect(choice).to_have_attribute("aria-pressed", "true")
    expect_readable(lesson, lesson.output(ASK).locator(".stage-box"))


def test_a_turn_is_sent_by_its_key(lesson):
    """Ctrl+Enter sends; an error, a success and a wrong answer are told apart"""
    shown = lesson.output(CELL)
    box = shown.get_by_role("textbox")
    box.fill("gone")
    press(lesson, "Shift+Enter")  # runs the cell again
    expect(box).to_have_value("")
    box.fill("hello")
    press(lesson, "Control+Enter")
    expect(shown.get_by_role("alert")).to_contain_text("✕ Unreadable")
    expect(box).to_have_value("hello")
    box.fill("Action: Calculator\nAction Input: 100*0.2")
    press(lesson, "Control+Enter")
    expect(shown).to_contain_text("Observation: 20")
    expect(shown.locator(".note.error")).to_have_count(0)
    expect(box).to_be_focused()
    expect_saved(lesson)
    shown.get_by_role("button", name="Show me one turn").click()
    expect(box).not_to_have_value("")  # the kernel has written into it
    expect(shown.get_by_role("status")).to_contain_text("■ The runtime read")
    box.fill("Final Answer: 90")
    press(lesson, "Control+Enter")
    expect(shown.get_by_role("status")).to_contain_text("✗ That is wrong.")
    expect_readable(lesson, shown.locator(".be-the-model"))


def test_be_the_model_fills_the_window(lesson):
    """Present makes it large; Esc gives the notebook back"""
    root = lesson.output(CELL).locator(".be-the-model")
    root.get_by_role("button", name="Present").click()
    assert root.evaluate(COVERS)
    press(lesson, "Escape")
    assert not root.evaluate(COVERS)


def test_a_reopened_notebook_has_all_of_it_as_text(window, lesson):
    """Without a kernel the guess with its ✗ and the transcript are there"""
    window.open_anew(lesson)
    page = lesson.page
    expect(page.locator(".stage-box")).to_have_count(0)
    asked, played = page.locator("div.instead"), page.locator("details.instead")
    expect(asked).to_contain_text("● 4 times")
    expect(asked).to_contain_text("✗ Not right")
    for words in ("100*0.2", "Observation: 20", "Final Answer: 90", "That is wrong"):
        expect(played).to_contain_text(words)
    expect(page.get_by_text("The model has no memory.").first).to_be_visible()


def test_a_row_of_the_gallery_opens_its_run(lesson):
    """By keyboard: Enter opens a row and its run; Ctrl+S saves, Shift+Enter runs"""
    lesson.type_into(CELL, PLAYS)
    shown = lesson.output("only=rows")
    row = shown.locator("summary", has_text="A made-up next question")
    expect(row).to_be_visible()
    row.focus()
    press(lesson, "Enter")
    play = shown.get_by_role("button", name="Play made_up_question on fsm")
    expect(play).to_be_visible()
    expect_readable(lesson, shown.locator(".gallery"))
    row.focus()
    expect_saved(lesson)
    play.focus()
    press(lesson, "Enter")
    expect(shown.locator(".player")).to_be_visible()
    row.focus()
    press(lesson, "Shift+Enter")
    expect(shown.locator(".player")).to_have_count(0)


def test_a_wait_is_said_while_it_lasts(window):
    """One line counts between what is printed before and after, and is gone then"""
    lesson = window.open("00_start_here")
    lesson.type_into(CELL, WAITS)
    shown = lesson.output("asking the model")
    expect(shown).to_contain_text("20 of 40, about")
    expect(shown).to_contain_text("s left  (■ stops it)")
    lesson.page.get_by_role("button", name="Interrupt the kernel").click()
    expect(shown).to_have_text(re.compile(r"^\s*before\s+after\s*$"))


def test_the_landing_page_leads_to_a_lesson(window):
    """The map fits a small screen, in both themes, and its links open lessons"""
    index = window.open("index", size=SMALL)
    index.run("course()")
    map_ = index.output("course()").locator(".course")
    expect(map_.locator(".card")).to_have_count(15)
    expect_readable(index, map_)
    assert map_.evaluate("e => e.scrollHeight") < 480
    assert map_.locator("img").first.evaluate("i => i.naturalWidth > 0")
    map_.get_by_role("link", name="00 Who does what?").click()
    expect(index.page.locator(".lm-mod-current", has_text="00_start")).to_be_visible()
