"""Diagrams in both themes, and pages on which widgets and scripts do not run."""

import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

CELL = "be_the_model()"  # a cell of lesson 00 that the tests write over
READABLE, SMALLEST = 3.0, 11  # contrast of lines and labels; pixels of a letter
DRAWN = """from workbook.fsm.table import CORE
from workbook.langchain_trace.diagram import sequence_diagram
from workbook.traces.show import Mermaid
from workbook.playground import play
from IPython.display import display
display(Mermaid(CORE.mermaid("THINK"), "The states of an agent"))
Mermaid(sequence_diagram(play("price_question", "langchain")), "Who asked whom")"""
# Of each line and label in a picture: its contrast on what lies under it, or else on
# the page; and of each label the height of its letters as they are shown.
MEASURED = """image => {
    const host = document.body.appendChild(document.createElement("div"));
    const source = decodeURIComponent(image.src.split(",", 2)[1]);
    host.innerHTML = source.slice(source.indexOf("<svg"));
    const svg = host.querySelector("svg");
    const scale = image.clientWidth / svg.viewBox.baseVal.width;
    const rgba = text => (text.match(/[\\d.]+/g) || [0, 0, 0, 0]).map(Number);
    const light = colour => {
        const [r, g, b] = rgba(colour).map(c => c / 255).map(
            c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const contrast = (one, other) => {
        const two = [light(one), light(other)];
        return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
    };
    const notebook = document.querySelector(".jp-Notebook");
    const page = getComputedStyle(notebook).backgroundColor;
    const solid = colour => colour !== "none" && (rgba(colour)[3] ?? 1) > 0.4;
    const under = e => {
        for (let up = e; up && up !== svg; up = up.parentElement) {
            const style = getComputedStyle(up);
            if (up instanceof HTMLElement && solid(style.backgroundColor))
                return style.backgroundColor;
            const box = up.parentElement !== svg && up.parentElement.querySelector(
                ":scope > rect, :scope > .label-container");
            if (box && box !== up && solid(getComputedStyle(box).fill))
                return getComputedStyle(box).fill;
        }
        return page;
    };
    const words = [...svg.querySelectorAll("text, tspan, span, p")].filter(
        e => e.textContent.trim() && !e.querySelector("tspan, span, p"));
    const lines = [...svg.querySelectorAll("path.transition, [class*=messageLine]")];
    const result = {
        labels: words.map(e => {
            const {color, fill} = getComputedStyle(e);
            return contrast(e instanceof HTMLElement ? color : fill, under(e));
        }),
        lines: lines.map(e => contrast(getComputedStyle(e).stroke, page)),
        sizes: words.map(e => parseFloat(getComputedStyle(e).fontSize) * scale),
        name: image.alt,
    };
    host.remove();
    return result;
}"""


def test_diagrams_bear_a_switch_of_theme(open_lesson):
    """Drawn in one theme and seen in the other, lines and labels stand out"""
    lesson = open_lesson("00_start_here")
    lesson.page.set_viewport_size({"width": 1024, "height": 768})
    lesson.type_into(CELL, DRAWN)
    pictures = lesson.page.locator(".jp-RenderedMermaid img")
    expect(pictures).to_have_count(2, timeout=60_000)
    names = ["The states of an agent", "Who asked whom"]
    try:
        for theme in ("JupyterLab Dark", "JupyterLab Light"):
            lesson.choose_theme(theme)
            for picture, name in zip(pictures.all(), names, strict=True):
                found = picture.evaluate(MEASURED)
                assert found["name"] == name
                assert len(found["labels"]) > 15
                assert len(found["lines"]) > 15
                assert min(found["labels"] + found["lines"]) > READABLE
                assert min(found["sizes"]) > SMALLEST
    finally:
        lesson.choose_theme("JupyterLab Light")


def test_a_saved_notebook_has_the_text_of_its_widgets(open_lesson):
    """Saved, its kernel ended and opened anew, a notebook still shows the run"""
    lesson = open_lesson("00_start_here")
    source = "from workbook.playground import player, be_the_model\n"
    source += "display(be_the_model())\nplayer('price_question')"
    lesson.type_into(CELL, source)
    expect(lesson.page.locator(".player")).to_be_visible(timeout=60_000)
    texts = lesson.page.locator(".jp-OutputArea details.instead")
    expect(texts.first).to_be_hidden()  # beside what lives it is not needed
    lesson.page.keyboard.press("Escape")
    lesson.page.keyboard.press("Control+s")
    expect(lesson.page.locator(".jp-mod-dirty")).to_have_count(0)
    lesson.page.evaluate(
        """async () => {
            const config = JSON.parse(
                document.getElementById("jupyter-config-data").textContent);
            const headers = {Authorization: `token ${config.token}`};
            const api = config.baseUrl + "api/sessions";
            for (const one of await (await fetch(api, {headers})).json())
                await fetch(`${api}/${one.id}`, {method: "DELETE", headers});
        }"""
    )
    lesson.page.reload()
    expect(texts).to_have_count(2, timeout=60_000)
    expect(lesson.page.locator(".player")).to_have_count(0)
    expect(lesson.page.get_by_text("model not found").first).to_be_hidden()
    expect(texts.nth(1)).to_contain_text("run this cell again")
    expect(texts.nth(0)).to_contain_text("A product costs $100.")
    expect(texts.nth(1).get_by_text("observation", exact=True).first).to_be_visible()
    expect(texts.nth(1).locator("svg")).to_be_visible()
    lesson.pictures("reopened")


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
    diagrams = page.locator(".jp-RenderedSVG, .jp-RenderedImage").locator("svg, img")
    expect(diagrams).to_have_count(2)
    for diagram in diagrams.all():
        assert diagram.bounding_box()["height"] > 100
    trace = page.locator("details.instead")
    expect(trace).to_contain_text("final_answer")
    expect(trace.locator("svg")).to_be_visible()
    expect(trace.locator("tr").nth(15)).to_be_visible()
    page.close()
