"""The table: what follows what, and whether it is honest."""

import re

import pytest

from tests.doubles import Like
from workbook.runtime.table import (
    CORE,
    Event,
    IllegalTransition,
    State,
    Table,
    Transition,
    drive,
)

S, E = State, Event


def table(*rows, start=S.THINK):
    """Return a table of (source, event, target) rows."""
    return Table(tuple(Transition(*row, why="because") for row in rows), start)


SMALL = table(
    (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
    (S.THINK, E.FINAL_ANSWER, S.DONE),
    (S.OBSERVE, E.OBSERVED, S.THINK),
    (S.OBSERVE, E.CANCEL, S.EXHAUSTED),
    (S.THINK, E.CANCEL, S.ERROR),
)


def sentence(*words, either=()):
    """Return what is equal to a text that names all `words`, and one of `either`."""

    def fits(other):
        named = set(re.findall(r"\w+", other)) if isinstance(other, str) else set()
        return named >= {*words} and (not either or not named.isdisjoint(either))

    names = filter(None, [*words, " or ".join(either)])
    return Like(f"a sentence that names {' and '.join(names)}", fits)


def in_any_order(*states):
    """Return as many sentences as there are states, each about one of them."""
    return [sentence(either=states)] * len(states)


# advance


def test_state_and_event_choose_the_row(advance):
    """return the target of the row with this state and this event: both must match"""
    assert advance(SMALL, S.THINK, E.FINAL_ANSWER) == S.DONE
    assert advance(SMALL, S.THINK, E.TOOL_REQUESTED) == S.OBSERVE
    assert advance(SMALL, S.OBSERVE, E.CANCEL) == S.EXHAUSTED
    assert advance(SMALL, S.THINK, E.CANCEL) == S.ERROR


@pytest.mark.parametrize(
    ("state", "event"),
    [(S.THINK, E.OBSERVED), (S.DONE, E.CANCEL), ("VERIFY", E.FINAL_ANSWER)],
)
def test_what_is_not_in_the_table_raises(advance, state, event):
    """without such a row, raise IllegalTransition; it names the state and the event"""
    with pytest.raises(IllegalTransition, match=rf"(?s)(?=.*{state})(?=.*{event})"):
        advance(SMALL, state, event)


def test_the_message_lists_what_would_be_legal(advance):
    """its message lists the events that have a row in this state, and no others"""
    with pytest.raises(IllegalTransition) as refused:
        advance(SMALL, S.OBSERVE, E.FINAL_ANSWER)
    message = str(refused.value)
    named = [event for event in ("observed", "cancel") if event in message]
    assert named == ["observed", "cancel"], f"of both, it lists {named}: {message!r}"
    assert "tool_requested" not in message, f"tool_requested has no row: {message!r}"


# audit


SOUND = table(
    (S.THINK, E.TOOL_REQUESTED, S.OBSERVE),
    (S.THINK, E.FINAL_ANSWER, S.DONE),
    (S.OBSERVE, E.OBSERVED, S.THINK),
)


LINE = table(
    (S.OBSERVE, E.OBSERVED, S.THINK), (S.THINK, E.FINAL_ANSWER, S.DONE), start=S.OBSERVE
)


@pytest.mark.parametrize("honest", [SMALL, SOUND, LINE], ids=["small", "sound", "line"])
def test_an_honest_table_has_no_breach(audit, honest):
    """a table that keeps all four gives []; two states may share an event"""
    assert audit(honest) == []


def test_two_rows_for_one_event(audit):
    """two rows for the same state and event: the sentence names both"""
    two = (*SOUND.rules, Transition(S.THINK, E.FINAL_ANSWER, S.ERROR, "or so"))
    assert audit(Table(two)) == [sentence("THINK", "final_answer")]


UNREACHED = (Transition("VERIFY", "supported", S.DONE, "true"),)
UNREACHED_PAIR = (
    Transition("VERIFY", "supported", "POLICY", "true"),
    Transition("POLICY", "denied", "VERIFY", "look again"),
    Transition("POLICY", "allowed", S.DONE, "fine"),
)


@pytest.mark.parametrize(
    ("rows", "states"),
    [(UNREACHED, ["VERIFY"]), (UNREACHED_PAIR, ["VERIFY", "POLICY"])],
)
def test_each_state_that_cannot_be_reached(audit, rows, states):
    """each state that no path from the start reaches: the sentence names it"""
    assert audit(SOUND.with_rules(*rows)) == in_any_order(*states)


DEAD_END = (Transition(S.THINK, "approval_needed", "PENDING_APPROVAL", "ask"),)
CIRCLE = (
    Transition(S.THINK, "drafted", "VERIFY", "look"),
    Transition("VERIFY", "unsupported", "POLICY", "ask"),
    Transition("POLICY", "allowed", "VERIFY", "again"),
)


@pytest.mark.parametrize(
    ("rows", "states"),
    [(DEAD_END, ["PENDING_APPROVAL"]), (CIRCLE, ["VERIFY", "POLICY"])],
)
def test_each_trap(audit, rows, states):
    """each live state from which no path reaches a terminal state: name it"""
    assert audit(SOUND.with_rules(*rows)) == in_any_order(*states)


def test_a_way_out_of_an_end(audit):
    """a row that leads out of a terminal state: name that state"""
    rows = SOUND.with_rules(Transition(S.DONE, "again", S.THINK, "once more"))
    assert audit(rows) == [sentence("DONE")]


def test_every_breach_is_reported(audit):
    """report every violation, not only the first"""
    rows = SOUND.with_rules(
        Transition("VERIFY", "supported", S.DONE, "true"),
        Transition(S.OBSERVE, "denied", "POLICY", "stay"),
    )
    assert audit(rows) == in_any_order("VERIFY", "POLICY")


# the table as such


def test_more_rows_make_another_table():
    """a new row replaces the one for the same event; the old table stays as it was"""
    other = SMALL.with_rules(
        Transition(S.THINK, E.FINAL_ANSWER, "VERIFY", "look first"),
        Transition("VERIFY", "unsupported", "REFUSED", "it is not so"),
        start=S.OBSERVE,
        ends={"REFUSED"},
    )
    assert other.advance(S.THINK, E.FINAL_ANSWER) == "VERIFY"
    assert (other.start, other.ends) == (S.OBSERVE, {*CORE.ends, "REFUSED"})
    assert (other.audit(), SMALL.ends) == ([], CORE.ends)
    assert SMALL.advance(S.THINK, E.FINAL_ANSWER) == S.DONE


def test_rows_may_be_written_as_plain_tuples():
    """a row of four texts is a Transition; a text is no set of ends"""
    plain = Table([("A", "go", "B", "why")], start="A", ends={"B"})
    assert plain.rows["A", "go"] == Transition("A", "go", "B", "why")
    assert repr(plain) == "<Table from A: A -go-> B>"
    with pytest.raises(TypeError, match="give a set"):
        Table((), "A", ends="OFF")


def test_an_advance_of_ones_own():
    """the emitted row has the state that it returned; the table is an equal one"""
    own = SMALL.using(advance=lambda table, state, event: S.DONE)
    emitted, handlers = [], {S.THINK: lambda run: E.TOOL_REQUESTED}
    end = drive(own, handlers, None, lambda row, _: emitted.append(row.target))
    assert (end, emitted, own == SMALL) == (S.DONE, [S.DONE], True)
