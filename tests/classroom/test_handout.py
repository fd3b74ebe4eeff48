"""The lessons as pages to read, whole and without a network."""

import pytest
from bs4 import BeautifulSoup

from workbook.classroom import handout as subject
from workbook.classroom.handout import handout, lesson_body
from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.exercises.check import source_with_helpers

MOST_MB = 15
LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src"}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """All lessons with our answers, in a folder with an awkward name."""
    folder = tmp_path_factory.mktemp("pages") / "für alle & jeden"
    folder.mkdir()
    handout(folder, solved=True)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    """Each page by its name, as BeautifulSoup reads it."""
    return {
        path.stem: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in site.iterdir()
    }


@pytest.mark.in_ci
def test_all_lessons_are_there(site):
    """There is a page for each lesson and an index, and together they are small."""
    names = {path.name for path in site.iterdir()}
    assert names == {"index.html", *(f"{slug}.html" for slug in lessons())}
    assert sum(path.stat().st_size for path in site.iterdir()) < MOST_MB * 1_000_000


@pytest.mark.in_ci
def test_links_lead_to_pages(site, pages):
    """From each page the next, the one before and the index can be reached."""
    for name, page in pages.items():
        links = [a["href"] for a in page.find_all("a")]
        here = [link for link in links if not link.startswith(("http", "#"))]
        assert here
        assert all((site / link.partition("#")[0]).is_file() for link in here), name


@pytest.mark.in_ci
def test_nothing_is_loaded_from_elsewhere(pages):
    """No page has a script, a style sheet, a font or a picture of another place."""
    for page in pages.values():
        for tag, name in LOADED.items():
            found = [each.get(name, "") for each in page.find_all(tag)]
            assert not [each for each in found if not each.startswith("data:")]
        styles = "".join(style.text for style in page.find_all("style"))
        assert "@import" not in styles
        assert "url(" not in styles


@pytest.mark.in_ci
@pytest.mark.parametrize("slug", exercises())
def test_solved_shows_our_answer(pages, slug):
    """With --solved an exercise's cell holds the package's function, and no stub."""
    exercise = exercises()[slug]
    code = [pre.text for pre in pages[exercise.lesson].find_all("pre")]
    (cell,) = [text for text in code if f"{slug} = check({slug})" in text]
    assert source_with_helpers(exercise.function()) in cell
    assert "NotImplementedError" not in cell


def test_without_answers_none_is_given_away():
    """Without --solved the stubs are as they ship."""
    lesson = lessons()["01_naive_loop"]
    text = BeautifulSoup(lesson_body(lesson, solved=False), "html.parser").text
    assert text.count('raise NotImplementedError("your code here")') == 4


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    """What stands in the folder stays, and the error names it."""
    (tmp_path / "marks.csv").write_text("mine")
    with pytest.raises(CourseError, match="not empty"):
        handout(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["marks.csv"]


def test_half_a_site_is_none(tmp_path, monkeypatch):
    """A run that is stopped on the way leaves no folder, and nothing beside it."""

    def stop(lesson, *, solved):
        if lesson.slug.startswith("02"):
            raise KeyboardInterrupt
        return ""

    monkeypatch.setattr(subject, "lesson_body", stop)
    with pytest.raises(KeyboardInterrupt):
        handout(tmp_path / "site")
    assert list(tmp_path.iterdir()) == []
