"""Diagrams in both themes, and pages on which widgets and scripts do not run."""

import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CELL, CONTRASTS, READABLE

DRAWN = """from workbook import your_agent
from workbook.runtime.table import CORE
from workbook.lessons.langchain_debug_trace import sequence_diagram
from workbook.stage import Diff, Mermaid, comparison, play
from workbook.stage.machines import table_of
from IPython.display import display
grounded = table_of("grounded")
display(your_agent("05"), comparison([{"a": 1}]), Diff("old", "new"))
display(Mermaid(CORE.mermaid("THINK")), Mermaid(grounded.mermaid("THINK")))
Mermaid(sequence_diagram(play("price_question", "langchain")))"""
SAID_ABOVE = "e => getComputedStyle(e, '::before').content"
PARTS = "table :is(td, th), pre span"


def test_what_is_shown_follows_the_theme(open_lesson):
    """In both themes all words stand out, and each diagram fits a small screen"""
    lesson = open_lesson("00_start_here")
    lesson.page.set_viewport_size({"width": 1024, "height": 768})
    lesson.type_into(CELL, DRAWN)
    pictures = lesson.page.locator(".jp-RenderedMermaid img")
    expect(pictures).to_have_count(3, timeout=60_000)
    for _ in lesson.both_themes():
        for picture in pictures.all():
            box = picture.bounding_box()
            assert 40 < box["height"] <= 720
            assert box["width"] <= 1024
        shown = lesson.output('your_agent("05")')
        contrasts = shown.evaluate(CONTRASTS, PARTS)
        assert len(contrasts) > 5
        assert min(contrasts) > READABLE


@pytest.fixture
def web_page(tmp_path):
    """A small notebook that was run and made a web page."""
    source = "from workbook.stage import player\nplayer('price_question', 'fsm')"
    cells = [nbformat.v4.new_code_cell(source) for source in (DRAWN, source)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), tmp_path / "a.ipynb")
    command = [
        sys.executable,
        "-m",
        "jupyter",
        "nbconvert",
        "--to",
        "html",
        "--execute",
    ]
    subprocess.run([*command, tmp_path / "a.ipynb"], check=True, capture_output=True)
    return tmp_path / "a.html"


def test_a_web_page_needs_no_network(web_page, browser):
    """Opened without a network, a page of nbconvert shows tables and runs"""
    page = browser.new_page()
    page.route(
        "**/*",
        lambda route: (
            route.abort()
            if "://" in route.request.url and not route.request.url.startswith("file:")
            else route.continue_()
        ),
    )
    page.goto(web_page.as_uri())
    expect(page.locator("table").first).to_be_visible()
    trace = page.locator("details.instead")
    expect(trace).to_contain_text("final_answer")
    page.close()
