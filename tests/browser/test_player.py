"""The player in JupyterLab, in a real browser."""

import re

import pytest
from playwright.sync_api import expect

SLOW_MACHINE = """p = player("price_question")
show = p.view.show

def slowly(playback, *more):
    for event in list(playback.events):
        event["at_s"] = 5.67 * event["seq"]
    show(playback, *more)

p.view.show = slowly
p"""  # its seconds have as many digits as seconds can have
SIDEWAYS = """root => [root, ...root.querySelectorAll("*")].filter(e =>
    ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth).map(e => e.className)"""


def test_run_step_back_reset(show):
    """The lit state follows the step, forwards and back"""
    page = show('player("price_question", engine="fsm")')
    page.expect_status("Press Run, or Step")
    page.press("Run")
    page.expect_status("33 of 33 events: DONE")
    page.expect_lit("DONE")
    page.press("Back", "Back")
    page.expect_status("31 of 33 events: THINK")
    page.expect_lit("THINK")
    page.press("Reset")
    page.expect_status("Press Run, or Step")
    page.press("Step", "Step", "Step")
    page.expect_status("3 of 33 events: THINK")
    page.expect_lit("THINK")
    page.press("Step")
    page.expect_lit("EXECUTE_TOOL")
    expect(page.now).to_contain_text("THINK —tool_requested→ EXECUTE_TOOL")
    page.press(*["Step"] * 5)
    expect(page.root.locator("mark.new")).to_contain_text("Observation: 20")
    page.picture("player")


def test_html_that_a_tool_brings_is_text(show):
    """What a tool brings back is shown, and never becomes part of the page"""
    page = show('player("html_from_a_tool", engine="naive")')
    title = page.page.title()
    page.press("Run")
    page.expect_status("DONE")
    page.expect_lit("DONE")
    expect(page.root.locator(".prompt")).to_contain_text(
        "<script>document.title='owned'"
    )
    expect(page.root.locator(".events")).to_contain_text("<img src=x onerror=")
    assert page.root.locator("script, .events img, .prompt img, .turn img").count() == 0
    assert page.page.title() == title


@pytest.mark.parametrize("theme", ["JupyterLab Light", "JupyterLab Dark"])
def test_the_player_is_readable_in_light_and_dark(show, theme):
    """In either theme every text of the player stands out from its ground"""
    page = show('player("price_question")')
    try:
        page.lesson.choose_theme(theme)
        page.press(*["Step"] * 9)
        page.expect_status("9 of")
        page.expect_readable(
            ".events tr.now td, .prompt mark, .prompt div, .turn, .budgets", 8
        )
        page.picture(f"player_{theme[-4:].strip().lower()}")
    finally:
        page.lesson.choose_theme("JupyterLab Light")


@pytest.mark.parametrize("width", [1280, 1024])
def test_nothing_has_to_be_scrolled_sideways(show, width):
    """Choices, buttons and parts fit into the page; a button shows its whole word"""
    page = show(SLOW_MACHINE)
    page.page.set_viewport_size({"width": width, "height": 900})
    page.press(*["Step"] * 9)
    page.expect_status("9 of")
    expect(page.root.locator(".budgets")).to_contain_text("45.36 spent")
    assert page.root.evaluate(SIDEWAYS) == []
    cut = "e => e.scrollWidth > e.clientWidth"
    assert not any(
        button.evaluate(cut) for button in page.root.get_by_role("button").all()
    )


def test_cancel_ends_a_run_that_goes_on(show):
    """Cancel stops a run between two turns, and the trace says who stopped it"""
    page = show('player("endless_retry", engine="fsm", model="slow")')
    page.press("Run")
    page.expect_status("the run goes on")
    expect(page.now).to_contain_text("model_request", timeout=10_000)
    page.press("Cancel")
    page.expect_status("CANCELLED")
    page.expect_lit("CANCELLED")
    expect(page.now).to_contain_text("CANCELLED (cancel)")
    expect(page.button("Cancel")).to_be_disabled()


def test_the_keyboard_is_enough(show):
    """Tab reaches the buttons, Enter presses them, an arrow key moves the slider"""
    page = show('player("endless_retry", engine="langchain")')
    page.button("Run").focus()
    page.page.keyboard.press("Tab")
    expect(page.button("Step")).to_be_focused()
    page.page.keyboard.press("Enter")
    page.expect_status("1 of")
    page.root.locator(".noUi-handle").focus()
    page.page.keyboard.press("ArrowRight")
    page.expect_status("2 of")
    page.expect_lit("ASK_MODEL")
    page.page.keyboard.press("ArrowLeft")
    page.expect_status("1 of")
    page.page.keyboard.press("End")
    page.expect_status("EXHAUSTED")
    page.page.keyboard.press("Home")
    page.expect_status("0 of")


def test_letters_stay_in_the_player(show):
    """A letter chooses from a list, and a button keeps it: no cell changes its kind"""
    page = show('player("price_question")')
    cells = page.page.locator(".jp-Notebook .jp-CodeCell")
    before = cells.count()
    choice = page.root.get_by_role("combobox").first
    choice.focus()
    page.page.keyboard.type("m")
    expect(choice).to_have_value("made_up_observation")
    page.button("Run").focus()
    page.page.keyboard.type("mdd")
    expect(page.root).to_be_visible()
    assert cells.count() == before


@pytest.mark.parametrize("engine", ["langchain", "guarded"])
def test_the_player_fits_900_pixels(show, engine):
    """The whole of the player is on view at once, the picture has a name"""
    page = show(f'player("price_question", "{engine}")')
    page.press(*["Step"] * 12)
    page.expect_status("12 of")
    seen = page.page.locator(".jp-WindowedPanel-outer").first.bounding_box()
    assert page.root.bounding_box()["height"] <= seen["height"]
    expect(page.root.get_by_role("slider", name="events")).to_be_visible()
    picture = page.root.locator(".jp-RenderedMermaid img")
    expect(picture).to_have_attribute("alt", re.compile("now [A-Z_]+$"))
