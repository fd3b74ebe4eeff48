"""Votes: what is one answer, who abstains, what has failed, where there is a tie."""

import pytest

from workbook.lessons.self_consistency import Tally


def test_each_answer_with_its_votes_most_first(vote):
    """`votes`: each answer as first given, with its number of votes, most first"""
    votes = vote(["Osaka", "Kyoto", "kyoto."]).votes
    assert votes == (("Kyoto", 2), ("Osaka", 1))


def test_equal_votes_stand_as_given(vote):
    """answers with equal votes keep the order in which they were first given"""
    votes = vote(["Osaka", "Kyoto", "Nara", "Aomori"]).votes
    assert votes == (("Osaka", 1), ("Kyoto", 1), ("Nara", 1), ("Aomori", 1))


@pytest.mark.parametrize(
    "same",
    [
        ["$1,692", "1692.0", "1692 dollars", "１，６９２", "1 692 USD", "**1692**."],
        ["The Nile", "nile.", "  NILE "],
        ["5 km", "5 kilometres", "５キロメートル", "5 公里"],
        ["「京都」", "京都。"],
        ["−3.50", "-3.5"],
        ["3 million", "3,000,000", "300万"],
        ["A", "a", "A."],
    ],
    ids=["a number", "words", "a unit", "Japanese", "a sign", "in words", "a letter"],
)
def test_answers_with_one_meaning_are_one(vote, same):
    """answers with the same `meaning` are one answer"""
    assert vote(same).votes == ((same[0], len(same)),)


@pytest.mark.parametrize(
    "other",
    [["3.5", "35"], ["-5", "5"], ["--5", "5"], ["5 m/s", "5 ms"], ["-$-5", "$5"],
     ["5 km", "5 m"], ["$5", "€5"], ["3.5 to 4", "35 to 4"]],
)  # fmt: skip
def test_answers_with_other_meanings_are_not(vote, other):
    """a different sign, decimal point or unit makes a different answer"""
    assert dict(vote(other).votes) == {other[0]: 1, other[1]: 1}


def test_a_number_joins_the_only_unit(vote):
    """a number without a unit joins that number with a unit, if it is the only unit"""
    assert vote(["5", "5 km", "6 m", "5 kilometres"]).votes == (("5", 3), ("6 m", 1))


def test_a_number_beside_two_units_stands_alone(vote):
    """if two units are given for a number, the number without a unit stands alone"""
    votes = vote(["5", "5 m", "5 km", "5"]).votes
    assert dict(votes) == {"5": 2, "5 m": 1, "5 km": 1}


@pytest.mark.parametrize("nothing", [None, "", " ", "…"])
def test_without_an_answer_it_abstains(vote, nothing):
    """None abstains, and so does a text whose `meaning` is None"""
    assert vote([nothing, "88", nothing]) == Tally((("88", 1),), 2, 0, False)


def test_what_was_raised_has_failed(vote):
    """an exception counts as failed, not as abstained"""
    given = [ValueError("no model"), "88", OSError("no line")]
    assert vote(given) == Tally((("88", 1),), 0, 2, False)


@pytest.mark.parametrize(
    ("answers", "tied"),
    [("aabb", True), ("abc", True), ("aabbc", True), ("aabc", False), ("", False)],
)
def test_a_tie_is_said(vote, answers, tied):
    """it is `tied` if two or more answers share the most votes; never without votes"""
    assert vote([f"city {each}" for each in answers]).tied is tied
