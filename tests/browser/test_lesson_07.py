"""Lesson 07 in JupyterLab: an exercise solved, and you as the person who is asked."""

import re

from playwright.sync_api import expect

LESSON = "07_permission"
WRONG = """def decide(
    mode: str, effect: str, tool: str, rules: Sequence[PolicyRule] = POLICY
) -> Decision:
    return Decision(Verdict.ALLOW, "why not")"""
RIGHT = """def decide(
    mode: str, effect: str, tool: str, rules: Sequence[PolicyRule] = POLICY
) -> Decision:
    for rule in rules:
        named = fnmatchcase(tool.casefold(), rule.tool.casefold())
        if rule.mode in ("*", mode) and rule.effect in ("*", effect) and named:
            return Decision(rule.verdict, rule.why)
    verdict = Verdict.DENY if effect == Effect.WRITE else Verdict.ASK
    return Decision(verdict, "no rule speaks of it")"""


def test_lesson_07_from_two_payments_to_the_person(lesson):
    """Run all; a test is mended under your eyes; an exercise can be solved"""
    expect(lesson.output("effects.six_cases")).to_contain_text("who looks")
    expect(lesson.output("effects.killed_everywhere")).to_contain_text("not known")
    lesson.pictures_in_both_themes("lesson_07")

    widget = lesson.output('player("mend_the_test"').locator(".player")
    status, form = widget.locator("[role=status]"), widget.locator(".approval")

    def press(where, name):
        where.get_by_role("button", name=name, exact=True).click()

    widget.scroll_into_view_if_needed()
    widget.get_by_label("mode", exact=True).select_option("plan")
    press(widget, "Run")
    expect(status).to_contain_text(": DONE")
    expect(widget.locator(".events")).to_contain_text("I could not mend it")
    press(widget, "Reset")
    widget.get_by_label("mode", exact=True).select_option("build")
    press(widget, "Run")
    expect(form).to_contain_text("+    return listed * (1 - off / 100) * (1 +")
    arguments = form.get_by_role("textbox", name="arguments")
    asked = arguments.input_value()
    arguments.fill("no JSON")
    press(form, "Approve the edit")
    expect(form.get_by_role("alert")).to_contain_text("This is not JSON")
    arguments.fill(asked)
    press(form, "Approve")
    expect(status).to_contain_text(": DONE")
    expect(widget.locator(".events")).to_contain_text("Now both tests pass")
    press(widget, "Reset")
    press(widget, "Run")
    form.get_by_role("textbox", name="why").fill("I do not want that")
    press(form, "Reject")
    expect(status).to_contain_text(": DONE")
    expect(widget.locator(".events")).to_contain_text("I could not mend it")
    guess = lesson.output("alone = predict").get_by_role("button", name="a key")
    guess.click()
    expect(guess).to_have_class(re.compile("mod-active"))

    message = ["in plan and in build mode"]
    lesson.solve("decide", WRONG, RIGHT, message=message)
