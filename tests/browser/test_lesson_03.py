"""Lesson 03 in a real browser: the coloured prompt, the diagrams, the two columns."""

import os
from pathlib import Path

from playwright.sync_api import expect

LESSON = "03_langchain_debug_trace"


def test_lesson_03_shows_what_the_framework_says(open_lesson):
    """Run all: the log unfolds, the prompt is in colours, the diagrams are drawn."""
    lesson = open_lesson(LESSON)
    lesson.run_all()

    log = lesson.output("DebugLog()").locator(".workbook-log")
    expect(log.locator("details")).to_have_count(54)
    places = ["first prompt", "turn", "tool", "scratchpad"]
    expect(log.locator("summary b")).to_have_text(places)
    scratchpad = log.locator("details", has=log.page.locator("b", has_text=places[-1]))
    expect(scratchpad.locator("pre")).to_be_hidden()
    scratchpad.locator("summary").click()
    expect(scratchpad.locator("pre")).to_contain_text("Observation: Answer: 20.0")

    expect(lesson.output("the agent's own").locator("table")).to_be_visible()
    hidden = "Question: ${Question with math problem.}"  # two of them are no formula
    expect(lesson.page.locator("table", has_text=hidden).first).to_be_visible()
    expect(lesson.page.locator("table mjx-container")).to_have_count(0)

    prompt = lesson.output("ColoredPrompt(first)").locator(".workbook-prompt")
    expect(prompt).to_contain_text("question: 25")
    tools = prompt.locator('pre span[title="tools"]')
    expect(tools).to_contain_text("Calculator(")
    assert tools.evaluate("s => getComputedStyle(s).backgroundColor").startswith("rgba")

    drawn = lesson.output("Mermaid(draw(trace))").locator(".workbook-diagram").first
    expect(drawn.locator(".message")).to_have_count(28)

    columns = lesson.output("first_turns(runs)").locator(".workbook-side-by-side pre")
    expect(columns.nth(0)).not_to_contain_text("Observation:")
    expect(columns.nth(1)).to_contain_text("Observation:")

    expect(lesson.output("plot_growth(rows").locator("img")).to_be_visible()
    if folder := os.environ.get("WORKBOOK_SCREENSHOTS"):
        pictures(lesson, Path(folder))


def pictures(lesson, folder):
    """Take a picture of each cell with an output."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = lesson.page.locator(".jp-Notebook .jp-Cell")
    for number in range(cells.count()):
        cells.nth(number).screenshot(path=folder / f"lesson_03_{number:02}.png")
