"""A cell that waits says so in JupyterLab, in place, and leaves nothing behind."""

import re

from playwright.sync_api import expect

CELL = """from threading import Event
from workbook import waiting
print("before")
with waiting("asking the model", total=40) as tick:
    for _ in range(40):
        Event().wait(0.1), tick()
print("after")"""


def test_a_wait_is_said_while_it_lasts(open_lesson):
    """One line counts up between what is printed before and after, and is gone then"""
    lesson = open_lesson("00_start_here")
    lesson.type_into("be_the_model()", CELL)
    shown = lesson.output("asking the model")
    expect(shown).to_contain_text("of 40, ", timeout=30_000)
    expect(shown).to_contain_text("s left  (■ stops it)")
    expect(shown).to_contain_text("after", timeout=30_000)
    expect(shown).to_have_text(re.compile(r"^\s*before\s+after\s*$"))
