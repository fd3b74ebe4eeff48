"""Feedback and class pages: without a network, in light and dark, on a phone."""

import pytest

from tests.browser.conftest import CONTRASTS, READABLE
from tests.classroom.papers import SLUGS, answer, paper
from workbook.classroom.pages import write_class_page, write_feedback
from workbook.classroom.results import Paper
from workbook.exercises.report import Failure

SCRIPT = (
    "<script>document.title='run'</script><img src=x onerror=\"document.title='run'\">"
)
TEXT = "p, h1, h2, h3, td, th, li, pre, code, summary, a, .end, .met"


@pytest.fixture
def folder(tmp_path):
    """A class of four, of whom one writes scripts; the learner `ann` has each end."""
    evidence = tuple((label, SCRIPT) for label in ("called", "returned", "expected"))
    wrong = answer(
        "think", 1, source=SCRIPT, failures=(Failure(SCRIPT, "t", evidence),)
    )
    right = answer("drive", 4, source="def drive(): ...")
    ends = [*paper("ann", [4, 2, None, 0]).graded, wrong, right]
    papers = [
        Paper("ann", "a.ipynb", SCRIPT, tuple(ends), limits=("at most 60 s",)),
        Paper("bo", "b.ipynb", graded=(wrong,), handed_in="2026-01-01T00:00:00+00:00"),
        *(paper(name, [1, 1, 1, 4]) for name in ("cy", "di")),
    ]
    write_feedback(papers, tmp_path)
    write_class_page(papers, tmp_path)
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
        for name in ("feedback/ann.html", "feedback.html", "class.html"):
            address = (folder / name).as_uri()
            page.goto(address)
            assert page.title() not in ("", "run")
            assert asked.pop() == address
            body = page.locator("body")
            contrasts = body.evaluate(CONTRASTS, TEXT)
            assert len(contrasts) > 10
            assert min(contrasts) > READABLE
            assert page.evaluate("document.documentElement.scrollWidth") == width
        page.goto((folder / "feedback/ann.html").as_uri())
        assert page.locator("pre", has_text=SCRIPT).is_visible()
        page.locator(f"a[href='#{SLUGS[1]}']").click()
        assert page.locator(f"#{SLUGS[1]}").is_visible()
        assert said == []
        assert (page.title(), len(asked)) == ("Feedback for ann", 1)
        assert not page.locator("pre", has_text="def drive(): ...").is_visible()
        page.emulate_media(media="print")  # on paper nothing is folded away
        assert page.locator("pre", has_text="def drive(): ...").is_visible()
    finally:
        context.close()
