"""Reports as text and as HTML."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.exercises.display import Code, Grid, Notice, as_message
from workbook.exercises.explain import difference
from workbook.exercises.report import (
    Failure,
    Outcome,
    Report,
    clip,
    error_in_words,
    shorten,
)

LONG_TEXT = f"{'a' * 90}\n{'b' * 90}\n"
NASTY = "<script>alert('$x$')</script>"


def report(text):
    failure = Failure(text, evidence=(("returned", text),), traceback=text)
    return Report(text, Outcome.WRONG, 1, 2, (failure,), text)


def test_everything_in_html_is_escaped():
    """what a learner's code produced is never HTML in a notebook"""
    shown = [
        as_message(report(NASTY), with_traceback=True),
        Notice(NASTY, [(" ", NASTY)]),
        Grid([NASTY], [[NASTY]], NASTY),
    ]
    for thing in shown:
        assert "<script" not in thing._repr_html_()
        assert "&lt;script&gt;" in thing._repr_html_()


def test_source_cannot_leave_its_fence():
    """source with backticks in it stays source"""
    text = Code("f", "a = '''\n```\n# Big\n'''")._repr_markdown_()
    assert text.count("`" * 9) == 2


def test_no_colour_is_fixed():
    """colours are the theme's own, so that they can be read in the dark"""
    html = as_message(report("x"))._repr_html_()
    assert "var(--jp-error-color1" in html
    assert "background" not in html
    assert "color:#" not in html


def test_the_text_is_as_the_style_has_it():
    """a failure reads: headline, requirement, evidence, the next step"""
    failure = Failure("it is so", evidence=(("called", "f(1)"), ("returned", "2")))
    shown = Report("f", Outcome.WRONG, 1, 2, (failure,))
    assert str(as_message(shown)) == (
        "f · wrong · 1 of 2\n✗ it is so\n  called    f(1)\n  returned  2\nnext: hint(f)"
    )


@given(st.text(), st.integers(10, 200))
def test_a_long_value_loses_its_middle(text, limit):
    """what is shown of a value stays short, and a short one stays whole"""
    shown = clip(text, limit)
    assert shown == text if len(text) <= limit else len(shown) <= limit + 40


def test_names_in_backticks_are_code():
    """`names` in the course's words are code in a notebook, and bare in plain text"""
    failure = Failure("use `split_fields`", evidence=(("returned", "'`a`'"),))
    for outcome in (Outcome.NOT_ATTEMPTED, Outcome.WRONG):
        shown = as_message(Report("f", outcome, 0, 1, (failure,)))
        assert "use split_fields\n" in f"{shown}\n"
        assert "use <code>split_fields</code>" in shown._repr_html_()
    assert "  returned  '`a`'" in str(shown)
    assert "&#39;`a`&#39;" in shown._repr_html_()
    assert "<code>a</code> ```b```" in Notice("t", [(" ", "`a` ```b```")])._repr_html_()


def test_many_failures_are_counted():
    """after five failures the others are counted, not listed"""
    failures = tuple(Failure(f"rule {n}") for n in range(1, 9))
    shown = as_message(Report("f", Outcome.WRONG, 0, 8, failures))
    assert str(shown).split("\n")[1:] == [
        *(f"✗ rule {n}" for n in range(1, 6)),
        "✗ and 3 more",
        "next: hint(f)",
    ]
    assert "and 3 more" in shown._repr_html_()
    assert "rule 6" not in shown._repr_html_()


def test_a_value_is_shown_without_noise():
    """members of an enumeration stand as in code, and no address in memory is shown"""
    value = {Outcome.WRONG: (shorten, lambda: 0, object()), "text": "<A.B: 1> at 0x1f"}
    assert shorten(value) == (
        "{Outcome.WRONG: (<function shorten>, <function <lambda>>, <object object>),"
        " 'text': '<A.B: 1> at 0x1f'}"
    )


@pytest.mark.parametrize(
    ("found", "wanted", "words"),
    [
        ("short\ntext", "short\nwords", ""),
        (LONG_TEXT + "x\nend", LONG_TEXT + "y\nend", "in line 3: 'x', not 'y'"),
        (LONG_TEXT, LONG_TEXT + "more\n", "in line 3: '', not 'more'"),
        ([LONG_TEXT], [LONG_TEXT, 2], "in item 2: nothing, not 2"),
        ([LONG_TEXT, 2], [LONG_TEXT], "in item 2: 2, not nothing"),
        ([LONG_TEXT], LONG_TEXT, ""),
    ],
)
def test_where_two_long_values_part_is_said(found, wanted, words):
    """of long texts and lists, the first line or item that differs is shown"""
    assert difference(found, wanted) == words


def test_a_number_that_python_does_not_write():
    """a whole number of more digits than Python writes is told in words"""
    assert shorten(10**5000) == "<an int whose repr raised ValueError>"


def test_a_value_that_cannot_be_shown():
    """a value whose repr raises does not spoil the report"""

    class Broken:
        def __repr__(self):
            raise ValueError

    assert shorten(Broken()) == "<a Broken whose repr raised ValueError>"


def test_a_wanted_error_is_told_in_words():
    """of each lookahead in a pattern, the text that it looks for is named"""
    words = error_in_words((OSError, KeyError), r"(?s)(?=.*THINK)(?=.*2\.5 V)")
    assert words.startswith("an OSError or a KeyError ")
    assert words.endswith('"THINK" and "2.5 V"')
