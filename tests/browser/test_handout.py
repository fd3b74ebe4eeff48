"""The reading edition in a browser that has no network."""

import pytest

from tests.browser.conftest import CONTRASTS, READABLE
from workbook.exercises.catalogue import lessons
from workbook.grading import handout as subject

TWO = ("00_start_here", "01_naive_loop")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_lesson_is_read_without_a_network(browser, tmp_path, monkeypatch, scheme):
    """From the index to a lesson and on; nothing is asked for, and all is readable."""
    two = {slug: lessons()[slug] for slug in TWO}
    monkeypatch.setattr(subject, "lessons", lambda: two)
    subject.handout(tmp_path / "site")
    context = browser.new_context(offline=True, color_scheme=scheme)
    try:
        page = context.new_page()
        asked, wrong = [], []
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: wrong.append(message.text))
        page.goto((tmp_path / "site" / "index.html").as_uri())
        page.get_by_role("link", name=lessons()[TWO[0]].title).click()
        page.locator("a[rel=next]").first.click()
        assert page.title() == lessons()[TWO[1]].title
        body = page.locator("body").element_handle()
        parts = body.evaluate(CONTRASTS, "p, li, h1, h2, a, pre span:not(.w)")
        assert len(parts) > 100
        assert min(parts) > READABLE
        assert {url.partition(":")[0] for url in asked} == {"file"}
        assert wrong == []
    finally:
        context.close()
