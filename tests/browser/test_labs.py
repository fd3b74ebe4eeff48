"""Every lab in JupyterLab: it runs as it ships, also on a small screen."""

import pytest
from playwright.sync_api import expect

from workbook.checks.catalogue import lessons

LABS = [slug for slug, lesson in lessons().items() if lesson.lab]
WIDE = ".jp-OutputArea-output"
SIDEWAYS = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"


@pytest.mark.parametrize("slug", LABS)
def test_a_lab_runs_as_it_ships(ran, slug):
    """Run all: no error, each exercise is a stub, and no output is cut off at 1024"""
    lab = ran(f"labs/{slug}", size={"width": 1024, "height": 768})
    assert lab.page.locator(WIDE).evaluate_all(SIDEWAYS) == 0


def test_lab_08_saved_and_opened_anew(ran):
    """Figures are shown, also without their kernel"""
    lab = ran("labs/08_figures_and_errors")
    expect(lab.output("figures(traces_in(")).to_contain_text("FetchPage")
    lab.save_and_open_anew()
    expect(lab.output("figures(traces_in(")).to_contain_text("FetchPage")
