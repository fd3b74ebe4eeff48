"""Labels in a Mermaid diagram: shown letter by letter, whatever they hold."""

import html
import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.fsm.table import CORE, Table, Transition
from workbook.traces.mermaid import escape_mermaid
from workbook.traces.show import Mermaid

TURNSTILE = Table(
    (
        Transition("LOCKED", "coin", "OPEN", "paid"),
        Transition("OPEN", "push", "LOCKED", "gone"),
    )
)


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
    bare = re.sub(r"#\d+;", "x", label).replace("<br/>", "")
    assert not re.search(r"[;:#<>&\"`\\{}\n\r\x85\u2028\u2029]|%%|\$\$", bare)
    assert label


def test_lines_become_breaks():
    """a text of several lines is on one line of the source; an empty one says so"""
    assert escape_mermaid("one\r\ntwo\nthree") == "one<br/>two<br/>three"
    assert escape_mermaid(" \n ") == "(empty)"


GRAPH = """stateDiagram-v2
    direction LR
    state "the end" as state_1
    [*] --> THINK
    THINK --> state_1 : a#59; b
    classDef now fill:#ffd54f,stroke:#5d4037,color:#000
    class THINK now"""
SPOKEN = """sequenceDiagram
    participant User
    participant T1 as a #60;b#62;
    User->>T1: 2+2?
    T1-->>User: 4"""


def test_a_notebook_gets_the_source():
    """a notebook draws the diagram in its own colours; elsewhere its source is shown"""
    bundle = Mermaid(GRAPH, "Two states")._repr_mimebundle_()
    assert bundle["text/plain"] == GRAPH
    lines = bundle["text/vnd.mermaid"].splitlines()
    assert lines[0].startswith('%%{init: {"theme": "base"')
    assert lines[1:3] == ["stateDiagram-v2", "    accTitle: Two states"]
    assert set(GRAPH.splitlines()[2:5]) <= set(lines)


def test_what_stands_in_front_of_a_diagram_stays_there():
    """settings that a library writes in front of its diagram stay in front"""
    source = Mermaid(
        "---\nconfig:\n  flowchart:\n    curve: linear\n---\ngraph TD;\na"
    ).source
    assert source.startswith("---\nconfig:")
    assert (
        source.index("%%{init") < source.index("graph TD;") < source.index("accTitle")
    )


def test_the_lit_state_differs_by_more_than_its_colour():
    """the lit state has a thick border and bold letters as well"""
    assert re.search(
        r"classDef now .*stroke-width:4px,font-weight:bold", Mermaid(GRAPH).source
    )


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GRAPH, ["<title>Two", "THINK", "the end", "a; b", 'stroke-width="3"']),
        (SPOKEN, ["<title>Two", "User", "a &lt;b&gt;", "2+2?", "stroke-dasharray"]),
        ("graph TD;\n    a --> b;\n    a -.-> a;", [">a<", ">b<"]),
    ],
)
def test_a_page_without_scripts_gets_a_picture(text, words):
    """beside the source stands an SVG with the same names and labels"""
    picture = Mermaid(text, "Two")._repr_mimebundle_()["image/svg+xml"]
    root = ElementTree.fromstring(picture)
    assert root.tag.endswith("svg")
    for word in words:
        assert word in picture


@pytest.mark.parametrize("table", [CORE, TURNSTILE])
def test_no_state_lies_upon_another(table):
    """in the picture each state has a place of its own"""
    picture = Mermaid(table.mermaid())._repr_mimebundle_()["image/svg+xml"]
    boxes = [
        tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in ElementTree.fromstring(picture).iter(
            "{http://www.w3.org/2000/svg}rect"
        )
    ][1:]
    assert len(boxes) == len(table.states)
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y


def test_what_cannot_be_read_is_no_picture():
    """of another kind of diagram there is the source alone"""
    assert "image/svg+xml" not in Mermaid("pie title Pets")._repr_mimebundle_()
