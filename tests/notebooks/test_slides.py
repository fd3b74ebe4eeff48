"""Every lesson is a deck of slides as well, by one rule."""

import re

import pytest

from tests.notebooks.conftest import lessons, read

LEFT_OUT = {"setup", "exercise", "own-model"}
LESSONS = lessons()
IDS = [path.stem for path in LESSONS]


def slide_types(cells):
    """Say where each cell stands: a section, a step in it, below its text, nowhere."""
    after_text = False
    for cell in cells:
        text = cell.cell_type == "markdown"
        if text:
            yield "slide" if re.search("(?m)^##? ", cell.source) else "subslide"
        elif LEFT_OUT & set(cell.metadata.get("tags", ())) or cell.source.startswith(
            "# hint("
        ):
            yield "skip"
        else:
            yield "-" if after_text else "subslide"
        after_text = text and "### Exercise" not in cell.source


@pytest.mark.parametrize("path", LESSONS, ids=IDS)
def test_a_lesson_is_a_deck(path):
    """A heading begins a slide, a stub is on none, and code stands with its text"""
    cells = read(path).cells
    for cell, expected in zip(cells, slide_types(cells), strict=True):
        found = cell.metadata.get("slideshow", {"slide_type": "-"})["slide_type"]
        wanted = f"`slideshow` has the slide_type {expected!r} (for '-', leave it out)"
        assert found == expected, f"set the metadata so that {wanted}: {cell.source}"
