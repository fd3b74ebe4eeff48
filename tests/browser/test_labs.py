"""Every lab in JupyterLab: it runs as it ships, also on a small screen."""

import pytest

from workbook.exercises.catalogue import lessons

LABS = [slug for slug, lesson in lessons().items() if lesson.lab]
WIDE = ".jp-OutputArea-output"
SIDEWAYS = "all => all.filter(e => e.scrollWidth > e.clientWidth + 1).length"


@pytest.mark.parametrize("slug", LABS)
def test_a_lab_runs_as_it_ships(open_lesson, slug):
    """Run all: no error, each exercise is a stub, and no output is cut off at 1024"""
    lab = open_lesson(f"labs/{slug}", size={"width": 1024, "height": 768})
    lab.run_all()
    assert lab.page.locator(WIDE).evaluate_all(SIDEWAYS) == 0
    lab.pictures_in_both_themes(slug)
