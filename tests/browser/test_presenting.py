"""What fills the window for the last row, in JupyterLab, by keyboard alone."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import pages, play_in

SIZE = {"width": 1280, "height": 720}
SMALLEST_PX = 22
CALL = r"""from workbook.runtime.script import Script
line = "行目：この文はとても長いので、後ろの席からも読めるように大きく表示されます。"
long = "\n".join(f"{n} {line}" for n in range(30))
pays = '{"payee": "Mallory", "amount": 200, "currency": "EUR"}'
turns = [
    "Thought: I look it up.\nAction: Look\nAction Input: youth hostel price of a bed",
    f"Thought: {long}\nAction: Pay\nAction Input: {pays}",
    f"Thought: {'long words ' * 200}\nFinal Answer: A bed costs 28 euro [hostel_1].",
]
player("page_pays_politely", engine="grounded", model=Script(turns))"""
TEXTS = """root => {
    const found = [], range = new Range();
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walk.nextNode()) {
        const text = walk.currentNode, parent = text.parentElement;
        if (parent.tagName === "STYLE" || !text.data.trim()) continue;
        range.selectNodeContents(text);
        const scale = parent.getCTM?.()?.a ?? 1;
        const size = parseFloat(getComputedStyle(parent).fontSize) * scale
            * (parent.currentCSSZoom ?? 1);
        if (range.getBoundingClientRect().width && parent.checkVisibility())
            found.push({text: text.data, size});
    }
    return found;
}"""
OUTSIDE = """root => [...root.querySelectorAll("button, .box, .heading, .pin, .now")]
    .filter(e => e.checkVisibility()).map(e => [e, e.getBoundingClientRect()])
    .filter(([e, {right, bottom, top}]) => right > 1281 || bottom > 721 || top < 0)
    .map(([e]) => e.outerHTML.slice(0, 80))"""
IN_FRONT = """root => [[5, 5], [1275, 715], [640, 400]].every(at =>
    root.contains(document.elementFromPoint(...at)))"""


@pytest.fixture(scope="module")
def lesson(lab, browser):
    """A lesson in a small projector's window, shared by the tests here."""
    with pages(lab, browser) as open_:
        yield open_("00_start_here", size=SIZE)


@pytest.fixture(scope="module")
def shown(lesson):
    """A player that fills the window."""
    shown = play_in(lesson, CALL)
    shown.button("Present").click()
    return shown


def expect_in_view(shown):
    """Every text is large enough, all is in the window, and nothing is above it."""
    texts = shown.root.evaluate(TEXTS)
    assert texts
    assert [text for text in texts if text["size"] < SMALLEST_PX] == []
    assert shown.root.evaluate(OUTSIDE) == []
    assert shown.root.evaluate(IN_FRONT)


def test_by_keyboard_alone_to_the_end_of_a_run(shown):
    """At each event all is in view at 22 pixels and more; A approves, by its letter"""
    keyboard = shown.page.keyboard
    shown.page.mouse.click(0, 0)  # wherever the focus was
    form = shown.root.locator(".approval")
    for number in range(1, 16):
        keyboard.press(["Space", "ArrowRight"][number % 2])
        shown.expect_status(f"{number} of 15 events")
        expect_in_view(shown)
    expect(shown.root.locator(".question")).to_contain_text("Question:")
    expect(form.get_by_role("button", name="Approve A")).to_be_visible()
    keyboard.press("a")
    expect(form).to_be_hidden()
    for number in range(16, 29):
        keyboard.press("Space")
        shown.expect_status(f"{number} of 28 events")
        expect_in_view(shown)
    shown.expect_status(": DONE")
    pins = shown.root.locator(".pin")
    expect(pins).to_have_count(4)
    assert [words.split(":")[0] for words in pins.all_inner_texts()] == [
        *("★ the page asks", "★ a person is asked", "★ paid", "★ the end")
    ]


def test_the_other_keys(shown):
    """End plays, back and turn by turn, N and G put off and go on, C cancels"""
    keyboard = shown.page.keyboard
    for key, words in (
        *(("Home", "Press Run, or Step"), ("PageDown", "4 of"), ("ArrowDown", "12 of")),
        *(("ArrowUp", "4 of"), ("ArrowLeft", "3 of"), ("End", "waits for you: Pay")),
        *(("n", "SUSPENDED"), ("g", "waits for you: Pay"), ("c", "CANCELLED")),
    ):
        keyboard.press(key)
        shown.expect_status(words)


def test_nothing_reaches_the_notebook_behind(shown):
    """Keys that delete or add a cell do nothing; Tab stays in here"""
    cells = shown.page.locator(".jp-Notebook .jp-Cell")
    before = cells.count()
    shown.page.evaluate("document.activeElement.blur()")
    shown.page.keyboard.type("ddxb")
    assert cells.count() == before
    for _ in range(12):
        shown.page.keyboard.press("Tab")
        assert shown.page.evaluate("!!document.activeElement.closest('.player')")


@pytest.mark.parametrize("theme", ["JupyterLab Dark", "JupyterLab Light"])
def test_light_and_dark_and_back(lesson, shown, theme):
    """Esc gives the notebook back, P fills the window; readable in either theme"""
    keyboard = shown.page.keyboard
    keyboard.press("Escape")
    expect(shown.button("Present")).to_be_visible()
    assert not shown.root.evaluate(IN_FRONT)
    lesson.choose_theme(theme)
    shown.button("Present").focus()
    keyboard.press("p")
    expect(shown.button("Present Esc")).to_be_visible()
    assert shown.root.evaluate(IN_FRONT)
    keyboard.press("Home")
    keyboard.press("End")
    expect(shown.root.locator(".approval")).to_be_visible()
    parts = ".approval .heading, .approval .code, button:enabled, .states text"
    shown.expect_readable(parts, 12)
    keyboard.press("r")
    shown.expect_status("of 2")
    shown.expect_readable(".who, .said div, .pin, [role=status], .events td", 4)


def test_be_the_model_fills_the_window_too(lesson, shown):
    """P makes it large, letters in the box stay letters, Esc gives the notebook back"""
    page = shown.page
    page.keyboard.press("Escape")
    lesson.type_into(
        "import player",
        "from workbook.playground import be_the_model, player\nbe_the_model()",
    )
    root = page.locator(".be-the-model")
    root.get_by_role("button", name="Present").click()
    assert root.evaluate(IN_FRONT)
    assert min(text["size"] for text in root.evaluate(TEXTS)) >= SMALLEST_PX
    root.get_by_role("textbox").fill("")
    root.get_by_role("textbox").press_sequentially("p")  # a letter, and not the key
    assert root.evaluate(IN_FRONT)
    root.get_by_role("textbox").fill("Final Answer: 88")
    expect(page.locator("[data-status=idle]").first).to_be_attached()
    root.get_by_role("button", name="Send my turn").click()
    expect(root).to_contain_text("stopped after 1 turn")
    page.keyboard.press("Escape")
    assert not root.evaluate(IN_FRONT)
