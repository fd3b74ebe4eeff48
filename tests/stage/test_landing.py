"""The landing page: links to all lessons, progress, and where to go on."""

import json
import re

import pytest

from workbook.checks.catalogue import exercises, lessons
from workbook.paths import ROOT
from workbook.stage.landing import course

NOTEBOOKS = ROOT / "notebooks"


@pytest.mark.parametrize(
    ("passed", "number"),
    [("", "00"), ("00", "01"), ("00 02", "03"), ("00 02 04?", "04"), ("14", None)],
)
def test_you_go_on_after_what_you_passed(monkeypatch, passed, number):
    """The next lesson is the last one begun (here with a ?), or the one after it"""

    def state(slug):
        lesson = exercises()[slug].lesson
        *_, last = [s for s, each in exercises().items() if each.lesson == lesson]
        is_left = slug == last and f"{lesson[:2]}?" in passed
        return "yours" if lesson[:2] in passed and not is_left else "ours"

    monkeypatch.setattr("workbook.stage.landing.state", state)
    found = re.search(r'with <a href="(\d\d)', course().page)
    assert (found and found[1]) == number


def test_the_map_links_to_all_notebooks_and_pictures(monkeypatch):
    """Each lesson and lab has a link, each lesson its picture; all of them exist"""
    monkeypatch.setattr("workbook.stage.landing.state", lambda slug: "yours")
    page = course().page
    for place in re.findall(r'(?:href|src)="([^"]+)"', page):
        assert (NOTEBOOKS / place).resolve().is_file(), place
    assert {*re.findall(r'href="(?:labs/)?(\w+)\.ipynb"', page)} == {*lessons()}
    many = len(exercises())
    assert f"{many} of {many} exercises passed" in page


def test_the_notebook_has_the_links_without_a_run():
    """Unrun, index.ipynb lists the lessons and labs with their titles"""
    cells = json.loads((NOTEBOOKS / "index.ipynb").read_text(encoding="utf-8"))["cells"]
    text = "".join("".join(cell["source"]) for cell in cells)
    for lesson in lessons().values():
        place = lesson.notebook.relative_to(NOTEBOOKS).as_posix()
        link = f"{lesson.title}]({place})"
        assert link in text, f"add to index.ipynb: [{link}"
    assert not any(cell.get("outputs") for cell in cells), "run nbstripout on it"
