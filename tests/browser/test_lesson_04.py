"""Lesson 04 in a real browser: its tables, its pictures, and an exercise solved."""

import os
from pathlib import Path

from playwright.sync_api import expect

WRONG = """def validate_arguments(schema, arguments):
    errors = Draft202012Validator(schema).iter_errors(arguments)
    parts = lambda path: (f"[{p}]" if isinstance(p, int) else f".{p}" for p in path)
    where = lambda error: "".join(["arguments", *parts(error.instance_path)])
    return sorted(f"{where(e)}: {e.message}" for e in errors)"""
RIGHT = WRONG.replace("(schema).", '({**schema, "additionalProperties": False}).')


def test_lesson_04_from_the_menu_to_a_solved_exercise(open_lesson):
    """Run all, look at the refusals, forget the extra fields, then think of them."""
    lesson = open_lesson("04_tools_as_contracts")
    lesson.run_all()
    expect(lesson.output('rows.append(("none"')).to_contain_text("unexpected")
    repaired = lesson.output("ToolRegistry([factorial()]), 'Factorial'")
    expect(repaired).to_contain_text("n has 3 values: call once per value")
    expect(lesson.output("parts=mine")).to_contain_text("DONE")

    message = ["returned", "does not name"]
    lesson.solve("validate_arguments", WRONG, RIGHT, message=message)
    if folder := os.environ.get("WORKBOOK_SCREENSHOTS"):
        pictures(lesson, Path(folder))


def pictures(lesson, folder):
    """Take a picture of each code cell with its output, to be looked at."""
    folder.mkdir(parents=True, exist_ok=True)
    cells = lesson.page.locator(".jp-Notebook .jp-Cell")
    for number in range(0, cells.count(), 4):
        cells.nth(number).scroll_into_view_if_needed()
        cells.nth(number).evaluate("cell => cell.scrollIntoView()")
        lesson.page.screenshot(path=folder / f"lesson_04_{number:02}.png")
