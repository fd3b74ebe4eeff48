"""The table: what follows what, whether it is honest, and how it is drawn."""

import re

import pytest

from workbook.fsm.table import (
    CORE,
    TERMINAL,
    Event,
    IllegalTransition,
    Rule,
    State,
    Table,
    exits,
)

S, E = State, Event


def table(*rows, start=S.THINK):
    """Return a table of (source, event, target) rows."""
    return Table(tuple(Rule(*row, why="because") for row in rows), start)


SMALL = table(
    (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
    (S.THINK, E.FINAL_ANSWER, S.DONE),
    (S.OBSERVE, E.OBSERVED, S.THINK),
    (S.OBSERVE, E.CANCEL, S.CANCELLED),
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


def test_advance_follows_the_row(advance):
    """the row for this state and this event says what follows"""
    assert advance(SMALL, S.THINK, E.FINAL_ANSWER) == S.DONE


def test_one_state_has_a_row_for_each_event(advance):
    """two events in one state are two rows

    perhaps: you look at the state alone, and not at the event"""
    assert advance(SMALL, S.THINK, E.TOOL_REQUESTED) == S.OBSERVE


@pytest.mark.parametrize(
    ("state", "target"), [(S.OBSERVE, S.CANCELLED), (S.THINK, S.ERROR)]
)
def test_one_event_means_something_else_in_another_state(advance, state, target):
    """the same event in another state is another row

    perhaps: you look at the event alone, and not at the state"""
    assert advance(SMALL, state, E.CANCEL) == target


@pytest.mark.parametrize(
    ("state", "event"),
    [(S.THINK, E.OBSERVED), (S.DONE, E.CANCEL), (S.VERIFY, E.FINAL_ANSWER)],
)
def test_what_is_not_in_the_table_raises(advance, state, event):
    """a pair that has no row raises IllegalTransition, and nothing is guessed"""
    with pytest.raises(IllegalTransition):
        advance(SMALL, state, event)


def test_the_message_names_state_and_event(advance):
    """the message says which state was asked about which event"""
    with pytest.raises(IllegalTransition, match=r"(?s)(?=.*THINK)(?=.*observed)"):
        advance(SMALL, S.THINK, E.OBSERVED)


def test_the_message_lists_what_would_be_legal(advance):
    """the message lists every event that the state has a row for"""
    with pytest.raises(IllegalTransition, match=r"(?s)(?=.*observed)(?=.*cancel)"):
        advance(SMALL, S.OBSERVE, E.FINAL_ANSWER)


# audit


def test_an_honest_table_has_no_breach(audit):
    """an honest table gives an empty list"""
    assert audit(SMALL) == []


def test_two_rows_for_one_event(audit):
    """two rows for one state and event are a breach: name both

    perhaps: you stop at the first row that fits"""
    two = (*SMALL.rules, Rule(S.THINK, E.FINAL_ANSWER, S.ERROR, "or so"))
    assert audit(Table(two)) == [Sentence("THINK", "final_answer")]


def test_one_event_in_two_states_is_no_breach(audit):
    """one event may have a row in each state"""
    both = table((S.THINK, E.CANCEL, S.OBSERVE), (S.OBSERVE, E.CANCEL, S.DONE))
    assert audit(both) == []


def test_a_state_that_is_never_reached(audit):
    """a state to which no row leads is a breach"""
    rows = SMALL.with_rules(Rule(S.VERIFY, E.SUPPORTED, S.DONE, "true"))
    assert audit(rows) == [Sentence("VERIFY")]


def test_a_row_from_an_unreached_state_does_not_count(audit):
    """two states that only lead to each other are both never reached

    perhaps: a row leads to it, but can that row be reached from the start?"""
    rows = SMALL.with_rules(
        Rule(S.VERIFY, E.SUPPORTED, S.POLICY, "true"),
        Rule(S.POLICY, E.DENIED, S.VERIFY, "look again"),
        Rule(S.POLICY, E.ALLOWED, S.DONE, "fine"),
    )
    assert audit(rows) == in_any_order("VERIFY", "POLICY")


def test_a_state_without_a_way_on_is_a_trap(audit):
    """a live state without a row is a breach: a run would stay there"""
    rows = SMALL.with_rules(Rule(S.THINK, E.APPROVAL_NEEDED, S.PENDING_APPROVAL, "ask"))
    assert audit(rows) == [Sentence("PENDING_APPROVAL")]


def test_two_states_that_lead_only_to_each_other_are_traps(audit):
    """live states that lead to each other and to no end are traps, both of them

    perhaps: a row leads out of it, but does a path lead to an end?"""
    rows = SMALL.with_rules(
        Rule(S.THINK, E.DRAFTED, S.VERIFY, "look"),
        Rule(S.VERIFY, E.UNSUPPORTED, S.POLICY, "ask"),
        Rule(S.POLICY, E.ALLOWED, S.VERIFY, "again"),
    )
    assert audit(rows) == in_any_order("VERIFY", "POLICY")


def test_a_way_out_of_an_end(audit):
    """a row that leads out of a terminal state is a breach"""
    rows = SMALL.with_rules(Rule(S.DONE, E.OBSERVED, S.THINK, "once more"))
    assert audit(rows) == [Sentence("DONE")]


def test_every_breach_is_reported(audit):
    """all breaches are reported, not the first alone"""
    rows = SMALL.with_rules(
        Rule(S.CANCELLED, E.OBSERVED, S.THINK, "once more"),
        Rule(S.VERIFY, E.SUPPORTED, S.DONE, "true"),
        Rule(S.OBSERVE, E.DENIED, S.POLICY, "stay"),
    )
    assert audit(rows) == in_any_order("CANCELLED", "VERIFY", "POLICY")


# mermaid

TINY = table(
    (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
    (S.OBSERVE, E.OBSERVED, S.THINK),
    (S.THINK, E.FINAL_ANSWER, S.DONE),
    (S.OBSERVE, E.CANCEL, S.CANCELLED),
)


def test_it_is_a_state_diagram(mermaid):
    """the first line says what kind of diagram it is"""
    assert mermaid(TINY).splitlines()[0] == "stateDiagram-v2"


def test_every_row_is_an_arrow(mermaid):
    """each row is an arrow from its source to its target, labelled with its event"""
    assert arrows(mermaid(TINY)) == [
        "THINK --> OBSERVE : tool_requested",
        "OBSERVE --> THINK : observed",
        "THINK --> DONE : final_answer",
        "OBSERVE --> CANCELLED : cancel",
    ]


def test_an_arrow_leads_to_the_start(mermaid):
    """one arrow leads from [*] to the start"""
    assert first_states(mermaid(TINY)) == ["THINK"]


def test_the_start_is_the_tables_own(mermaid):
    """the start is the table's start, whichever state that is"""
    screened = table((S.SCREEN, E.SUSPICIOUS, S.REFUSED), start=S.SCREEN)
    assert first_states(mermaid(screened)) == ["SCREEN"]


def test_an_arrow_leads_out_of_each_end(mermaid):
    """one arrow leads from each end of this table to [*]"""
    assert last_states(mermaid(TINY)) == ["CANCELLED", "DONE"]


@pytest.mark.parametrize("state", [S.OBSERVE, S.DONE])
def test_one_state_is_lit(mermaid, state):
    """the highlighted state, live or an end, gets the class now"""
    assert lit_states(mermaid(TINY, state)) == [state]


def test_without_a_highlight_nothing_is_lit(mermaid):
    """without a highlight no state gets a class"""
    assert lit_states(mermaid(TINY)) == []


def test_the_class_is_defined(mermaid):
    """a lit state needs a line `classDef now …` that says how it looks"""
    assert "classDef now " in mermaid(TINY, highlight=S.OBSERVE)


# the table as such, and the core


def test_a_table_shows_its_rows():
    """a table in an error message or a notebook shows its rows"""
    assert "THINK -final_answer-> DONE" in repr(TINY)


def test_the_words_of_a_table_need_no_escape():
    """states and events are words, so a diagram shows them as they are"""
    assert all(word.isidentifier() for word in (*State, *Event))


def test_the_core_is_honest():
    """the table of lesson 05 passes its own audit"""
    assert CORE.audit() == []


def test_a_table_holds_only_the_states_that_its_rows_mention():
    """states that no row mentions are not part of a table"""
    assert set(CORE.states) == {
        *(S.THINK, S.EXECUTE_TOOL, S.OBSERVE),
        *(S.DONE, S.ERROR, S.CANCELLED, S.EXHAUSTED),
    }


def test_more_rows_make_another_table():
    """a new row replaces the one for the same event, and the old table stays"""
    other = SMALL.with_rules(
        Rule(S.THINK, E.FINAL_ANSWER, S.VERIFY, "look first"),
        Rule(S.VERIFY, E.SUPPORTED, S.DONE, "true"),
        *exits(S.VERIFY),
        start=S.OBSERVE,
    )
    assert other.advance(S.THINK, E.FINAL_ANSWER) == S.VERIFY
    assert other.start == S.OBSERVE
    assert other.audit() == []
    assert SMALL.advance(S.THINK, E.FINAL_ANSWER) == S.DONE


def test_every_row_of_the_core_says_why():
    """each row says in words why it is there"""
    assert all(rule.why.strip() for rule in CORE.rules)


def test_ends_are_the_states_after_which_nothing_happens():
    """six of the thirteen states are ends"""
    assert len(State) == 13
    assert len(TERMINAL) == 6
