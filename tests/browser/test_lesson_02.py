"""Lesson 02 in a real browser: the experiment, its plots, and an exercise."""

import os
import re
from pathlib import Path

from playwright.sync_api import expect

LESSON = "02_react_prompting"
WRONG = """def parse_bracket_action(text):
    found = re.match(r"\\s*(\\w+)\\[(.*)\\]", text)
    return (found[1].lower(), found[2].strip()) if found else None"""
RIGHT = """def parse_bracket_action(text):
    verb, _, rest = text.partition("[")
    depth = 1
    for at, character in enumerate(rest):
        depth += (character == "[") - (character == "]")
        if depth == 0 and verb.strip().isidentifier():
            return verb.strip().lower(), rest[:at].strip()
    return None"""
PLOTS = 3  # rates with their intervals, what an interval is, pairs


def test_lesson_02_measures_four_methods_and_takes_an_answer(lesson):
    """Run all: no error, four rows of marks, a table, three plots; then an exercise."""
    experiment = lesson.output("trials = four_methods(model, questions)")
    expect(experiment).to_contain_text(re.compile(r"react {4}[✓·]{20}"))
    expect(experiment.locator("table tbody tr")).to_have_count(4)
    expect(lesson.page.locator(".workbook-plot")).to_have_count(PLOTS)
    if folder := os.environ.get("WORKBOOK_SCREENSHOTS"):
        take_pictures(lesson, Path(folder))

    message = ["of two actions the first one counts"]
    lesson.solve("parse_bracket_action", WRONG, RIGHT, message=message)


def take_pictures(lesson, folder):
    """Take a picture of every output that is worth a look."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = (
        "trials = four",
        "plot_plausible",
        "plot_pairs",
        "first_steps",
        "our thought",
    )
    for number, words in enumerate(seen):
        cell = lesson.cell(words)
        cell.scroll_into_view_if_needed()
        cell.screenshot(path=folder / f"lesson_02_{number}.png")
