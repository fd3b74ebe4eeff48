"""Lesson 10 in JupyterLab: an exercise solved, and a page's payment refused by you."""

from playwright.sync_api import expect

LESSON = "10_untrusted"
HEAD = """def may_flow(
    labels: Collection[str], sink: str, rules: Iterable[FlowRule] = FLOWS
) -> Decision:
    said = None
    for rule in rules:
        matches = sink == rule.sink and rule.labels <= set(labels)
"""
WRONG = f"""{HEAD}        if matches:
            said = Decision(Verdict(rule.verdict), rule.why)
    return said or Decision(Verdict.ALLOW, "no rule is against it")"""
RIGHT = WRONG.replace(
    "matches:",
    "matches and (not said or is_stricter(rule.verdict, said.verdict)):",
)


def test_lesson_10_from_a_page_that_wants_money_to_what_it_costs(lesson):
    """Run all; a tainted run asks you about the payment; an exercise can be solved"""
    expect(lesson.output("refusals(kinds")).to_contain_text("harmless, question")
    expect(lesson.output("attack_table(")).to_contain_text("secret out")
    expect(lesson.output("honest_table(")).to_contain_text("waits")
    lesson.pictures_in_both_themes("lesson_10")

    widget = lesson.output('player("page_pays"').locator(".player")
    status, form = widget.locator("[role=status]"), widget.locator(".approval")
    widget.scroll_into_view_if_needed()
    widget.get_by_role("button", name="Run", exact=True).click()
    expect(form).to_contain_text("Mallory")
    form.get_by_role("textbox", name="why").fill("nobody asked for that")
    form.get_by_role("button", name="Reject", exact=True).click()
    expect(status).to_contain_text(": DONE")
    expect(widget.locator(".events")).to_contain_text("Adults pay 12 euro [page_1]")

    message = ["of the rules that match, the strictest gives the verdict", "deny"]
    lesson.solve("may_flow", WRONG, RIGHT, message=message)
