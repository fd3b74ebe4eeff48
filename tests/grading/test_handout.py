"""The lessons as a class saw them: pages and slides, whole and without a network."""

import nbformat
import pytest
from bs4 import BeautifulSoup

from workbook.exercises.catalogue import CourseError, exercises, lessons
from workbook.exercises.check import source_with_helpers
from workbook.grading import handout as subject
from workbook.grading.handout import DEMOS, handout, run, with_answers

LOADED = {"script": "src", "link": "href", "img": "src", "iframe": "src"}
OURS = {"reveal/reveal.js", "reveal/reveal.css"}


def not_run(lesson, *, solved):
    """Return a notebook as it ships, with our answers where they are asked for."""
    notebook = nbformat.read(lesson.notebook, as_version=4)
    for cell in notebook.cells:
        if solved and cell.cell_type == "code":
            cell.source = with_answers(cell.source, lesson)
    return notebook


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All notebooks with our answers, each page by its name as BeautifulSoup reads it.

    No cell was run: that takes minutes, and tests/browser does it to some.
    """
    site = tmp_path_factory.mktemp("pages") / "für alle & jeden"
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(subject, "run", not_run)
        handout(site, solved=True)
    return {
        path.name: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in site.glob("*.html")
    }


@pytest.mark.in_ci
def test_all_lessons_are_there_and_nothing_is_loaded(pages):
    """a page and a deck each, and an index; all that is loaded is beside them"""
    slugs = [*lessons(), DEMOS.slug]
    both = {f"{slug}{kind}.html" for slug in slugs for kind in ("", ".slides")}
    assert pages.keys() == {"index.html", *both}
    for page in pages.values():
        links = [link["href"] for link in page.find_all("a")]
        here = {link.partition("#")[0] for link in links if link[:4] != "http"} - {""}
        assert here
        assert here <= pages.keys()
        loaded = {
            e.get(at, "data:") for tag, at in LOADED.items() for e in page.find_all(tag)
        }
        assert {each for each in loaded if not each.startswith("data:")} <= OURS


@pytest.mark.in_ci
def test_solved_shows_our_answers(pages):
    """with --solved an exercise's cell holds the package's function, and no stub"""
    for slug, exercise in exercises().items():
        code = [pre.text for pre in pages[f"{exercise.lesson}.html"].find_all("pre")]
        (cell,) = [text for text in code if f"{slug} = check({slug})" in text]
        assert source_with_helpers(exercise.function()) in cell
        assert "NotImplementedError" not in cell


@pytest.mark.in_ci
def test_a_deck_has_a_column_for_each_section(pages):
    """the sections side by side, a heading first in each, and no exercise's stub"""
    deck = pages["01_naive_loop.slides.html"].select_one(".reveal .slides")
    columns = deck.find_all("section", recursive=False)
    assert all(column.find(["h1", "h2"]) for column in columns)
    assert len(columns) == len(deck.find_all(["h1", "h2"]))
    assert "= check(" not in deck.text
    assert "Exercise · read one turn" in deck.text


@pytest.mark.parametrize(
    ("solved", "told"), [(False, "not attempted"), (True, "passed")]
)
def test_a_lesson_is_run_as_a_class_runs_it(solved, told):
    """the checks say what they say to a class, and no widget is left in an output"""
    notebook = run(lessons()["00_start_here"], solved=solved)
    (cell,) = [cell for cell in notebook.cells if "= check(" in cell.source]
    assert told in str(cell.outputs)
    assert (
        "import" not in cell.source
    )  # what our answer needs of its module is not shown
    assert "widget-view" not in str(notebook.cells)
    assert ("your code here" in cell.source) is not solved


def test_what_is_there_stays_and_half_a_site_is_none(tmp_path, monkeypatch):
    """a folder that holds something is left alone; a run that stops leaves no folder"""
    (tmp_path / "marks.csv").write_text("mine")
    with pytest.raises(CourseError, match="no empty folder"):
        handout(tmp_path)

    def stop(lesson, *, solved):
        raise RuntimeError

    monkeypatch.setattr(subject, "run", stop)
    with pytest.raises(RuntimeError):
        handout(tmp_path / "site")
    assert [path.name for path in tmp_path.iterdir()] == ["marks.csv"]


def test_a_name_that_no_notebook_has(tmp_path):
    """a slip in --only is told before anything is run"""
    with pytest.raises(CourseError, match="begins with 99"):
        handout(tmp_path / "site", only=["99"])
