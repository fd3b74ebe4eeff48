"""Reports and other notices, as text and as HTML; guesses before a run."""

import pytest

from workbook import predict
from workbook.exercises.display import Code, Grid, Notice, as_message
from workbook.exercises.report import Failure, Outcome, Report

NASTY = "<script>alert('$x$')</script>"
FAILURE = Failure(NASTY, evidence=(("returned", NASTY),))
REPORT = Report(NASTY, Outcome.WRONG, 1, 2, (FAILURE,), NASTY)


@pytest.mark.parametrize(
    "thing",
    [
        as_message(REPORT),
        Notice(NASTY, [(" ", NASTY)]),
        Grid([NASTY], [[NASTY]], NASTY),
    ],
)
def test_everything_in_html_is_escaped_and_in_the_themes_colours(thing):
    """what a learner's code produced is never HTML; colours are those of the theme"""
    html = thing._repr_html_()
    assert "&lt;script&gt;" in html
    assert not [word for word in ("<script", "background", "color:#") if word in html]


def test_source_cannot_leave_its_fence():
    """source with backticks in it stays source"""
    text = Code("f", "a = '''\n```\n# Big\n'''")._repr_markdown_()
    assert text.count("`" * 9) == 2


def test_a_report_reads_headline_requirement_evidence_next_step():
    """of the first failure the evidence is shown; after five the others are counted

    `names` in the course's words are code in a notebook, and bare in plain text.
    """
    failures = [Failure(f"`r` {n}", evidence=(("called", "'`a`'"),)) for n in range(8)]
    shown = as_message(Report("f", Outcome.WRONG, 0, 8, tuple(failures), "Odd."))
    assert str(shown).split("\n") == [
        "f · wrong · 0 of 8",
        "! Odd.",
        "✗ r 0",
        "  called    '`a`'",
        *(f"✗ r {n}" for n in range(1, 5)),
        "✗ and 3 more",
        "next: hint(f)",
    ]
    html = shown._repr_html_()
    assert [html.count(f"<code>r</code> {n}") for n in range(8)] == [1] * 5 + [0] * 3
    assert "&#39;`a`&#39;" in html
    assert "<code>a</code> ```b```" in Notice("t", [(" ", "`a` ```b```")])._repr_html_()


@pytest.mark.parametrize(("choices", "typed"), [((5, 12), "12"), ((), " because ")])
def test_a_guess_is_kept_and_revealed(capsys, choices, typed):
    """what was chosen or typed is said again, next to what happened"""
    guess = predict("How many calls?", *choices)
    guess.reveal("9 calls")
    assert "guessed   nothing: no guess was made" in capsys.readouterr().out
    guess.box().value = typed
    assert guess.guess == guess.box().value == typed.strip()
    guess.reveal("9 calls")
    told = ["How many calls?", f"  guessed   {guess.guess}", "  it was    9 calls"]
    assert capsys.readouterr().out.splitlines() == told
