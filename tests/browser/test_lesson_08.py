"""Lesson 08 and its lab in JupyterLab: tables, an exercise, figures, a saved page."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import pages

WRONG = """def first_divergence(
    recorded: Sequence[TraceEvent], told: Sequence[TraceEvent]
) -> int | None:
    for seq, (one, other) in enumerate(zip(recorded, told)):
        if not alike(one, other):
            return seq"""
RIGHT = f"""{WRONG}
    same_length = len(recorded) == len(told)
    return None if same_length else min(len(recorded), len(told))"""
REVIEW = "reviews = {"
END_SESSIONS = """async () => {
    const page = document.getElementById("jupyter-config-data");
    const config = JSON.parse(page.textContent);
    const headers = {Authorization: `token ${config.token}`};
    const api = config.baseUrl + "api/sessions";
    for (const one of await (await fetch(api, {headers})).json())
        await fetch(`${api}/${one.id}`, {method: "DELETE", headers});
}"""


@pytest.fixture(scope="module")
def figures(lab, browser):
    """The lab, after Run All."""
    with pages(lab, browser) as open_:
        figures = open_("labs/08_figures_and_errors")
        figures.run_all()
        yield figures


def expect_shown(figures):
    """Wait for the tables of the lab."""
    expect(figures.output("figures(traces_in(")).to_contain_text("FetchPage")
    expect(figures.output(REVIEW)).to_contain_text("16 of 16 lines are met")
    expect(figures.output(REVIEW).get_by_text("payment_twice")).to_be_visible()


def test_lesson_08_from_a_wrong_answer_to_its_replay(open_lesson):
    """Run all; what was found is shown; an exercise can be solved"""
    lesson = open_lesson("08_traces_and_replay")
    lesson.run_all()
    expect(lesson.output("folder = Path(mkdtemp())")).to_contain_text("trace.jsonl")
    expect(lesson.output("except Divergence")).to_contain_text("event 34, a model_turn")
    expect(lesson.output("over_the_gallery")).to_contain_text("68 of 68 to the same")
    expect(lesson.output("killed_anywhere(")).to_contain_text("9 of 36 runs")
    message = ["if one run is the beginning of the other", "None"]
    lesson.solve("first_divergence", WRONG, RIGHT, message=message)


def test_lab_08_from_figures_to_a_review(figures):
    """Run all; figures, spans and the review are shown"""
    expect(figures.output("rows, taken = [],")).to_contain_text("new description")
    expect(figures.output("span_tree(")).to_contain_text("execute_tool Calculator")
    expect_shown(figures)


def test_lab_08_saved_and_opened_anew(figures):
    """Saved, its kernel ended and opened anew, the lab still shows what it showed"""
    figures.page.keyboard.press("Escape")
    figures.page.keyboard.press("Control+s")
    expect(figures.page.locator(".jp-mod-dirty")).to_have_count(0)
    figures.page.evaluate(END_SESSIONS)
    figures.page.reload()
    figures.page.wait_for_selector(".jp-CodeCell .cm-content")
    expect_shown(figures)
