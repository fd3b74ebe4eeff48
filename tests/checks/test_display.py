"""Reports, tables and other notices, as text and as HTML."""

import re

import pytest

from workbook.checks.display import Code, Grid, Notice, as_message

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


def sides(page):
    """Return the side of each column, as its title has it."""
    return re.findall(r"<th style=\"text-align:(\w+)", page)


def test_texts_are_at_the_left_and_numbers_at_the_right():
    """also numbers that were written as text, with a unit or as a share"""
    rows = [["a", 1109, "12 of 40", "88 %", "w004"], ["b", None, "", "9 %", "3"]]
    page = Grid(["", "n", "right", "rate", "source"], rows)._repr_html_()
    assert sides(page) == ["left", "right", "right", "right", "left"]
    assert "1,109" in page
    assert "1,109" in repr(Grid(["n"], [[1109]]))


def test_a_table_without_rows_has_its_head():
    """and says that there are none; a long one says how many it leaves out"""
    assert sides(page := Grid(["a", "b"], [])._repr_html_()) == ["left", "left"]
    assert "none" in page
    assert "none" in repr(Grid(["a", "b"], []))
    long = Grid(["n"], [[n] for n in range(1200)], "Done.")._repr_html_()
    assert "and 1,100 more rows. Done." in long
