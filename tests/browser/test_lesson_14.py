"""Lesson 14 in JupyterLab: a guard that makes the difference, and the export."""

import re

from playwright.sync_api import expect

LESSON = "14_your_agent"
WRONG = """def my_agent() -> Capstone:
    return Capstone(my_tool(), my_guard, my_story)"""
RIGHT = """def my_guard(call, observed):
    told = " ".join(seen.text() for seen in observed if seen.ok)
    if call.name == "Convert" and str(call.arguments["rate"]) not in told.split():
        return "no tool has told you this rate"


def my_agent() -> Capstone:
    return Capstone(my_tool(), my_guard, my_story)"""


def test_lesson_14_to_an_agent_of_ones_own(lesson):
    """Run all; the agent is exported; an agent whose guard is needed passes"""
    expect(lesson.output("by_heart), danger=True")).to_contain_text("1 of 20 end right")
    exported = re.compile("Your agent is in|No part of the agent is yours")
    expect(lesson.output('"export", str(home)')).to_contain_text(exported)
    expect(lesson.output("ask_outside")).to_contain_text("has not passed its check")
    lesson.pictures_in_both_themes("lesson_14")
    message = ["your guard stops nothing", "ends in DONE"]
    lesson.solve("my_agent", WRONG, RIGHT, message=message)
