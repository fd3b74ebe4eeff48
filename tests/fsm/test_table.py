"""The table: what follows what, whether it is honest, and how it is drawn."""

import re
from enum import Enum

import pytest

from workbook.fsm.machine import drive
from workbook.fsm.table import (
    CORE,
    Event,
    IllegalTransition,
    Rule,
    State,
    Table,
    exits,
    mermaid,
)

S, E = State, Event


def table(*rows, start=S.THINK):
    """Return a table of (source, event, target) rows."""
    return Table(tuple(Rule(*row, why="because") for row in rows), start)


SMALL = table(
    (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
    (S.THINK, E.FINAL_ANSWER, S.DONE),
    (S.OBSERVE, E.OBSERVED, S.THINK),
    (S.OBSERVE, E.CANCEL, S.EXHAUSTED),
    (S.THINK, E.CANCEL, S.ERROR),
)


class Sentence:
    """Equal to a text that names everything in `words`, and one of `either`."""

    def __init__(self, *words, either=()):
        self.words, self.either = words, either

    def __eq__(self, other):
        named = set(re.findall(r"\w+", other)) if isinstance(other, str) else set()
        one = not self.either or bool(named & set(self.either))
        return one and named >= set(self.words)

    __hash__ = None

    def __repr__(self):
        names = [*self.words, " or ".join(self.either)]
        return f"a sentence that names {' and '.join(filter(None, names))}"


def in_any_order(*states):
    """Return as many sentences as there are states, each about one of them."""
    return [Sentence(either=states)] * len(states)


def arrows(diagram):
    """Return the arrows between states that a Mermaid text has, in order."""
    found = re.findall(r"^\s*(\w+)\s*-->\s*(\w+)\s*:\s*(\S+)$", diagram, re.M)
    return [f"{source} --> {target} : {label}" for source, target, label in found]


def first_states(diagram):
    """Return the states to which an arrow from [*] leads."""
    return re.findall(r"^\s*\[\*\]\s*-->\s*(\w+)\s*$", diagram, re.M)


def last_states(diagram):
    """Return the states from which an arrow leads to [*]."""
    return sorted(re.findall(r"^\s*(\w+)\s*-->\s*\[\*\]\s*$", diagram, re.M))


def lit_states(diagram):
    """Return the states that have the class now."""
    return re.findall(r"^\s*class\s+(\w+)\s+now\s*$", diagram, re.M)


# advance


@pytest.mark.parametrize(
    ("state", "event", "target"),
    [
        (S.THINK, E.FINAL_ANSWER, S.DONE),
        (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
        (S.OBSERVE, E.CANCEL, S.EXHAUSTED),
        (S.THINK, E.CANCEL, S.ERROR),
    ],
)
def test_state_and_event_choose_the_row(advance, state, event, target):
    """return the target of the row with this state and this event: both must match"""
    assert advance(SMALL, state, event) == target


@pytest.mark.parametrize(
    ("state", "event"),
    [(S.THINK, E.OBSERVED), (S.DONE, E.CANCEL), ("VERIFY", E.FINAL_ANSWER)],
)
def test_what_is_not_in_the_table_raises(advance, state, event):
    """if there is no such row, raise IllegalTransition"""
    with pytest.raises(IllegalTransition):
        advance(SMALL, state, event)


def test_the_message_names_state_and_event(advance):
    """its message names the state and the event"""
    with pytest.raises(IllegalTransition, match=r"(?s)(?=.*THINK)(?=.*observed)"):
        advance(SMALL, S.THINK, E.OBSERVED)


def test_the_message_lists_what_would_be_legal(advance):
    """its message lists every event that has a row in this state"""
    with pytest.raises(IllegalTransition, match=r"(?s)(?=.*observed)(?=.*cancel)"):
        advance(SMALL, S.OBSERVE, E.FINAL_ANSWER)


# audit


@pytest.mark.parametrize(
    "honest",
    [SMALL, table((S.THINK, E.CANCEL, S.OBSERVE), (S.OBSERVE, E.CANCEL, S.DONE))],
    ids=["small", "one event in two states"],
)
def test_an_honest_table_has_no_breach(audit, honest):
    """an honest table gives []; one event may have a row in several states"""
    assert audit(honest) == []


def test_two_rows_for_one_event(audit):
    """two rows for the same state and event are a breach: name both"""
    two = (*SMALL.rules, Rule(S.THINK, E.FINAL_ANSWER, S.ERROR, "or so"))
    assert audit(Table(two)) == [Sentence("THINK", "final_answer")]


UNREACHED = (Rule("VERIFY", "supported", S.DONE, "true"),)
UNREACHED_PAIR = (
    Rule("VERIFY", "supported", "POLICY", "true"),
    Rule("POLICY", "denied", "VERIFY", "look again"),
    Rule("POLICY", "allowed", S.DONE, "fine"),
)


@pytest.mark.parametrize(
    ("rows", "states"),
    [(UNREACHED, ["VERIFY"]), (UNREACHED_PAIR, ["VERIFY", "POLICY"])],
)
def test_each_state_that_cannot_be_reached(audit, rows, states):
    """each state to which no path leads from the start is a breach"""
    assert audit(SMALL.with_rules(*rows)) == in_any_order(*states)


DEAD_END = (Rule(S.THINK, "approval_needed", "PENDING_APPROVAL", "ask"),)
CIRCLE = (
    Rule(S.THINK, "drafted", "VERIFY", "look"),
    Rule("VERIFY", "unsupported", "POLICY", "ask"),
    Rule("POLICY", "allowed", "VERIFY", "again"),
)


@pytest.mark.parametrize(
    ("rows", "states"),
    [(DEAD_END, ["PENDING_APPROVAL"]), (CIRCLE, ["VERIFY", "POLICY"])],
)
def test_each_trap(audit, rows, states):
    """each live state from which no path leads to an end is a breach"""
    assert audit(SMALL.with_rules(*rows)) == in_any_order(*states)


def test_a_way_out_of_an_end(audit):
    """a row that leads out of an end is a breach: name that end"""
    rows = SMALL.with_rules(Rule(S.DONE, E.OBSERVED, S.THINK, "once more"))
    assert audit(rows) == [Sentence("DONE")]


def test_every_breach_is_reported(audit):
    """report all breaches, not only the first"""
    rows = SMALL.with_rules(
        Rule(S.EXHAUSTED, E.OBSERVED, S.THINK, "once more"),
        Rule("VERIFY", "supported", S.DONE, "true"),
        Rule(S.OBSERVE, "denied", "POLICY", "stay"),
    )
    assert audit(rows) == in_any_order("EXHAUSTED", "VERIFY", "POLICY")


# mermaid

TINY = table(
    (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
    (S.OBSERVE, E.OBSERVED, S.THINK),
    (S.THINK, E.FINAL_ANSWER, S.DONE),
    (S.OBSERVE, E.CANCEL, S.CANCELLED),
)


def test_it_is_a_state_diagram():
    """the first line says what kind of diagram it is"""
    assert mermaid(TINY).splitlines()[0] == "stateDiagram-v2"


def test_every_row_is_an_arrow():
    """each row is an arrow from its source to its target, labelled with its event"""
    assert arrows(mermaid(TINY)) == [
        "THINK --> OBSERVE : tool_requested",
        "OBSERVE --> THINK : observed",
        "THINK --> DONE : final_answer",
        "OBSERVE --> CANCELLED : cancel",
    ]


def test_an_arrow_leads_to_the_start():
    """one arrow leads from [*] to the start"""
    assert first_states(mermaid(TINY)) == ["THINK"]


def test_the_start_is_the_tables_own():
    """the start is the table's start, whichever state that is"""
    screened = table(("SCREEN", "suspicious", "REFUSED"), start="SCREEN")
    assert first_states(mermaid(screened)) == ["SCREEN"]


def test_an_arrow_leads_out_of_each_end():
    """one arrow leads from each end of this table to [*]"""
    assert last_states(mermaid(TINY)) == ["CANCELLED", "DONE"]


@pytest.mark.parametrize("state", [S.OBSERVE, S.DONE])
def test_one_state_is_lit(state):
    """the highlighted state, live or an end, gets the class now"""
    assert lit_states(mermaid(TINY, state)) == [state]


def test_without_a_highlight_nothing_is_lit():
    """without a highlight no state gets a class"""
    assert lit_states(mermaid(TINY)) == []


def test_the_class_is_defined():
    """a lit state needs a line `classDef now …` that says how it looks"""
    assert "classDef now " in mermaid(TINY, highlight=S.OBSERVE)


# the table as such, and the core


def test_words_that_mermaid_would_misread_are_drawn_all_the_same():
    """a state of several words, or called "end", keeps its name as its label"""
    odd = Table((Rule("waiting; for", "a: b", "end", "paid"),), "waiting; for", {"end"})
    drawn = mermaid(odd, "end").splitlines()
    assert '    state "waiting#59; for" as state_0' in drawn
    assert '    state "end" as state_1' in drawn
    assert "    state_0 --> state_1 : a#58; b" in drawn
    assert drawn[-1] == "    class state_1 now"


def test_a_table_holds_only_the_states_that_its_rows_mention():
    """states that no row mentions are not part of a table"""
    assert set(CORE.states) == {
        *(S.THINK, S.EXECUTE_TOOL, S.OBSERVE),
        *(S.DONE, S.ERROR, S.CANCELLED, S.EXHAUSTED),
    }


def test_more_rows_make_another_table():
    """a new row replaces the one for the same event, and the old table stays"""
    other = SMALL.with_rules(
        Rule(S.THINK, E.FINAL_ANSWER, "VERIFY", "look first"),
        Rule("VERIFY", "supported", S.DONE, "true"),
        *exits("VERIFY"),
        start=S.OBSERVE,
    )
    assert other.advance(S.THINK, E.FINAL_ANSWER) == "VERIFY"
    assert other.start == S.OBSERVE
    assert other.audit() == []
    assert SMALL.advance(S.THINK, E.FINAL_ANSWER) == S.DONE


def test_a_table_names_its_ends():
    """the ends are the table's own, and a table with more rows may have more of them"""
    refused = CORE.with_rules(
        Rule(S.THINK, "suspicious", "REFUSED", "an order in a page"), ends={"REFUSED"}
    )
    assert CORE.ends == {"DONE", "EXHAUSTED", "CANCELLED", "ERROR"}
    assert refused.ends == {*CORE.ends, "REFUSED"}
    assert refused.audit() == []
    assert "REFUSED is a trap" in CORE.with_rules(*refused.rules).audit()[0]


def test_one_text_is_not_a_set_of_ends():
    """a text in place of a set would be an end for each of its letters"""
    with pytest.raises(TypeError, match="give a set"):
        Table((), "A", ends="OFF")


def test_words_of_an_enumeration_are_words():
    """with an Enum of one's own the table has its states, its breaches and its ends"""

    class Light(Enum):
        RED, GREEN, OFF = "red", "green", "off"

    rows = (Rule(Light.RED, "timer", Light.GREEN, "go"),)
    lights = Table(rows, Light.RED, ends={Light.OFF})
    assert set(lights.states) == {Light.RED, Light.GREEN}
    assert len(lights.audit()) == 2  # neither of the two leads to an end
    off = lights.with_rules(Rule(Light.GREEN, "night", Light.OFF, "sleep"))
    assert off.audit() == []
    day = ["timer", "night"]
    handlers = dict.fromkeys(off.states, lambda day: day.pop(0))
    assert drive(off, handlers, day, lambda *_: None) is Light.OFF
