"""Labels in a Mermaid diagram: shown letter by letter, whatever they hold."""

import html
import re
from xml.etree import ElementTree

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from workbook.playground.engines import SUSPICIOUS
from workbook.runtime.guards import all_guards
from workbook.runtime.machine import Machine
from workbook.runtime.script import Script
from workbook.runtime.table import CORE, Table, Transition
from workbook.views import drawing
from workbook.views.mermaid import escape_mermaid
from workbook.views.show import Mermaid

GUARDED = Machine(Script([]), [], all_guards()).table
SVG = "{http://www.w3.org/2000/svg}"
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


def picture_of(text):
    return ElementTree.fromstring(Mermaid(text, "Two")._repr_mimebundle_()["text/html"])


def test_a_notebook_gets_a_picture_and_any_page_the_text():
    """of a kind that the workbook does not write, JupyterLab draws the picture"""
    bundle = Mermaid(GRAPH, "Two states")._repr_mimebundle_()
    assert bundle["text/plain"] == GRAPH
    assert 'aria-label="Two states"' in bundle["text/html"]
    pie = "pie title Pets"
    drawn = {"text/vnd.mermaid": pie, "text/plain": pie}
    assert Mermaid(pie)._repr_mimebundle_() == drawn


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (GRAPH, ["Two", "THINK", "the ", "end", "a; b"]),
        (SPOKEN, ["Two", "User", "a <b>", "2+2?", "4"]),
        ("graph TD;\n    a --> b;\n    a -.-> a;", ["a", "b"]),
    ],
)
def test_a_picture_has_all_names_and_labels(text, words):
    """what Mermaid would show is in the picture, entities decoded"""
    picture = picture_of(text)
    assert set(words) <= {each.text for each in picture.iter() if each.text}
    dashed = [each for each in picture.iter() if each.get("stroke-dasharray")]
    assert bool(dashed) == (text == SPOKEN)
    (lit,) = [e for e in picture.iter(f"{SVG}g") if e.get("class") == "now"] or [None]
    assert text != GRAPH or [each.text for each in lit.iter(f"{SVG}text")] == ["THINK"]


@pytest.mark.parametrize("table", [TURNSTILE, CORE, GUARDED, SUSPICIOUS])
@pytest.mark.parametrize("as_one", [False, True])
def test_no_two_labels_overlap(table, as_one):
    """each label has room in its lane, inside the picture; what begins is leftmost"""
    arrows = tuple((rule.source, rule.target, str(rule.event)) for rule in table.rules)
    if as_one:
        arrows = drawing.merged(arrows, set(table.ends))
    drawn = drawing.picture(arrows, table.start)
    taken = []
    for arrow, (leaves, comes, y) in drawn.ways.items():
        half, middle = 3 * len(arrow[2]), (leaves + comes) / 2
        assert drawn.left <= middle - half < middle + half <= drawn.left + drawn.width
        assert drawn.top + 12 < y < drawn.top + drawn.height
        assert not any(k == y and abs(m - middle) < h + half for k, m, h in taken)
        taken.append((y, middle, half))
    assert drawing.in_order(arrows, table.start)[0] == table.start


def test_what_each_live_state_does_is_drawn_once():
    """cancel and failure are two arrows of any state, and all events are there"""
    shown = [each.text for each in picture_of(CORE.mermaid()).iter(f"{SVG}text")]
    told = ", ".join(shown).split(", ")
    assert [told.count(name) for name in ("cancel", "failed", "any live ")] == [1] * 3
    assert {str(rule.event) for rule in CORE.rules} <= set(told)
    two = Table(TURNSTILE.rules, ends={"OPEN"})
    assert "any live" not in Mermaid(two.mermaid())._repr_mimebundle_()["text/html"]


def test_a_long_message_is_cut_to_its_column():
    """nothing said runs over the columns beside it; the whole text is its title"""
    said = "a very long question " * 9
    text = f"sequenceDiagram\n    participant A\n    participant B\n    A->>B: {said}"
    (message,) = [e for e in picture_of(text).iter(f"{SVG}g") if e.get("class")]
    assert message.find(f"{SVG}title").text == said
    assert drawing.width_of(message.find(f"{SVG}text").text) < drawing.WIDEST
