"""Reports and other notices, as text and as HTML."""

import pytest

from workbook.checks.display import (
    AMBER,
    GREEN,
    GREY,
    RED,
    Code,
    Grid,
    Notice,
    as_message,
)

NASTY = "<script>alert('$x$')</script>"
FAILURE = {"rule": NASTY, "test": "", "evidence": [["returned", NASTY]]}
REPORT = {"slug": NASTY, "outcome": "wrong", "met": 1, "of": 2, "note": NASTY}
REPORT |= {"failures": [FAILURE]}


@pytest.mark.parametrize(
    "thing",
    [
        as_message(REPORT),
        Notice(NASTY, [(" ", NASTY)]),
        Grid([NASTY], [[NASTY]], NASTY),
    ],
)
def test_everything_in_html_is_escaped_and_in_the_pages_ink(thing):
    """what a learner's code produced is never HTML; text has the page's own colour"""
    html = thing._repr_html_()
    assert "&lt;script&gt;" in html
    assert not [word for word in ("<script", ";color:", "'color:") if word in html]


@pytest.mark.parametrize("colour", [AMBER, GREEN, GREY, RED])
def test_a_message_can_be_read_on_a_dark_page_and_on_a_light_one(colour):
    """WCAG's AA: 3 for the bar, 4.5 for the text on its tinted background"""
    for paper, ink in (("#ffffff", "#212121"), ("#111111", "#e0e0e0")):
        bar, page, text = map(parts, (colour, paper, ink))
        tinted = [b * TINT + p * (1 - TINT) for b, p in zip(bar, page, strict=True)]
        assert contrast(bar, page) >= 3
        assert contrast(text, tinted) >= 4.5


TINT = 0x14 / 0xFF  # how much of the colour is in a message's background


def parts(colour):
    return [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]


def contrast(*colours):
    """Return the contrast of two colours, as WCAG defines it."""
    lights = []
    for colour in colours:
        red, green, blue = (
            p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in colour
        )
        lights.append(0.2126 * red + 0.7152 * green + 0.0722 * blue + 0.05)
    return max(lights) / min(lights)


def test_source_cannot_leave_its_fence():
    """source with backticks in it stays source"""
    text = Code("f", "a = '''\n```\n# Big\n'''")._repr_markdown_()
    assert text.count("`" * 9) == 2


def test_a_report_reads_headline_requirement_evidence_next_step():
    """of the first failure the evidence is shown; after five the others are counted

    `names` in the course's words are code in a notebook, and bare in plain text.
    """
    evidence = [("called", "'`a`'")]
    failures = [{"rule": f"`r` {n}", "evidence": evidence} for n in range(8)]
    counts = {"slug": "f", "outcome": "wrong", "met": 0, "of": 8, "note": "Odd."}
    shown = as_message({**counts, "failures": failures})
    assert str(shown).split("\n") == [
        "f · wrong · 0 of 8",
        "! Odd.",
        "not met: r 0",
        "  called    '`a`'",
        *(f"not met: r {n}" for n in range(1, 5)),
        "not met: 3 more",
        "next: hint(f)",
    ]
    html = shown._repr_html_()
    assert [html.count(f"<code>r</code> {n}") for n in range(8)] == [1] * 5 + [0] * 3
    assert "&#39;`a`&#39;" in html
    assert "<code>a</code> ```b```" in Notice("t", [(" ", "`a` ```b```")])._repr_html_()
