"""Recall: of all notes, those few that belong to a question."""

import pytest

from workbook.lessons.memory import Note


def note(text, made_at=0.0, id=1):
    return Note(id, "note", text, made_at)


def texts(found):
    """Return the text of each note."""
    return [each.text for each in found]


@pytest.mark.parametrize(
    ("question", "right", "other"),
    [
        ("Which seat do I prefer?", "a seat at the window", "tea without sugar"),
        ("Is there tea?", "tea, without sugar", "a team of three"),
        ("富士山の高さは?", "富士山は三千メートル", "母の誕生日は六月"),
        ("长江有多长?", "长江很长", "我不吃辣的菜"),
    ],
)
def test_a_shared_term_finds_a_note(recall, question, right, other):
    """a note is returned if it shares one of the `terms` with the question, else not"""
    notes = [note(other), note(right)]
    assert texts(recall(question, notes)) == [right]


@pytest.mark.parametrize(
    ("question", "notes"),
    [("tea", []), ("", ["tea"]), ("the", ["the"]), ("tea", ["", "..."])],
)
def test_where_there_is_nothing_nothing_is_found(recall, question, notes):
    """without notes, or without terms in them or in the question, the list is empty"""
    assert recall(question, [note(text) for text in notes]) == []


def test_at_most_k(recall):
    """the best `k` are returned, none for a `k` of 0 or less"""
    notes = [note("tea, bread, milk"), note("tea"), note("tea, bread")]
    best = ["tea", "tea, bread", "tea, bread, milk"]
    assert texts(recall("tea", notes)) == best
    assert texts(recall("tea", notes, 2)) == best[:2]
    assert texts(recall("tea", notes, 99)) == best
    assert recall("tea", notes, 0) == recall("tea", notes, -1) == []


def test_of_equals_the_newest_is_first(recall):
    """of equal scores the newest comes first; equal `made_at` keep their order"""
    old, new = note("tea at noon", 1.0, 1), note("noon tea", 3.0, 2)
    same = note("tea noon", 1.0, 3)
    assert recall("tea at noon?", [old, new, same]) == [new, old, same]
    assert recall("tea at noon?", [same, new, old]) == [new, same, old]


def test_a_rare_term_says_more(recall):
    """a term in few notes counts more than one in many; one in all still counts"""
    notes = [note("red cup"), note("red tea"), note("red box"), note("old hat")]
    assert texts(recall("A red hat?", notes))[0] == "old hat"
    assert len(recall("red", notes[:3])) == 3


def test_a_term_said_twice_counts_once(recall):
    """a term that the question says several times counts once"""
    notes = [note("rare milk"), note("tea bread"), note("tea cup")]
    question = "tea, tea, tea, tea or milk?"
    assert texts(recall(question, notes))[0] == "rare milk"


def test_further_mentions_add_less(recall):
    """further mentions of a term in a note add less and less, as `K1` says"""
    notes = [note("tea tea tea cup"), note("milk bread hat box")]
    found = texts(recall("tea, milk, bread", notes))
    assert found == ["milk bread hat box", "tea tea tea cup"]


@pytest.mark.parametrize(
    ("question", "best", "others"),
    [
        ("A cup or a box?", ["cup", "milk box"], []),
        ("Bread or milk?", ["bread bread", "milk"], []),
        ("Bread or tea?", ["tea", "bread cup bread hat bread"], ["cup", "hat"]),
    ],
)
def test_a_long_note_is_marked_down(recall, question, best, others):
    """a note longer than the mean of all notes scores lower, as `B` says"""
    notes = [note(text) for text in [*others, *reversed(best)]]
    assert texts(recall(question, notes)) == best
