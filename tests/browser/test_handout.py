"""The handout in a browser that has no network: pages to read, and slides."""

import subprocess
import sys

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CONTRASTS, LIMIT_S, READABLE

ROOM = {"width": 1280, "height": 720}
HIGHEST = 700
HEIGHTS = """() => [...document.querySelectorAll(".slides > section > section")].map(
    slide => {
        const { h, v } = Reveal.getIndices(slide);
        Reveal.slide(h, v);
        return slide.scrollHeight;
    })"""
# All of them take minutes: the decks with the highest slides, and the demos.
SOME = ["05_state_machine", "12_evaluation", "demos"]


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The handout of some notebooks, as the command writes it."""
    folder = tmp_path_factory.mktemp("handout") / "site"
    command = [sys.executable, "-m", "workbook", "handout", folder, "--only", *SOME]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return folder


@pytest.fixture
def page(browser):
    """A page without a network, and what it asked for and complained of."""
    context = browser.new_context(offline=True, viewport=ROOM)
    context.set_default_timeout(LIMIT_S * 1000)
    page = context.new_page()
    page.asked, page.wrong = [], []
    page.on("request", lambda request: page.asked.append(request.url))
    page.on("console", lambda message: page.wrong.append(message.text))
    page.on("pageerror", lambda error: page.wrong.append(str(error)))
    yield page
    context.close()


@pytest.mark.parametrize("name", SOME)
def test_a_notebook_is_read_and_shown_without_a_network(page, site, name):
    """From the index to a page with outputs, to its slides, in light and in dark."""
    page.goto((site / "index.html").as_uri())
    page.locator(f"td a[href='{name}.html']").click()
    assert page.locator(".output_area").count() > 10
    assert page.locator(".output_error").count() == 0
    if name == "demos":  # what a player shows where no widget lives
        played = page.locator("details.instead", has_text="The user asks")
        expect(played.first).to_be_attached()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        body = page.locator("body").element_handle()
        own = "p, li, h1, h2, a, .highlight pre span:not(.w)"
        parts = body.evaluate(CONTRASTS, f":is({own}):not(.output *)")
        assert len(parts) > 50
        assert min(parts) > READABLE
    page.emulate_media(media="print")  # where nothing can be opened
    assert page.locator(".text_cell details:not([open])").count() == 0

    page.emulate_media(media="screen")
    page.get_by_role("link", name="Slides").first.click()
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    heights = page.evaluate(HEIGHTS)
    assert len(heights) > 10
    assert max(heights) <= HIGHEST
    files = [url for url in page.asked if not url.startswith("data:")]
    assert all(url.startswith(site.as_uri()) for url in files)
    assert page.wrong == []
