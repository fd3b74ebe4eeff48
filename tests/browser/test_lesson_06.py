"""Lesson 06 in JupyterLab: a gallery, a player, an exercise."""

from playwright.sync_api import expect

HEAD = "def within_budget(spent: Spent, budget: Budget, next_call: NextCall)"
WRONG = f"""{HEAD} -> str | None:
    if spent.steps > budget.steps:
        return "out_of_steps"
    return None"""
RIGHT = f"""{HEAD} -> str | None:
    is_tool = next_call.kind == "tool"
    if is_tool and spent.tool_calls + 1 > budget.tool_calls:
        return "out_of_tool_calls"
    if not is_tool and spent.steps + 1 > budget.steps:
        return "out_of_steps"
    if spent.wall_s >= budget.wall_s:
        return "out_of_time"
    if is_tool:
        return None
    usage = spent.usage + Usage(next_call.input_tokens, next_call.output_tokens)
    pairs = [(usage.input, budget.input_tokens), (usage.output, budget.output_tokens)]
    pairs.append((usage.input + usage.output, budget.tokens))
    if any(used > most for used, most in pairs):
        return "out_of_tokens"
    if budget.prices and budget.prices.cost(usage) > budget.money:
        return "out_of_money"
    return None"""


def test_lesson_06_from_the_gallery_to_the_player(open_lesson):
    """Run all; rows that guards changed are marked; a run is seen to be stuck"""
    lesson = open_lesson("06_guardrails")
    lesson.run_all()
    shown = lesson.output("endings = gallery(")
    expect(shown).to_contain_text("ends otherwise:")
    assert shown.locator(".marked").count() > 5
    expect(shown.locator(".chip.stuck").first).to_be_visible()
    expect(lesson.page.locator(".workbook-plot")).to_have_count(1)
    lesson.pictures_in_both_themes("lesson_06")

    widget = lesson.output('player("ping_pong"').locator(".player")
    widget.get_by_role("button", name="Run", exact=True).click()
    expect(widget.locator("[role=status]")).to_contain_text("STUCK")

    message = ["steps=5 allows five", "expected"]
    lesson.solve("within_budget", WRONG, RIGHT, message=message)
    lesson.run("limits = Budget(steps=30")
    expect(lesson.output("limits = Budget(steps=30")).to_contain_text(
        "yours: within_budget"
    )
