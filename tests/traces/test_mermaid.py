"""Labels in a Mermaid diagram: shown letter by letter, whatever they hold."""

import html
import re
from itertools import combinations
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbook.fsm.table import CORE, Table, Transition
from workbook.traces.mermaid import escape_mermaid
from workbook.traces.show import Mermaid

IMAGE = "image/svg+xml"
TURNSTILE = Table(
    (
        Transition("LOCKED", "coin", "OPEN", "paid"),
        Transition("OPEN", "push", "LOCKED", "gone"),
    )
)


def drawn(label):
    """Return what Mermaid shows for a label: entities decoded, breaks as newlines."""
    text = re.sub(r"#(\d+);", r"&#\1;", label).replace("<br/>", "\n")
    return html.unescape(text)


@example("a:b; #35; <b>&amp;</b> {x} \\n 100% %%{init} $$x$$ ```text 価格は88ドル。")
@example("one\r\ntwo\x1b")
@example(" \n ")
@given(st.text(max_size=60))
def test_a_label_is_one_statement_and_shows_what_was_written(text):
    """no text can end its statement, open a tag or begin another line"""
    label = escape_mermaid(text)
    bare = re.sub(r"#\d+;", "x", label).replace("<br/>", "")
    assert not re.search(r"[;:#<>&\"`\\{}\n\r\x85\u2028\u2029]|%%|\$\$", bare)
    lines = [line.strip() for line in text.strip().splitlines()]
    shown = [re.sub(r"[\x00-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", s) for s in lines]
    assert drawn(label) == ("\n".join(shown) or "(empty)")


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
    """a notebook draws it in its own colours, the lit state by more than a colour"""
    bundle = Mermaid(GRAPH, "Two states")._repr_mimebundle_()
    assert bundle["text/plain"] == GRAPH
    lines = bundle["text/vnd.mermaid"].splitlines()
    assert lines[0].startswith('%%{init: {"theme": "base"')
    assert lines[1:3] == ["stateDiagram-v2", "    accTitle: Two states"]
    assert set(GRAPH.splitlines()[2:5]) <= set(lines)
    assert lines[-2].endswith("color:#000,stroke-width:4px,font-weight:bold")
    assert IMAGE not in Mermaid("pie title Pets")._repr_mimebundle_()


def test_what_stands_in_front_of_a_diagram_stays_there():
    """settings that a library writes in front of its diagram stay in front"""
    front = "---\nconfig:\n  flowchart:\n    curve: linear\n---\n"
    source = Mermaid(f"{front}graph TD;\na").source
    assert source.startswith(f"{front}%%{{init")
    assert source.endswith("\ngraph TD;\n    accTitle: Diagram\na")


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
    picture = Mermaid(text, "Two")._repr_mimebundle_()[IMAGE]
    assert ElementTree.fromstring(picture).tag.endswith("svg")
    for word in words:
        assert word in picture


@pytest.mark.parametrize("table", [CORE, TURNSTILE])
def test_no_state_lies_upon_another(table):
    """in the picture each state has a place of its own"""
    picture = Mermaid(table.mermaid())._repr_mimebundle_()[IMAGE]
    rects = ElementTree.fromstring(picture).iter("{http://www.w3.org/2000/svg}rect")
    boxes = [
        tuple(float(rect.get(key)) for key in ("x", "y", "width", "height"))
        for rect in rects
    ][1:]
    assert len(boxes) == len(table.states)
    for (x, y, w, h), (x2, y2, w2, h2) in combinations(boxes, 2):
        assert x + w <= x2 or x2 + w2 <= x or y + h <= y2 or y2 + h2 <= y
