"""Every lab in JupyterLab: it runs as it ships, also on a small screen."""

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import LUMINANCE
from workbook.exercises.catalogue import lessons

LABS = [slug for slug, lesson in lessons().items() if lesson.lab]
WIDE = ".jp-OutputArea-output"
SIDEWAYS = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"
REVIEW = "reviews = {name"
READABLE = 3.0  # the contrast that WCAG asks of the parts of a picture, at the least
INKS = 3  # of text and axes, of bars and dots, of what failed
# The contrast of a picture's commonest colours with the page that shines through it.
CONTRASTS = f"""(image, inks) => {{
    {LUMINANCE}
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [image.naturalWidth, image.naturalHeight];
    const context = canvas.getContext("2d");
    context.filter = getComputedStyle(image).filter;  // of a dark theme
    context.drawImage(image, 0, 0);
    const {{data}} = context.getImageData(0, 0, canvas.width, canvas.height);
    const counted = new Map();
    for (let i = 0; i < data.length; i += 4) {{
        const colour = [data[i], data[i + 1], data[i + 2]].join();
        if (data[i + 3] === 255) counted.set(colour, (counted.get(colour) ?? 0) + 1);
    }}
    const common = [...counted].sort((one, other) => other[1] - one[1]).slice(0, inks);
    return common.map(([colour]) => contrast(colour, paper(image)));
}}"""


@pytest.mark.parametrize("slug", LABS)
def test_a_lab_runs_as_it_ships(ran, slug):
    """Run all: no error, each exercise is a stub, and no output is cut off at 1024"""
    lab = ran(f"labs/{slug}", size={"width": 1024, "height": 768})
    assert lab.page.locator(WIDE).evaluate_all(SIDEWAYS) == 0


def expect_shown(lab):
    """Wait for the pictures and tables of lab 08: folded ones stay folded."""
    expect(lab.page.locator(".workbook-plot")).to_have_count(1)
    expect(lab.output(REVIEW)).to_contain_text("15 of 16 lines are met")
    expect(lab.output(REVIEW).get_by_text("payment_twice")).to_be_visible()
    expect(lab.output(REVIEW).get_by_text("missing_action")).to_be_hidden()


def test_lab_08_from_figures_to_a_review(ran):
    """The dashboard is readable in both themes; saved and opened anew all is there"""
    lab = ran("labs/08_figures_and_errors")
    expect(lab.output("rows, taken = [],")).to_contain_text("new description")
    expect(lab.output("span_tree(")).to_contain_text("execute_tool Calculator")
    expect_shown(lab)
    lab.output(REVIEW).get_by_text("what is met").click()
    expect(lab.output(REVIEW).get_by_text("missing_action")).to_be_visible()
    lab.output(REVIEW).get_by_text("what is met").click()
    for _ in lab.both_themes():
        contrasts = lab.page.locator(".workbook-plot").evaluate(CONTRASTS, INKS)
        assert len(contrasts) == INKS
        assert min(contrasts) > READABLE, contrasts
    lab.save_and_open_anew()
    expect_shown(lab)
