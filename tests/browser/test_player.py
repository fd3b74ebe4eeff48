"""The player in JupyterLab: it moves; its keys, form and size; a kernel that ends."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CONTRASTS, READABLE, pages

CELL = "be_the_model()"  # a cell of lesson 00 that the tests write over
PLAYS = "from workbook.stage.trace_player import player"
PAYS = 'player("payment_other_call_id", "guarded")'
SLOW = """import time
class Slow:
    name = "slow"
    def respond(self, request):
        time.sleep(60)
player("price_question", "guarded", model=Slow())"""
GROWS = """import asyncio
from pathlib import Path
from workbook.stage.engines import play
lines = []
play("price_question", "fsm", path="whole.jsonl")
whole, grown = Path("whole.jsonl").read_bytes().splitlines(True), Path("grown.jsonl")
grown.write_bytes(b"".join(whole[:5]))
async def grow():
    for line in whole[5:]:
        await asyncio.sleep(0.1)
        with grown.open("ab") as file:
            file.write(line)
task = asyncio.ensure_future(grow())
player(trace=grown)"""
SIDEWAYS = """root => [root, ...root.querySelectorAll("*")].filter(e =>
    ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth).map(e => e.className)"""
READ = (
    ".status b, .asked, .phase, .budget, .pin, td, .heading, .wb-block, .approval div"
)
FOCUSED = "document.activeElement.className"


class Page:
    """A player in a notebook."""

    def __init__(self, lesson, root):
        self.lesson, self.page, self.root = lesson, lesson.page, root
        self.status = root.locator("[role=status]")
        self.form = root.locator(".approval")
        self.keys = self.page.keyboard

    def press(self, *names):
        for name in names:
            self.button(name).click()

    def button(self, name):
        return self.root.get_by_role("button", name=name, exact=True)

    def expect_at(self, words):
        expect(self.status).to_contain_text(words)


@pytest.fixture(scope="module")
def tab(lab, browser):
    """Lesson 00 in a tab that the tests share."""
    with pages(lab, browser) as open_:
        yield open_("00_start_here")


@pytest.fixture
def show(tab):
    """Return a function that types a call of `player` into a cell, and its player."""

    def show(call):
        tab.page.set_viewport_size({"width": 1024, "height": 720})
        root = tab.page.locator(".player")
        if root.count():  # of the test before
            tab.type_into(PLAYS, PLAYS)
            expect(root).to_have_count(0)
        shown = tab.page.locator(".cm-content", has_text=PLAYS).count()
        tab.type_into(PLAYS if shown else CELL, f"{PLAYS}\n{call}")
        expect(root.locator("[role=status]")).to_be_visible(timeout=60_000)
        return Page(tab, root)

    return show


def test_run_moves_pauses_and_goes_to_the_end(show):
    """Run shows an event after the other, and is Pause meanwhile; Space pauses"""
    player = show('player("price_question")')
    player.press("Run")
    player.expect_at("Event 3 of 33")
    player.keys.press("Space")
    expect(player.button("Run")).to_be_focused()
    before = player.status.inner_text()
    player.page.wait_for_timeout(1200)  # in which two events would be shown
    expect(player.status).to_have_text(before)
    player.press("To the end")
    player.expect_at("Event 33 of 33: DONE. The run ends in DONE (final_answer): 88")


def test_keys_press_buttons_and_letters_reach_no_cell(show):
    """Arrows, T, End and Home move; other letters do nothing; the focus stays"""
    player = show('player("price_question", "langchain")')
    cells = player.page.locator(".jp-Notebook .jp-CodeCell")
    before = cells.count()
    player.press("Step")
    for key, place in [("ArrowRight", 2), ("ArrowLeft", 1), ("t", 3), ("Home", 0)]:
        player.keys.press(key)
        player.expect_at(f"Event {place} of 28")
    player.keys.type("ddxmb")
    player.keys.press("End")
    player.expect_at("Event 28 of 28")
    expect(player.button("Step")).to_be_focused()
    assert cells.count() == before


def test_saving_and_running_work_as_everywhere(show):
    """With the focus in the player Ctrl+S saves, and Shift+Enter runs the cell"""
    player = show('player("price_question")')
    player.press("Step")
    expect(player.page.locator(".jp-mod-dirty")).not_to_have_count(0)
    player.keys.press("Control+s")
    expect(player.page.locator(".jp-mod-dirty")).to_have_count(0)
    number = player.lesson.cell(PLAYS).locator(".jp-InputPrompt")
    before = number.inner_text()
    player.press("Step")
    player.keys.press("Shift+Enter")
    expect(number).not_to_have_text(before)


def test_approving_goes_on_and_rejecting_does_nothing(show):
    """After an answer the run plays on, the focus is on Run; rejected is not done"""
    player = show(PAYS)
    player.press("To the end")
    player.expect_at("The run waits for you: Pay")
    player.press("Not now")
    expect(player.form).to_be_hidden()
    player.press("Step")
    player.form.get_by_role("textbox", name="arguments").fill("{")
    player.press("Edit")
    expect(player.form.get_by_role("alert")).to_contain_text("not JSON")
    player.press("Approve")
    expect(player.form.get_by_role("alert")).to_contain_text("were changed")
    player.form.get_by_role("textbox", name="arguments").fill("")
    player.press("Reject")
    expect(player.root.locator(".press-run")).to_be_focused()
    player.press("To the end")
    expect(player.root.locator(".lately")).not_to_contain_text("pay_1")
    player.press("Play again", "To the end", "Approve", "To the end")
    expect(player.root.locator(".pins")).to_contain_text("payment 1")


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
@pytest.mark.parametrize("engine", ["naive", "fsm", "guarded", "grounded"])
def test_it_fits_one_screen_and_is_readable(tab, show, engine, theme):
    """At 1024 x 720, also with the form: no scrolling, and a contrast of 4.5"""
    player = show(f'player("payment_other_call_id", "{engine}")')
    tab.choose_theme(theme)
    for name in ("Turn", "To the end"):
        player.press(name)
        player.expect_at("Event ")
        panel = player.page.locator(".jp-Notebook:visible").bounding_box()
        assert player.root.bounding_box()["height"] <= panel["height"]
        assert player.root.evaluate(SIDEWAYS) == []
        assert min(player.root.evaluate(CONTRASTS, READ)) > READABLE


def test_a_model_that_is_slow_is_stopped_by_the_notebook(show):
    """A live model is asked at the first press; the square of the notebook stops it"""
    player = show(SLOW)
    player.expect_at("press Run or Step")
    player.press("Step")
    expect(player.root).to_contain_text("playing the run", timeout=10_000)
    player.page.get_by_role("button", name="Interrupt the kernel").click()
    player.press("To the end")
    player.expect_at("CANCELLED")


def test_a_file_that_grows_is_followed(show):
    """A trace that is still being written is shown to its end"""
    player = show(GROWS)
    player.expect_at("of 33")
    player.press("To the end")
    player.expect_at("Event 33 of 33: DONE")


def test_without_its_kernel_it_says_so_and_is_text(open_lesson):
    """After a restart it says what to do; a reopened notebook has the run as text"""
    lesson = open_lesson("01_naive_loop")
    lesson.type_into("gallery(", f"{PLAYS}\n{PAYS}")
    root = lesson.page.locator(".player")
    expect(root).to_be_visible(timeout=60_000)
    lesson.restart_kernel()
    sign = "e => getComputedStyle(e, '::before').content"
    expect(root).to_have_class(re.compile("disconnected"))
    assert "run this cell again" in root.evaluate(sign)
    lesson.save_and_open_anew()
    text = lesson.page.locator(".instead", has_text="The user asks: Pay 25 euros")
    expect(text).to_be_visible()
    expect(lesson.page.get_by_text("model not found")).to_have_count(0)
