"""Lab 11: what a second look repairs and spoils, and what each way costs."""

from tests.experiments.watched import Watched
from workbook.experiments import other_ways, votes
from workbook.experiments.other_ways import Way
from workbook.voting.consensus import vote

ONE = votes.sums()["aq12"]  # 37655


def finish(answer):
    return f" It is {answer}.\nAction: Finish[{answer}]\n"


def test_a_second_look_sees_the_note():
    """The first answer is in the note's prompt, and the note in the second run's"""
    model = Watched([finish("37655"), "added.", finish("62345")])
    look = other_ways.second_look(ONE, model)
    assert look.answers == ["37655", "62345"]
    assert look.note == "I should have added."
    assert "Answer: 37655\nThis answer may be wrong." in model.prompts[1]
    assert f"{ONE.text} {look.note}" in model.prompts[2]


def test_who_acts_sees_the_plan():
    """The plan is in the actor's prompt, after the question"""
    model = Watched([" Subtract.", finish("37655")])
    way = other_ways.plan_and_act(ONE, model)
    assert (way.answers, way.note) == (["37655"], "Subtract.")
    assert f"{ONE.text} Subtract." in model.prompts[1]


LOOKS = {
    "aq12": Way(["37655", "62345"], [900, 1000]),
    "aq13": Way(["1", "58"], [900, 1000]),
}


def test_repaired_and_spoiled_are_counted():
    """A right answer that becomes wrong is lost, the other way is won"""
    found = other_ways.repaired(LOOKS)
    assert (found.won, found.lost, found.both, found.neither) == (1, 1, 0, 0)


def test_an_oracle_looks_only_where_it_is_wrong():
    """A right first answer stays, and costs one run"""
    looks = other_ways.with_an_oracle(LOOKS)
    assert looks == LOOKS | {"aq12": Way(["37655"], [900])}


def test_votes_get_as_many_tokens():
    """Each way has a row, and its tokens are all that it spent"""
    whole = {slug: Way(["1"], [900]) for slug in votes.sums()}
    ((name, tokens, right, *_),) = other_ways.against_votes({"one": whole}, vote).rows
    assert (name, tokens, right) == ("one", 18_000, 0)
