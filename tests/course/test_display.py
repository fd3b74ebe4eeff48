"""Reports as text and as HTML."""

from hypothesis import given
from hypothesis import strategies as st

from workbook.course.display import Code, Message, Result, Table
from workbook.course.report import Failure, Outcome, Report, clip, shorten

NASTY = "<script>alert('$x$')</script>"


def report(text):
    failure = Failure(text, evidence=(("returned", text),))
    return Report(text, Outcome.WRONG, 1, 2, (failure,), (text,), text, text, text)


def test_everything_in_html_is_escaped():
    """what a learner's code produced is never HTML in a notebook"""
    shown = [
        Result(report(NASTY), with_traceback=True),
        Message(NASTY, [NASTY]),
        Table([NASTY], [[NASTY]], NASTY, NASTY),
    ]
    for thing in shown:
        assert "<script" not in thing._repr_html_()
        assert "&lt;script&gt;" in thing._repr_html_()


def test_source_cannot_leave_its_fence():
    """source with backticks in it stays source"""
    text = Code("f", "a = '''\n```\n# Big\n'''")._repr_markdown_()
    assert text.count("````") == 2


def test_no_colour_is_fixed():
    """colours are the theme's own, so that they can be read in the dark"""
    html = Result(report("x"))._repr_html_()
    assert "var(--jp-error-color1" in html
    assert "background" not in html
    assert "color:#" not in html


def test_the_text_is_as_the_style_has_it():
    """a failure reads: headline, requirement, evidence, the next step"""
    failure = Failure("it is so", evidence=(("called", "f(1)"), ("returned", "2")))
    shown = Report("f", Outcome.WRONG, 1, 2, (failure,), next_step="hint(f)")
    assert str(Result(shown)) == (
        "f · 1 of 2\n✗ it is so\n  called    f(1)\n  returned  2\nnext: hint(f)"
    )


@given(st.text(), st.integers(10, 200))
def test_a_long_value_loses_its_middle(text, limit):
    """what is shown of a value stays short, and a short one stays whole"""
    shown = clip(text, limit)
    assert shown == text if len(text) <= limit else len(shown) <= limit + 40


def test_a_value_that_cannot_be_shown():
    """a value whose repr raises does not spoil the report"""

    class Broken:
        def __repr__(self):
            raise ValueError

    assert shorten(Broken()) == "<a Broken whose repr raised ValueError>"
