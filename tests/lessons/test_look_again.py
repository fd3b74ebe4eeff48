"""A second look: what a loop of attempts, objections and notes must do."""

import pytest


def run(look_again, answers, objections, *attempts):
    """Return what came of it, the notes of each attempt, and what was objected to."""
    notes, seen = [], []

    def attempt(given):
        notes.append([*given])
        return answers[len(notes) - 1]

    def objection(answer):
        seen.append(answer)
        return objections[len(seen) - 1]

    return look_again(attempt, objection, *attempts), notes, seen


def test_the_first_attempt_has_no_notes(look_again):
    """the first attempt gets an empty list of notes"""
    assert run(look_again, ["88"] * 9, [None] * 9)[1][0] == []


def test_an_answer_without_objection_is_returned(look_again):
    """an answer to which the objection is None is returned; nothing else is tried"""
    result, notes, seen = run(look_again, ["88", "90"], [None, None], 2)
    assert (result, len(notes), seen) == ("88", 1, ["88"])


def test_an_objection_is_a_note(look_again):
    """each objection is a note; an attempt gets all notes so far, the oldest first"""
    result, (first, _, third), _ = run(
        look_again, ["1", "2", "3"], ["too low", "odd", None], 3
    )
    assert result == "3"
    assert third == [*first, "too low", "odd"]


@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_attempts_have_an_end(look_again, attempts):
    """there are at most `attempts` attempts, two by default"""
    given = ["1"] * 9, ["wrong"] * 9
    assert len(run(look_again, *given, attempts)[1]) == attempts
    assert len(run(look_again, *given)[1]) == 2


def test_an_answer_that_failed_is_none(look_again):
    """if there is an objection to the last answer too, the result is None"""
    assert run(look_again, ["1"] * 9, ["wrong"] * 9)[0] is None


def test_no_answer_is_looked_at_like_others(look_again):
    """an attempt without an answer (None) is shown to `objection` like any other"""
    result, _, seen = run(look_again, [None, "88"], ["no answer", None])
    assert (result, seen) == ("88", [None, "88"])


@pytest.mark.parametrize("attempts", [0, -2])
def test_no_attempts_are_refused(look_again, attempts):
    """`attempts` below 1 is a ValueError that says its value"""
    with pytest.raises(ValueError, match=str(attempts)):
        run(look_again, [], [], attempts)
