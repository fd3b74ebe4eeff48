"""Feedback and class pages: without a network, in light and dark, on a phone."""

import pytest

from tests.browser.conftest import CONTRASTS, READABLE
from workbook.checks.grade import write_pages

SCRIPT = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
)
EVIDENCE = [(label, SCRIPT) for label in ("called", "returned", "expected")]
FAILURE = {"rule": SCRIPT, "test": "test", "evidence": EVIDENCE}
WHOSE = {"learner": "ann", "notebook": "01_naive_loop.ipynb", "problem": SCRIPT}
WHOSE |= {"counts": True, "alike": SCRIPT, "ours": True, "note": SCRIPT, "of": 7}
ROWS = [
    {**WHOSE, "slug": slug, "outcome": outcome, "met": met, "failures": failures}
    for slug, outcome, met, failures in (
        ("naive_loop", "passed", 7, []),
        ("parse_turn", "wrong", 3, [FAILURE]),
        ("build_history", "not attempted", 0, []),
    )
]


@pytest.fixture
def folder(tmp_path):
    """The pages of a class in which one writes scripts wherever one can."""
    write_pages(ROWS, tmp_path)
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
