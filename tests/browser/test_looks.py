"""What is shown, in both themes."""

from playwright.sync_api import expect

from tests.browser.conftest import CELL, CONTRASTS, READABLE, SMALL

DRAWN = """from workbook import your_agent
from workbook.runtime.table import CORE
from workbook.lessons.langchain_debug_trace import sequence_diagram
from workbook.stage import Diff, Mermaid, comparison, play
from workbook.stage.steps import table_at
from IPython.display import display
trace = play("price_question", "langchain")
grounded = table_at(play("price_question", "grounded").events)
display(your_agent("05"), comparison([{"a": 1}]), Diff("-old"), trace)
display(Mermaid(CORE.mermaid("THINK")), Mermaid(grounded.mermaid("THINK")))
Mermaid(sequence_diagram(trace))"""
PARTS = "table :is(td, th), pre span"


def test_what_is_shown_follows_the_theme(window):
    """In both themes all words stand out, and each diagram fits a small screen"""
    lesson = window.open("00_start_here", size=SMALL)
    lesson.run("from workbook import about")  # from then on a trace is a table
    lesson.type_into(CELL, DRAWN)
    pictures = lesson.page.locator(".jp-RenderedMermaid img")
    expect(pictures).to_have_count(3)
    shown = lesson.output('your_agent("05")')
    expect(shown.locator("table", has_text="model request").first).to_be_visible()
    for _ in lesson.both_themes():
        for picture in pictures.all():
            box = picture.bounding_box()
            assert 40 < box["height"] <= 720
            assert box["width"] <= 1024
        contrasts = shown.evaluate(CONTRASTS, PARTS)
        assert len(contrasts) > 20
        assert min(contrasts) > READABLE
