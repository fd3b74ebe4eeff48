"""The lessons as pages to read, whole and without a network."""

import pytest
from bs4 import BeautifulSoup

from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.exercises.check import source_with_helpers
from workbook.grading import handout as subject
from workbook.grading.handout import handout, lesson_body

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All lessons with our answers, each page by its name as BeautifulSoup reads it."""
    site = tmp_path_factory.mktemp("pages") / "für alle & jeden"
    handout(site, solved=True)
    return {
        path.name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in site.iterdir()
    }


@pytest.mark.in_ci
def test_all_lessons_are_there_and_nothing_is_loaded(pages):
    """a page a lesson and an index; links lead to pages, and nothing comes from afar"""
    assert pages.keys() == {"index.html", *(f"{slug}.html" for slug in lessons())}
    for page in pages.values():
        links = [link["href"] for link in page.find_all("a")]
        here = {link.partition("#")[0] for link in links if link[:4] != "http"} - {""}
        assert here
        assert here <= pages.keys()
        loaded = [
            e.get(at, "") for tag, at in LOADED.items() for e in page.find_all(tag)
        ]
        assert all(each.startswith("data:") for each in loaded)


@pytest.mark.in_ci
def test_solved_shows_our_answers(pages):
    """with --solved an exercise's cell holds the package's function, and no stub"""
    for slug, exercise in exercises().items():
        code = [pre.text for pre in pages[f"{exercise.lesson}.html"].find_all("pre")]
        (cell,) = [text for text in code if f"{slug} = check({slug})" in text]
        assert source_with_helpers(exercise.function()) in cell
        assert "NotImplementedError" not in cell


def test_without_answers_none_is_given_away():
    """without --solved the stubs are as they ship"""
    lesson = lessons()["01_naive_loop"]
    text = BeautifulSoup(lesson_body(lesson, solved=False), "html.parser").text
    assert text.count('raise NotImplementedError("your code here")') == 4


def test_what_is_there_stays_and_half_a_site_is_none(tmp_path, monkeypatch):
    """a folder that holds something is left alone; a run that stops leaves no folder"""
    (tmp_path / "marks.csv").write_text("mine")
    with pytest.raises(CourseError, match="not empty"):
        handout(tmp_path)

    def stop(lesson, *, solved):
        raise KeyboardInterrupt

    monkeypatch.setattr(subject, "lesson_body", stop)
    with pytest.raises(KeyboardInterrupt):
        handout(tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["marks.csv"]
