"""The player in JupyterLab: it moves; its keys, form and size; a kernel that ends."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CELL, CONTRASTS, READABLE, PlayerPage

PLAYS = "from workbook.stage.trace_player import player"
PAYS = 'player("payment_other_call_id", "guarded")'
SLOW = """from threading import Event
class Slow:
    name = "slow"
    def respond(self, request):
        Event().wait()
player("price_question", "guarded", model=Slow())"""
SIDEWAYS = """root => [root, ...root.querySelectorAll("*")].filter(e =>
    ["auto", "scroll"].includes(getComputedStyle(e).overflowX)
    && e.scrollWidth > e.clientWidth).map(e => e.className)"""
READ = (
    ".status b, .asked, .phase, .budget, .pin, td, .heading, .wb-block, .approval div"
)


@pytest.fixture(scope="module")
def tab(window):
    """Lesson 00, in which all tests show their players."""
    return window.open("00_start_here", size={"width": 1024, "height": 720})


@pytest.fixture
def show(tab):
    """Return a function that types a call of `player` into a cell, and its player."""

    def show(call):
        root = tab.page.locator(".player")
        if root.count():  # of the test before
            tab.type_into(PLAYS, PLAYS)
            expect(root).to_have_count(0)
        shown = tab.page.locator(".cm-content", has_text=PLAYS).count()
        tab.type_into(PLAYS if shown else CELL, f"{PLAYS}\n{call}")
        expect(root.locator("[role=status]")).to_be_visible()
        player = PlayerPage(root)
        player.play_fast()
        return player

    return show


def press(player, *keys):
    for key in keys:
        player.page.keyboard.press(key)


def status_at_rest(player):
    """Return its status when half a second changes nothing: it is paused, or ended."""
    before, now = "", player.status.inner_text()
    while now != before:
        player.page.wait_for_timeout(500)  # in which two events would be shown
        before, now = now, player.status.inner_text()
    return now


def test_run_moves_pauses_and_goes_to_the_end(show):
    """Run shows an event after the other, and is Pause meanwhile; Space pauses

    The run is a long one, of half a minute: the pause comes before its end.
    """
    player = show('player("crash_at_step_45", "naive")')
    player.press("Run")
    expect(player.button("Pause")).to_be_visible()
    expect(player.status).to_contain_text(re.compile(r"Event ([3-9]|\d\d+) of"))
    press(player, "Space")
    expect(player.button("Run")).to_be_focused()
    assert not re.search(r"Event (\d+) of \1\b", status_at_rest(player))
    player.press("To the end")
    expect(player.status).to_contain_text(re.compile(r"Event (\d+) of \1: "))


def test_keys_press_buttons_and_letters_reach_no_cell(show):
    """Arrows, T, End and Home move; other letters do nothing; the focus stays"""
    player = show('player("price_question", "langchain")')
    cells = player.page.locator(".jp-Notebook .jp-CodeCell")
    before = cells.count()
    player.press("Step")
    for key, place in [("ArrowRight", 2), ("ArrowLeft", 1), ("t", 3), ("Home", 0)]:
        press(player, key)
        player.expect_status(f"Event {place} of 28")
    press(player, *"ddxmb", "End")
    player.expect_status("Event 28 of 28")
    expect(player.button("Step")).to_be_focused()
    assert cells.count() == before


def test_saving_and_running_work_as_everywhere(show, tab):
    """With the focus in the player Ctrl+S saves, and Shift+Enter runs the cell"""
    player = show('player("price_question")')
    player.press("Step")
    player.expect_status("Event 1 of")
    expect(player.page.locator(".jp-mod-dirty")).not_to_have_count(0)
    press(player, "Control+s")
    expect(player.page.locator(".jp-mod-dirty")).to_have_count(0)
    number = tab.cell(PLAYS).locator(".jp-InputPrompt")
    before = number.inner_text()
    player.press("Step")
    press(player, "Shift+Enter")
    expect(number).not_to_have_text(before)


def test_approving_goes_on_and_rejecting_does_nothing(show):
    """After an answer the run plays on, the focus is on Run; rejected is not done"""
    player = show(PAYS)
    player.press("To the end")
    player.expect_status("The run waits for you: Pay")
    player.press("Not now")
    expect(player.form).to_be_hidden()
    player.press("Step")
    arguments = player.form.get_by_role("textbox", name="arguments")
    arguments.fill("{")
    player.press("Edit")
    expect(player.form.get_by_role("alert")).to_contain_text("not JSON")
    player.press("Approve")
    expect(player.form.get_by_role("alert")).to_contain_text("were changed")
    arguments.fill("")
    player.press("Reject")
    expect(player.root.locator(".press-run")).to_be_focused()
    expect(player.status).to_contain_text(re.compile(r"Event (\d+) of \1: "))
    expect(player.root.locator(".lately")).not_to_contain_text("pay_1")
    player.press("Play again", "Approve")  # until then it plays, and then goes on
    expect(player.root.locator(".pins")).to_contain_text("payment 1")


@pytest.mark.parametrize("engine", ["naive", "fsm", "guarded", "grounded"])
def test_it_fits_one_screen_and_is_readable(tab, show, engine):
    """At 1024 x 720, also with the form: no scrolling, and a contrast of 4.5"""
    player = show(f'player("payment_other_call_id", "{engine}")')
    for name, place in ("Turn", r"Event [1-9]"), ("To the end", r"Event (\d+) of \1\b"):
        player.press(name)
        expect(player.status).to_contain_text(re.compile(place))
        for _ in tab.both_themes():
            panel = player.page.locator(".jp-Notebook:visible").bounding_box()
            assert player.root.bounding_box()["height"] <= panel["height"]
            assert player.root.evaluate(SIDEWAYS) == []
            assert min(player.root.evaluate(CONTRASTS, READ)) > READABLE


def test_a_model_that_is_slow_is_stopped_by_the_notebook(show):
    """A live model is asked at the first press; the square of the notebook stops it"""
    player = show(SLOW)
    player.expect_status("press Run or Step")
    player.press("Step")
    expect(player.root).to_contain_text("playing the run")
    player.page.get_by_role("button", name="Interrupt the kernel").click()
    player.press("To the end")
    player.expect_status("CANCELLED")


def test_without_its_kernel_it_says_so_and_is_text(window, tab, show):
    """After a restart it says what to do; reopened it is text; last: it ends the tab"""
    root = show(PAYS).root
    tab.page.evaluate("jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    expect(root).to_have_class(re.compile("disconnected"))
    before = root.evaluate("e => getComputedStyle(e, '::before').content")
    assert "run this cell again" in before
    page = window.open_anew(tab).page
    text = page.locator(".instead", has_text="The user asks: Pay 25 euros")
    expect(text).to_be_visible()
    expect(page.get_by_text("model not found")).to_have_count(0)
