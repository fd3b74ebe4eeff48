"""What is shown in both themes, and a page on which widgets and scripts do not run."""

import subprocess
import sys

import nbformat
from playwright.sync_api import expect

from tests.browser.conftest import CELL, CONTRASTS, READABLE, SMALL

DRAWN = """from workbook import your_agent
from workbook.runtime.table import CORE
from workbook.lessons.langchain_debug_trace import sequence_diagram
from workbook.stage import Diff, Mermaid, comparison, play
from workbook.stage.machines import table_of
from IPython.display import display
trace, grounded = play("price_question", "langchain"), table_of("grounded")
display(your_agent("05"), comparison([{"a": 1}]), Diff("old", "new"), trace)
display(Mermaid(CORE.mermaid("THINK")), Mermaid(grounded.mermaid("THINK")))
Mermaid(sequence_diagram(trace))"""
PLAYER = "from workbook.stage import player\nplayer('price_question', 'fsm')"
PARTS = "table :is(td, th), pre span"


def test_what_is_shown_follows_the_theme(window):
    """In both themes all words stand out, and each diagram fits a small screen"""
    lesson = window.open("00_start_here", size=SMALL)
    lesson.run("from workbook import about")  # from then on a trace is a table
    lesson.type_into(CELL, DRAWN)
    pictures = lesson.page.locator(".jp-RenderedMermaid img")
    expect(pictures).to_have_count(3)
    shown = lesson.output('your_agent("05")')
    expect(shown.locator("table", has_text="model request").first).to_be_visible()
    for _ in lesson.both_themes():
        for picture in pictures.all():
            box = picture.bounding_box()
            assert 40 < box["height"] <= 720
            assert box["width"] <= 1024
        contrasts = shown.evaluate(CONTRASTS, PARTS)
        assert len(contrasts) > 20
        assert min(contrasts) > READABLE


def test_a_web_page_needs_no_network(browser, tmp_path):
    """Opened without a network, a page of nbconvert shows tables and runs"""
    cells = map(nbformat.v4.new_code_cell, (DRAWN, PLAYER))
    nbformat.write(nbformat.v4.new_notebook(cells=[*cells]), tmp_path / "a.ipynb")
    command = [sys.executable, "-m", "jupyter", "nbconvert", "--to=html", "--execute"]
    subprocess.run([*command, tmp_path / "a.ipynb"], check=True, capture_output=True)
    with browser.new_context(offline=True) as context:
        page = context.new_page()
        page.goto((tmp_path / "a.html").as_uri(), wait_until="commit")
        expect(page.locator("table").first).to_be_visible()
        expect(page.locator("details.instead")).to_contain_text("final_answer")
