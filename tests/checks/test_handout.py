"""The lessons as a class saw them: pages and slides, whole and without a network."""

import pytest
from bs4 import BeautifulSoup

from workbook.checks import handout as subject
from workbook.checks.catalogue import CourseError, exercises, lessons
from workbook.checks.handed_in import read_cells
from workbook.checks.handout import handout, read, run

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src"}
OURS = {"reveal/reveal.js", "reveal/reveal.css"}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All notebooks with our answers, each page by its name; no cell was run."""
    site = tmp_path_factory.mktemp("pages") / "für alle & jeden"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(subject, "run", lambda notebook, lesson: notebook)
        handout(site, solved=True)
    return {
        path.name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in site.glob("*.html")
    }


@pytest.mark.in_ci
def test_all_lessons_are_there_and_nothing_is_loaded(pages):
    """a page and a deck each, and an index; all that is loaded is beside them

    A deck has its sections side by side, a heading first in each, and no stub.
    """
    both = {
        f"{s}{kind}.html" for s in [*lessons(), "demos"] for kind in ("", ".slides")
    }
    assert pages.keys() == {"index.html", *both}
    for page in pages.values():
        links = [link.get("href", "") for link in page.find_all("a")]
        here = {link.partition("#")[0] for link in links if link[:4] != "http"} - {""}
        assert here
        assert here <= pages.keys()
        tags = [(tag, at) for tag in LOADED for at in page.find_all(tag)]
        loaded = {element.get(LOADED[tag], "data:") for tag, element in tags}
        assert {each for each in loaded if each[:5] != "data:"} <= OURS
    deck = pages["01_naive_loop.slides.html"].select_one(".reveal .slides")
    columns = deck.find_all("section", recursive=False)
    assert all(column.find(["h1", "h2"]) for column in columns)
    assert len(columns) == len(deck.find_all(["h1", "h2"]))
    assert "= check(" not in deck.text


@pytest.mark.in_ci
def test_solved_shows_our_answers_and_no_setup(pages):
    """an exercise's cell has the answer to its card; no cell that prepares is shown"""
    for slug, exercise in exercises().items():
        code = [pre.text for pre in pages[f"{exercise.lesson}.html"].find_all("pre")]
        (cell,) = [text for text in code if f"{slug} = check({slug})" in text]
        assert exercise.solution in cell
        assert "NotImplementedError" not in cell
        setup = read_cells(lessons()[exercise.lesson].notebook)[0].source
        assert setup.strip() not in [text.strip() for text in code]


@pytest.mark.parametrize("solved", [False, True])
def test_a_lesson_is_run_as_a_class_runs_it(solved):
    """checks report as they do to a class; no widget is shown, and no notice of ours"""
    lesson = lessons()["00_start_here"]
    shown = subject.as_html(run(read(lesson, solved), lesson))
    ((cell, _),) = [pair for pair in shown if "= check(" in pair[0].source]
    assert ("passed" if solved else "not attempted") in str(cell.outputs)
    assert ("your code here" in cell.source) is not solved
    text = "".join(text for _, text in shown)
    assert "widget-view" not in text
    assert "runs here: yours" not in text


def test_what_is_there_stays_and_half_a_site_is_none(tmp_path, monkeypatch):
    """a folder that holds something is left alone; a run that stops leaves no folder"""
    (tmp_path / "marks.csv").write_text("mine")
    with pytest.raises(CourseError, match="no empty folder"):
        handout(tmp_path)
    monkeypatch.setattr(subject, "run", lambda notebook, lesson: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        handout(tmp_path / "site")
    with pytest.raises(CourseError, match="begins with 99"):
        handout(tmp_path / "site", only=["99"])
    assert [path.name for path in tmp_path.iterdir()] == ["marks.csv"]
