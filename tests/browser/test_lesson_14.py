"""Lesson 14 in JupyterLab: a guard that makes the difference, and the export."""

import re

from playwright.sync_api import expect

LESSON = "14_your_agent"
WRONG = """def my_agent() -> Capstone:
    return Capstone(my_tool(), my_guard, SCENARIO)"""
RIGHT = """def my_agent() -> Capstone:
    def look(call, observed):
        told = " ".join(seen.text() for seen in observed if seen.ok)
        if call.name == "Convert" and str(call.arguments["rate"]) not in told.split():
            return "no tool has told you this rate"

    return Capstone(my_tool(), look, SCENARIO)"""


def test_lesson_14_to_an_agent_of_ones_own(lesson):
    """Run all; the agent is exported; an agent whose guard is needed passes"""
    expect(lesson.output("with_a_bad_line(story)")).to_contain_text("trace: 1, bank: 5")
    exported = re.compile("Your agent is in|No part of the agent is yours")
    expect(lesson.output("SUSPICIOUS")).to_contain_text(exported)
    lesson.pictures_in_both_themes("lesson_14")
    message = ["your guard refuses nothing", "DONE: 300 dollars"]
    lesson.solve("my_agent", WRONG, RIGHT, message=message)
