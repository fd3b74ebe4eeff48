"""What a guarded run asks a person, in JupyterLab, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PlayerPage
from workbook.playground.engines import LOCAL_TOKENS

MEND = 'player("mend_the_test", engine="guarded")'
YOURS = """from workbook.exercises.your_agent import your_parts
from workbook.playground import player
p = player("mend_the_test", engine="guarded", parts=your_parts())
p"""


class Form:
    """The approval form of a player that is on view."""

    def __init__(self, page):
        self.page, self.root = page, page.root.locator(".approval")
        self.arguments = self.root.get_by_role("textbox", name="arguments")
        self.why = self.root.get_by_role("textbox", name="why")
        self.problem = self.root.get_by_role("alert")

    def expect_open(self):
        expect(self.root).to_be_visible(timeout=20_000)
        self.page.expect_status("waits for you: write_file")
        expect(self.arguments).to_be_focused()

    def press(self, name):
        self.root.get_by_role("button", name=name, exact=True).click()


@pytest.fixture
def waiting(show):
    """Return a function that plays a run until it asks: the player and its form."""

    def waiting(call=MEND):
        page = show(call)
        page.press("Run")
        form = Form(page)
        form.expect_open()
        return page, form

    return waiting


def test_a_call_that_is_approved_is_made(waiting):
    """The form shows the change as a diff; after Approve the folder's test passes"""
    page, form = waiting()
    expect(form.root).to_contain_text("-    return listed * (1 - off / 100 + on_top")
    expect(form.root).to_contain_text("+    return listed * (1 - off / 100) * (1 +")
    page.expect_lit("PENDING_APPROVAL")
    page.picture("approval")
    form.press("Approve")
    page.expect_status(": DONE")
    expect(page.root.locator(".events")).to_contain_text("Now both tests pass")
    expect(form.root).to_be_hidden()


def test_an_edit_that_is_refused_loses_nothing(waiting):
    """What is no JSON, or breaks the schema, is told in words; the text stays"""
    page, form = waiting()
    form.arguments.fill('{"path": ')
    form.press("Approve the edit")
    expect(form.problem).to_contain_text("This is not JSON")
    expect(form.arguments).to_have_value('{"path": ')
    form.arguments.fill('{"path": 3, "text": ""}')
    form.press("Approve the edit")
    expect(form.problem).to_contain_text('3 is not of type "string"')
    expect(form.arguments).to_have_value('{"path": 3, "text": ""}')
    page.picture("approval_refused")
    form.why.fill("I do not want that")
    form.press("Reject")
    page.expect_status(": DONE")
    expect(page.root.locator(".events")).to_contain_text("I could not mend it")


def test_not_now_suspends_the_run(waiting):
    """Not now ends the work and not the run: it waits in its trace"""
    page, form = waiting()
    form.press("Not now")
    page.expect_status("PENDING (waits in its trace for an answer)")
    page.expect_lit("PENDING")
    expect(page.button("Cancel")).to_be_disabled()
    page.picture("approval_pending")


def test_the_mode_is_switched_while_a_call_waits(waiting):
    """Who switches to plan while a call waits has it refused, also when approving it"""
    page, form = waiting()
    page.root.get_by_label("mode", exact=True).select_option("plan")
    form.press("Approve")
    page.expect_status(": DONE")
    events = page.root.locator(".events")
    for _ in range(30):
        if "you: mode plan" in events.inner_text():
            break
        page.press("Back")
    expect(events).to_contain_text("you: mode plan: you chose it in the player")


def test_cancel_while_a_call_waits_ends_the_run(waiting):
    """Cancel does not wait for an answer, and the call is not made"""
    page, form = waiting()
    page.press("Cancel")
    page.expect_status("CANCELLED")
    page.expect_lit("CANCELLED")
    expect(form.root).to_be_hidden()


def test_the_keyboard_is_enough_to_answer(waiting):
    """The focus is in the form; Tab reaches the field and the buttons, Enter answers"""
    page, form = waiting()
    page.page.keyboard.press("Tab")
    expect(form.why).to_be_focused()
    page.page.keyboard.type("looks right")
    page.page.keyboard.press("Tab")
    expect(form.root.get_by_role("button", name="Approve", exact=True)).to_be_focused()
    page.page.keyboard.press("Enter")
    page.expect_status(": DONE")


def test_a_kernel_that_ends_takes_the_buttons_with_it(open_lesson):
    """Once nobody reads what is pressed, there is nothing to press"""
    lesson = open_lesson("01_naive_loop")
    page = PlayerPage(lesson, MEND, cell='before = gallery(["naive"]')
    page.press("Run")
    form = Form(page)
    form.expect_open()
    page.page.get_by_role("menuitem", name="Kernel", exact=True).click()
    page.page.locator(".lm-Menu-itemLabel").get_by_text(
        "Shut Down Kernel", exact=True
    ).click()
    expect(form.root).to_be_hidden()
    expect(page.button("Run")).to_be_hidden()
    told = "e => parseFloat(getComputedStyle(e, '::after').fontSize)"
    assert page.root.locator(".status").evaluate(told) > 0
    page.picture("approval_dead")


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_form_is_readable_in_light_and_dark(waiting, theme):
    """In either theme the form and its diff stand out from their ground"""
    page, form = waiting()
    try:
        page.lesson.choose_theme(theme)
        form.arguments.fill("{")
        form.press("Approve the edit")
        expect(form.problem).to_contain_text("not JSON")
        page.expect_readable(
            ".approval .code, .approval textarea, .approval .jupyter-button,"
            " .approval [role=alert] div, .approval .heading",
            10,
        )
        page.picture(f"approval_{theme[-5:].strip().lower()}")
    finally:
        page.lesson.choose_theme("JupyterLab Light")


def test_cancel_stops_a_model_that_is_writing(show):
    """Tokens are on view as they come; Cancel stops them, and the trace keeps them"""
    page = show('player("price_question", engine="guarded", model="local")')
    page.press("Run")
    box = page.root.locator(".turn")
    expect(box).to_contain_text("It is being written", timeout=60_000)
    page.press("Cancel")
    page.expect_status("CANCELLED")
    expect(box).to_contain_text("cut")
    written = re.search(r"(\d+) written", box.inner_text())
    assert 0 < int(written[1]) < LOCAL_TOKENS


def test_your_agent_mends_the_test(waiting):
    """Milestone two: under your approval, your agent mends a test that failed"""
    page, form = waiting(YOURS)
    form.press("Approve")
    page.expect_status(": DONE")
    page.lesson.type_into(
        "your_parts",
        "seen = p.playback.events\nprint([e['text'] for e in seen "
        "if e.get('tool') == 'run_tests' and e['kind'] == 'observation'])",
    )
    shown = page.page.locator(".jp-OutputArea-output", has_text='"passed": true')
    expect(shown.first).to_contain_text('"passed": false')
