"""Lesson 02 in a real browser: the experiment, its plots, and an exercise."""

import os
import re
from pathlib import Path

from playwright.sync_api import expect

LESSON = "02_react_prompting"
WRONG = """def back_off(order, react_answer, votes):
    return react_answer or majority(votes)[0]"""
RIGHT = """def back_off(order, react_answer, votes):
    winner, count = majority(votes)
    if order is Order.REACT_TO_COT_SC:
        return winner if react_answer is None else react_answer
    if winner is None or count < len(votes) / 2:
        return react_answer
    return winner"""
PLOTS = 3  # whose code is folded


def test_lesson_02_measures_four_methods_and_takes_an_answer(lesson):
    """Run all: no error, four rows of marks, a table, three plots; then an exercise."""
    experiment = lesson.output("outcomes = run_experiment([")
    expect(experiment).to_contain_text(re.compile(r"react {4}[✓·]{20}"))
    expect(experiment.locator("table.dataframe tbody tr")).to_have_count(4)
    expect(lesson.page.locator(".jp-RenderedImage img")).to_have_count(PLOTS)
    if folder := os.environ.get("WORKBOOK_SCREENSHOTS"):
        take_pictures(lesson, Path(folder))

    message = ["returned"]
    lesson.solve("back_off", WRONG, RIGHT, message=message)


def take_pictures(lesson, folder):
    """Take a picture of every output that is worth a look."""
    folder.mkdir(parents=True, exist_ok=True)
    seen = ("outcomes = run", "rows.append((alone", "recorded = json")
    for number, words in enumerate((*seen, "opened, seen", "third | fourth")):
        cell = lesson.cell(words)
        cell.scroll_into_view_if_needed()
        cell.screenshot(path=folder / f"lesson_02_{number}.png")
