"""The player in JupyterLab: runs, what a person is asked, a kernel that is gone."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import play_in
from workbook.playground.engines import LOCAL_TOKENS

MEND = 'player("mend_the_test", engine="guarded")'
SIDEWAYS = """root => [root, ...root.querySelectorAll("*")].filter(e =>
    ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth).map(e => e.className)"""
LETTERS = """root => [...root.querySelectorAll("svg.states text")].map(text =>
    parseFloat(getComputedStyle(text).fontSize) * text.getCTM().a)"""
READ = (
    ".events td, .prompt mark, .prompt div, .turn div, .budgets, .question, .said div"
)
READ += ", [role=status], .pin, .states text, .jupyter-button:enabled"


@pytest.fixture
def asked(show):
    """Return a function that plays a run until it asks, and returns the player."""

    def asked(call=MEND):
        page = show(call)
        page.press("Run")
        expect(page.form).to_be_visible(timeout=20_000)
        page.expect_status("waits for you: write_file")
        return page

    return asked


def test_run_step_back_and_the_keyboard(show):
    """The lit state follows the step; Tab, Enter, arrows and letters stay in here"""
    page = show('player("price_question", engine="fsm")')
    keyboard = page.page.keyboard
    page.press("Run")
    page.expect_status("33 of 33 events: DONE")
    page.expect_lit("DONE")
    page.press("Back", "Back")
    page.expect_lit("THINK")
    page.press("Reset")
    page.expect_status("Press Run, or Step")
    page.button("Run").focus()
    keyboard.press("Tab")
    expect(page.button("Step")).to_be_focused()
    for _ in range(4):
        keyboard.press("Enter")
    page.expect_lit("EXECUTE_TOOL")
    expect(page.now).to_contain_text("THINK —tool_requested→ EXECUTE_TOOL")
    page.root.get_by_role("slider", name="events").focus()
    for _ in range(5):
        keyboard.press("ArrowRight")
    page.expect_status("9 of")
    expect(page.root.locator("mark.new")).to_contain_text("Observation: 20")
    cells = page.page.locator(".jp-Notebook .jp-CodeCell").count()
    choice = page.root.get_by_role("combobox").first
    choice.focus()
    keyboard.type("m")
    expect(choice).to_have_value("made_up_observation")
    page.button("Run").focus()
    keyboard.type("mdd")
    assert page.page.locator(".jp-Notebook .jp-CodeCell").count() == cells


def test_html_that_a_tool_brings_is_text(show):
    """What a tool brings back is shown, and never becomes part of the page"""
    page = show('player("html_from_a_tool", engine="naive")')
    title = page.page.title()
    page.press("Run")
    page.expect_status("DONE")
    expect(page.root.locator(".prompt")).to_contain_text("<script>document.title=")
    expect(page.root.locator(".events")).to_contain_text("<img src=x onerror=")
    assert page.root.locator("script, .events img, .prompt img, .turn img").count() == 0
    assert page.page.title() == title


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_it_is_readable_and_fits(tab, show, theme):
    """In either theme, at 1024 and 1280: contrast, letters, height, nothing sideways"""
    page = show(MEND)
    tab.choose_theme(theme)
    page.press("Turn", "Turn")
    page.expect_status("the run goes on")
    page.expect_readable(READ, 30)
    for width in (1280, 1024):
        page.page.set_viewport_size({"width": width, "height": 800})
        assert page.root.bounding_box()["height"] <= 720
        assert min(page.root.evaluate(LETTERS)) >= 12
        assert page.root.evaluate(SIDEWAYS) == []
    page.press("Run")
    expect(page.form).to_be_visible()
    page.form.get_by_role("textbox", name="arguments").fill("{")
    page.press("Approve the edit")
    expect(page.form.get_by_role("alert")).to_contain_text("not JSON")
    parts = ".approval .code, .approval textarea, .approval .jupyter-button"
    page.expect_readable(f"{parts}, .approval [role=alert] div, .approval .heading", 10)


@pytest.mark.parametrize("engine", ["naive", "fsm", "langchain", "grounded"])
def test_it_has_a_screen_s_height_on_every_engine(show, engine):
    """Also at its end, with all that stays in view, it is at most 720 pixels high"""
    page = show(f'player("payment_twice", "{engine}")')
    page.page.set_viewport_size({"width": 1024, "height": 800})
    page.press("Turn", "Turn", "Run")
    page.expect_status(" of ")
    assert page.root.bounding_box()["height"] <= 720
    cut = "pins => pins.some(pin => pin.scrollHeight > pin.clientHeight + 1)"
    assert not page.root.locator(".pin").evaluate_all(cut)


def test_a_call_that_is_approved_is_made_by_keyboard(asked):
    """A diff is shown; from the form Tab leads to Approve, and Enter answers"""
    page = asked()
    expect(page.form).to_contain_text("-    return listed * (1 - off / 100 + on_top")
    expect(page.form).to_contain_text("+    return listed * (1 - off / 100) * (1 +")
    page.expect_lit("PENDING_APPROVAL")
    expect(page.form.get_by_role("textbox", name="arguments")).to_be_focused()
    page.page.keyboard.press("Tab")
    page.page.keyboard.type("looks right")
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    page.expect_status(": DONE")
    expect(page.root.locator(".events")).to_contain_text("Now both tests pass")
    expect(page.form).to_be_hidden()


def test_an_edit_refused_not_now_and_later_on(asked):
    """A text that breaks the schema stays; after Not now, Continue asks again"""
    page = asked()
    arguments = page.form.get_by_role("textbox", name="arguments")
    arguments.fill('{"path": 3, "text": ""}')
    page.press("Approve the edit")
    problem = page.form.get_by_role("alert")
    expect(problem).to_contain_text('3 is not of type "string"')
    expect(arguments).to_have_value('{"path": 3, "text": ""}')
    page.press("Not now")
    page.expect_status(": SUSPENDED")
    page.expect_lit("SUSPENDED")
    page.press("Continue")
    expect(page.form).to_be_visible()
    page.form.get_by_role("textbox", name="why").fill("I do not want that")
    page.press("Reject")
    page.expect_status(": DONE")
    expect(page.root.locator(".events")).to_contain_text("I could not mend it")


def test_cancel_stops_a_model_that_is_writing(show):
    """Tokens are on view as they come; Cancel stops them, and the trace keeps them"""
    page = show('player("price_question", engine="guarded", model="local")')
    page.press("Run")
    box = page.root.locator(".turn")
    expect(box).to_contain_text("It is being written", timeout=60_000)
    page.press("Cancel")
    page.expect_status("CANCELLED")
    page.expect_lit("CANCELLED")
    expect(page.button("Cancel")).to_be_disabled()
    written = re.search(r"(\d+) written", box.inner_text())
    assert 0 < int(written[1]) < LOCAL_TOKENS


def test_without_its_kernel_it_says_so(open_lesson):
    """After a restart no button is there, and a line says what to do; nor are errors"""
    lesson = open_lesson("01_naive_loop")
    errors = []
    lesson.page.on("pageerror", lambda error: errors.append(str(error)))
    page = play_in(lesson, MEND, cell='before = gallery(["naive"]')
    sign = "e => getComputedStyle(e, '::before').content"
    assert page.root.evaluate(sign) == "none"
    lesson.restart_kernel()
    expect(page.button("Run")).to_be_hidden()
    assert "Run this cell again" in page.root.evaluate(sign)
    assert errors == []
