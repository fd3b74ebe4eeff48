"""Every lab in JupyterLab: it runs as it ships, also on a small screen."""

import pytest

from workbook.checks.catalogue import lessons

LABS = [slug for slug, lesson in lessons().items() if lesson.lab]
REAL = ("02_", "11_", "12_")  # the others would ask the real model for minutes
ASK_IT = "import os; del os.environ['WORKBOOK_RECORD']"


@pytest.mark.parametrize("slug", LABS)
def test_a_lab_runs_as_it_ships(ran, slug):
    """Run all, some on the real model: no error, each exercise is a stub"""
    ran(f"labs/{slug}", first=ASK_IT if slug.startswith(REAL) else "")
