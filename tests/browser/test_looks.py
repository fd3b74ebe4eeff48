"""Diagrams in both themes, and pages on which widgets and scripts do not run."""

import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import CELL, CONTRASTS, LUMINANCE, READABLE

SMALLEST = 12  # pixels of a letter
DRAWN = """import pandas as pd
from workbook import your_agent
from workbook.runtime.table import CORE
from workbook.langchain_trace.diagram import sequence_diagram
from workbook.views.show import Diff, Mermaid
from workbook.playground.engines import SUSPICIOUS, gallery, play
from IPython.display import display
display(gallery("fsm", only=["drift", "price_question"]), your_agent("05"))
display(pd.DataFrame({"a": [1]}), Diff("-old\\n+new"))
display(Mermaid(CORE.mermaid("THINK")), Mermaid(SUSPICIOUS.mermaid("THINK")))
Mermaid(sequence_diagram(play("price_question", "langchain")))"""
SAID_ABOVE = "e => getComputedStyle(e, '::before').content"
PARTS = ".gallery :is(b, small, span, button), .workbook-agent code, table td, pre span"
# Of each label in a picture: its contrast on its box, or else on the page, and the
# height of its letters as they are shown.
MEASURED = f"""svg => {{
    {LUMINANCE}
    const under = label => {{
        const box = label.parentElement.querySelector(":scope > rect");
        return box ? getComputedStyle(box).fill : paper(svg);
    }};
    const scale = svg.clientWidth / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll("text")].map(e => {{
        const {{fill, fontSize}} = getComputedStyle(e);
        return [contrast(fill, under(e)), parseFloat(fontSize) * scale];
    }});
}}"""


def test_what_is_shown_follows_the_theme(open_lesson):
    """In both themes all words stand out; labels have 12 pixels on a small screen"""
    lesson = open_lesson("00_start_here")
    lesson.page.set_viewport_size({"width": 1024, "height": 768})
    lesson.type_into(CELL, DRAWN)
    pictures = lesson.page.locator(".workbook-diagram svg")
    expect(pictures).to_have_count(3, timeout=60_000)
    for _ in lesson.both_themes():
        for picture in pictures.all():
            contrasts, sizes = zip(*picture.evaluate(MEASURED), strict=True)
            assert len(sizes) > 12
            assert min(contrasts) > READABLE
            assert min(sizes) > SMALLEST - 0.1
            assert picture.locator("..").bounding_box()["height"] <= 720
        shown = lesson.output('your_agent("05")')
        contrasts = shown.evaluate(CONTRASTS, PARTS)
        assert len(contrasts) > 20
        assert min(contrasts) > READABLE


def test_a_saved_notebook_has_the_text_of_its_widgets(open_lesson):
    """Saved, its kernel ended and opened anew, a notebook still shows the run

    What stands for a widget is seen where the widget is gone, and only there. After a
    restart of the kernel a widget says that its cell must run again.
    """
    lesson = open_lesson("00_start_here")
    source = "from workbook import about, predict\nabout()\n"
    source += "from workbook.playground import player, be_the_model\n"
    source += "display(predict('Which?', 'this one', 'that one'))\n"
    source += "display(be_the_model())\nplayer('price_question')"
    lesson.type_into(CELL, source)
    expect(lesson.page.locator(".player")).to_be_visible(timeout=60_000)
    choices = lesson.page.get_by_text("this one / that one")
    expect(choices).to_be_hidden()
    texts = lesson.page.locator(".jp-OutputArea details.instead")
    expect(texts.first).to_be_hidden()  # beside what lives it is not needed
    lesson.save()
    lesson.restart_kernel()
    dead = lesson.page.locator(".jp-OutputArea-output > .jupyter-widgets-disconnected")
    expect(dead).to_have_count(3)
    for widget in dead.all():
        assert "run this cell again" in widget.evaluate(SAID_ABOVE).lower()
    lesson.save_and_open_anew()
    expect(texts).to_have_count(2, timeout=60_000)
    expect(lesson.page.locator(".player")).to_have_count(0)
    expect(choices).to_be_visible()
    for gone in lesson.page.get_by_text("model not found").all():
        expect(gone).to_be_hidden()
    expect(texts.nth(1)).to_contain_text("run this cell again")
    expect(texts.nth(0)).to_contain_text("A product costs $100.")
    expect(texts.nth(1).get_by_text("observation", exact=True).first).to_be_visible()
    expect(texts.nth(1).locator("svg")).to_be_visible()


@pytest.fixture
def web_page(tmp_path):
    """A small notebook that was run and made a web page."""
    source = "from workbook.playground import player\nplayer('price_question', 'fsm')"
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
    """Opened without a network, a page of nbconvert shows diagrams and traces"""
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
    diagrams = page.locator(".workbook-diagram:not(details *) svg")
    expect(diagrams).to_have_count(3)
    for diagram in diagrams.all():
        assert diagram.bounding_box()["height"] > 100
    trace = page.locator("details.instead")
    expect(trace).to_contain_text("final_answer")
    expect(trace.locator("svg")).to_be_visible()
    expect(trace.locator("tr").nth(15)).to_be_visible()
    page.close()
