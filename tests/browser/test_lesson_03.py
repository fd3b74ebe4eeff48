"""Lesson 03 in a real browser: the coloured prompt, the diagrams, the two columns."""

import os
import re
from pathlib import Path

from playwright.sync_api import expect

LESSON = "03_langchain_debug_trace"


def test_lesson_03_shows_what_the_framework_says(open_lesson):
    """Run all: the prompt stands there in colours, the diagrams are drawn."""
    lesson = open_lesson(LESSON)
    lesson.run_all()

    expect(lesson.output("events in place of").locator("table")).to_be_visible()
    hidden = "Question: ${Question with math problem.}"  # two of them are no formula
    expect(lesson.page.locator("table", has_text=hidden).first).to_be_visible()
    expect(lesson.page.locator("table mjx-container")).to_have_count(0)

    prompt = lesson.output("color_prompt(first)").locator(".workbook-prompt")
    expect(prompt).to_contain_text("question: 25")
    tools = prompt.locator('pre span[title="tools"]')
    expect(tools).to_contain_text("Calculator(")
    assert tools.evaluate("s => getComputedStyle(s).backgroundColor").startswith("rgba")

    drawn = lesson.output("Mermaid(sequence_diagram(trace))")
    assert drawn_arrows(drawn) == 28
    graph = svg_text(lesson.output("draw_mermaid("))
    assert "tools" in graph
    # LangChain's own light fill has light words on it in a dark theme.
    assert "#f2f0ff" not in graph

    columns = lesson.output("side_by_side(texts").locator("pre")
    expect(columns.nth(0)).not_to_contain_text("Observation:")
    expect(columns.nth(1)).to_contain_text("Observation:")

    expect(lesson.output("plot_caching(frame)").locator("img")).to_be_visible()
    expect(lesson.output('gallery(["naive", "langchain"])')).to_contain_text("139,000")
    if folder := os.environ.get("WORKBOOK_SCREENSHOTS"):
        pictures(lesson, Path(folder))


def mermaid_svg(output):
    """Return the SVG of the diagram that a cell shows, once it is drawn."""
    picture = output.locator(".jp-RenderedMermaid img, .jp-RenderedMermaid svg").first
    expect(picture).to_be_visible(timeout=60_000)
    return picture


def svg_text(output):
    """Return the source of a drawn diagram; JupyterLab shows it as an image."""
    picture = mermaid_svg(output)
    return picture.evaluate(
        "e => e.tagName === 'IMG' ? fetch(e.src).then(r => r.text()) : e.outerHTML"
    )


def drawn_arrows(output):
    """Return how many arrows a drawn sequence diagram has: whole or dotted lines."""
    return len(re.findall(r'class="messageLine[01]"', svg_text(output)))


def pictures(lesson, folder):
    """Take a picture of each cell with an output."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = lesson.page.locator(".jp-Notebook .jp-Cell")
    for number in range(cells.count()):
        cells.nth(number).screenshot(path=folder / f"lesson_03_{number:02}.png")
