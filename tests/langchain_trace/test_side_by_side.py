"""Texts beside each other."""

from workbook.langchain_trace.side_by_side import side_by_side

TEXTS = {"with": "a", "without": "a\n Observation: <b>3</b>\nb"}


def test_the_lines_in_question_are_marked():
    """only lines that begin with the words are marked, in the text form too"""
    shown = repr(side_by_side(TEXTS, "Observation:"))
    assert [line for line in shown.splitlines() if line.startswith(">")] == [
        ">  Observation: <b>3</b>"
    ]


def test_without_words_nothing_is_marked():
    """where no words are given, no line is marked"""
    assert ">" not in repr(side_by_side({"a": "b\nObservation: c"}))


def test_texts_are_escaped():
    """titles and texts are shown to the letter, whatever they hold"""
    shown = side_by_side({"<i>": "<b>x</b>", **TEXTS}, "Observation:")._repr_html_()
    assert "<b>x</b>" not in shown
    assert "&lt;b&gt;x&lt;/b&gt;" in shown
    assert "<b>&lt;i&gt;</b>" in shown
    assert "> Observation: &lt;b&gt;3&lt;/b&gt;</span>" in shown
