"""Labels in a Mermaid diagram: shown letter by letter, whatever they hold."""

import html
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.record.show import Mermaid, escape_mermaid


def drawn(label):
    """Return what Mermaid shows for a label: entities decoded, breaks as newlines."""
    text = re.sub(r"#(\d+);", r"&#\1;", label).replace("<br/>", "\n")
    return html.unescape(text).replace("\u200b", "")


@pytest.mark.parametrize(
    "text",
    ["a;b", "#35;", '"quoted"', "<b>&amp;</b>", "{x} \\n", "100% %%{init}", "$$x$$",
     "wrap: me", "style a:b#1;", "classDef now:#fff;", "```text", "価格は88ドル。"],
)  # fmt: skip
def test_a_label_shows_what_was_written(text):
    """every character of a text is shown as it is"""
    assert drawn(escape_mermaid(text)) == text


@given(st.text(max_size=60))
def test_a_label_is_one_statement(text):
    """no text can end its statement, open a tag or begin another line"""
    label = escape_mermaid(text)
    bare = re.sub(r"#\d+;", "", label).replace("<br/>", "")
    assert not re.search(r"[;:#<>&\"`\\{}\n\r\x85\u2028\u2029]|%%|\$\$", bare)
    assert label


def test_lines_become_breaks():
    """a text of several lines stays on one line of the source"""
    assert escape_mermaid("one\r\ntwo\nthree") == "one<br/>two<br/>three"


def test_nothing_is_said_to_be_nothing():
    """an empty label says that it is empty, for an arrow needs one"""
    assert escape_mermaid(" \n ") == "(empty)"


def test_a_diagram_prints_as_its_source():
    """where nothing draws it, a diagram is its source"""
    assert str(Mermaid("graph TD")) == "graph TD"


@pytest.mark.parametrize("mime", ["text/vnd.mermaid", "text/plain"])
def test_a_notebook_gets_the_source(mime):
    """a notebook draws the diagram; elsewhere its source is shown"""
    assert Mermaid("graph TD")._repr_mimebundle_()[mime] == "graph TD"


@pytest.mark.parametrize("text", ["style a:b#1;", "classDef now:#fff;", "wrap: me"])
def test_a_colon_is_never_written(text):
    """with a colon, Mermaid takes "style" for a style and "wrap:" for an option"""
    assert ":" not in escape_mermaid(text)


@pytest.mark.parametrize("sign", ["%%", "%%{", "$$", "%%%%", "$$$"])
def test_doubled_signs_are_taken_apart(sign):
    """two percent signs would open a comment, two dollar signs a formula"""
    assert sign[:2] not in escape_mermaid(f"100 {sign}init")
