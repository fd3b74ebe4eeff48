"""Feedback and class pages: without a network, in light and dark, on a phone."""

import pytest

from tests.browser.conftest import CONTRASTS, READABLE
from workbook.exercises.report import Failure, Outcome, Report
from workbook.grading.grade import Paper, write_class, write_feedback
from workbook.grading.notebooks import Book

SCRIPT = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
)
EVIDENCE = tuple((label, SCRIPT) for label in ("called", "returned", "expected"))
REPORTS = {
    "naive_loop": Report("naive_loop", Outcome.PASSED, 7, 7),
    "parse_turn": Report(
        "parse_turn", Outcome.WRONG, 3, 20, (Failure(SCRIPT, "test", EVIDENCE),)
    ),
    "build_history": Report("build_history", Outcome.NOT_ATTEMPTED, 0, 6),
}


@pytest.fixture
def folder(tmp_path):
    """The pages of a class in which one writes scripts wherever one can."""
    book = Book("ann", "01_naive_loop.ipynb", problem=SCRIPT)
    write_feedback([Paper(book, REPORTS, problem=SCRIPT)], tmp_path / "feedback")
    write_class([REPORTS, REPORTS], tmp_path / "class.html")
    return tmp_path


@pytest.mark.parametrize(("scheme", "width"), [("light", 400), ("dark", 1100)])
def test_pages_without_a_network(browser, folder, scheme, width):
    """nothing is fetched or run, what is written can be read, and it fits a phone"""
    context = browser.new_context(
        color_scheme=scheme, viewport={"width": width, "height": 900}, offline=True
    )
    asked, said = [], []
    page = context.new_page()
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    try:
        for name in ("feedback/ann.html", "class.html"):
            address = (folder / name).as_uri()
            page.goto(address)
            assert page.title() in ("Feedback for ann", "The class")
            contrasts = page.locator("body").evaluate(
                CONTRASTS, "p, h1, h2, h3, td, code"
            )
            assert len(contrasts) > 8
            assert min(contrasts) > READABLE
            assert page.evaluate("document.documentElement.scrollWidth") == width
            assert asked.pop() == address
        assert (asked, said) == ([], [])
    finally:
        context.close()
