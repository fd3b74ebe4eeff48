"""The player for the last row, in JupyterLab's own window, by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import PlayerPage, pages

SIZE = {"width": 1280, "height": 720}
SMALLEST_PX = 24
CALL = r"""from workbook.models.script import Script
line = "行目：この文はとても長いので、後ろの席からも読めるように大きく表示されます。"
long = "\n".join(f"{n} {line}" for n in range(30))
pays = '{"payee": "Mallory", "amount": 200, "currency": "EUR"}'
turns = [
    "Thought: I look it up.\nAction: Look\nAction Input: youth hostel price of a bed",
    f"Thought: {long}\nAction: Pay\nAction Input: {pays}",
    f"Thought: {'long words ' * 200}\nFinal Answer: A bed costs 28 euro [hostel_1].",
]
player("page_pays_politely", engine="grounded", model=Script(turns), present=True)"""
TEXTS = """() => {
    const root = document.querySelector(".player"), found = [], range = new Range();
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode, parent = text.parentElement;
        if (parent.tagName === "STYLE" || !text.data.trim()) continue;
        range.selectNodeContents(text);
        const {width, left, top, right, bottom} = range.getBoundingClientRect();
        const size = parseFloat(getComputedStyle(parent).fontSize);
        if (width && parent.checkVisibility())
            found.push({text: text.data, size, left, top, right, bottom});
    }
    return found;
}"""
IN_FRONT = """() => [[5, 5], [1275, 715], [640, 400]].every(at =>
    document.elementFromPoint(...at).closest(".player"))"""
SCROLLS = """root => [root, ...root.querySelectorAll("*")].filter(e =>
    ["auto", "scroll"].includes(getComputedStyle(e).overflowY) && e.checkVisibility()
    && e.scrollHeight > e.clientHeight).map(e => e.className)"""


@pytest.fixture(scope="module")
def shown(lab, browser):
    """A player that fills a small projector's window, shared by the tests here."""
    with pages(lab, browser) as open_:
        yield PlayerPage(open_("00_start_here", size=SIZE), CALL)


def expect_in_view(shown):
    """Every text is large enough, whole in the window, and nothing scrolls."""
    texts = shown.page.evaluate(TEXTS)
    assert texts
    assert [text for text in texts if text["size"] < SMALLEST_PX] == []
    out = [
        text
        for text in texts
        if min(text["left"], text["top"]) < 0
        or text["right"] > SIZE["width"]
        or text["bottom"] > SIZE["height"]
    ]
    assert out == []
    assert shown.root.evaluate(SCROLLS) == []
    assert shown.page.evaluate(IN_FRONT)


def test_by_keyboard_alone_to_the_end_of_a_run(shown):
    """At each event all is in view at 24 pixels and more; A approves, by its letter"""
    keyboard = shown.page.keyboard
    expect_in_view(shown)
    shown.page.mouse.click(0, 0)  # wherever the focus was
    form = shown.root.locator(".approval")
    for number in range(1, 18):
        keyboard.press(["Space", "ArrowRight"][number % 2])
        shown.expect_status(f"{number} of 17 events")
        expect_in_view(shown)
    expect(form.get_by_role("button", name="Approve A")).to_be_visible()
    keyboard.press("a")
    expect(form).to_be_hidden()
    said = shown.root.locator(".who")
    for number in range(18, 30):
        keyboard.press("Space")
        shown.expect_status(f"{number} of 29 events")
        expect(said).to_be_visible()
        expect_in_view(shown)
    shown.expect_status(": DONE")
    pins = shown.root.locator(".pin")
    expect(pins).to_have_count(4)  # drawn after the status
    assert [words.split(":")[0] for words in pins.all_inner_texts()] == [
        *("★ the page asks", "★ a person is asked", "★ paid", "★ the end")
    ]


def test_the_other_keys(shown):
    """End plays, back and turn by turn they go, Home forgets, C cancels, N answers"""
    keyboard = shown.page.keyboard
    keyboard.press("Home")
    shown.expect_status("Press Run, or Step")
    keyboard.press("PageDown")
    shown.expect_status("5 of 17")
    keyboard.press("ArrowDown")
    shown.expect_status("14 of 17")
    expect(shown.root.locator(".hidden")).to_contain_text("letters before this")
    keyboard.press("ArrowUp")
    shown.expect_status("5 of 17")
    keyboard.press("ArrowLeft")
    shown.expect_status("4 of 17")
    keyboard.press("End")
    shown.expect_status("waits for you: Pay")
    keyboard.press("n")
    shown.expect_status("PENDING")
    keyboard.press("Home")
    keyboard.press("End")
    shown.expect_status("waits for you: Pay")
    keyboard.press("c")
    shown.expect_status("CANCELLED")


def test_nothing_reaches_the_notebook_behind(shown):
    """Keys that delete or add a cell do nothing; Tab stays, and its place is seen"""
    cells = shown.page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    shown.page.evaluate("document.activeElement.blur()")
    shown.page.keyboard.type("ddxb")
    assert cells.count() == before
    for _ in range(12):
        shown.page.keyboard.press("Tab")
        assert shown.page.evaluate("!!document.activeElement.closest('.player')")
    shown.button("Step →").focus()
    shown.page.keyboard.press("Shift+Tab")
    focused = shown.root.locator("button:focus-visible")
    assert focused.evaluate("e => getComputedStyle(e).outlineWidth") == "3px"


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_light_and_dark_and_back(shown, theme):
    """Esc gives the notebook back, P fills the window; readable in either theme"""
    keyboard = shown.page.keyboard
    keyboard.press("Escape")
    expect(shown.button("Present")).to_be_visible()
    assert not shown.page.evaluate(IN_FRONT)
    shown.lesson.choose_theme(theme)
    shown.button("Present").focus()
    keyboard.press("p")
    expect(shown.button("Leave Esc")).to_be_visible()
    assert shown.page.evaluate(IN_FRONT)
    keyboard.press("Home")
    keyboard.press("End")
    expect(shown.root.locator(".approval")).to_be_visible()
    shown.picture_of_window(f"present_asks_{theme[-4:].strip().lower()}")
    parts = ".stations span, .approval, .approval .code, button:enabled, .pin"
    shown.expect_readable(parts, 12)
    keyboard.press("r")
    shown.expect_status("of 2")
    keyboard.press("ArrowUp")
    shown.expect_readable(".who, .said, .pin, [role=status]", 4)
