"""Consensus: what several runs say together, and how that was found."""

import threading

import pytest

from tests.doubles import named
from workbook.lessons.self_consistency import Agreed, answer_of, vote
from workbook.runtime.machine import RunResult


class Run(RunResult):
    def __repr__(self):
        return f"<{self.state}: {self.answer or self.message}>"


ERROR = Run("ERROR", "failed", None, "OSError: no line", None)


def runs(*answers):
    """Return an exit for each answer; None is one that was exhausted."""
    return [
        Run("EXHAUSTED", "out_of_steps", None, "no answer", None)
        if each is None
        else Run("DONE", "final_answer", each, "", None)
        for each in answers
    ]


def chooses(answer):
    return named(f"verifier that chooses {answer!r}", lambda exits: answer)


def agree(consensus, *given):
    """Return what it returns; a plain tuple will do."""
    return Agreed(*consensus(*given))


def alone(consensus, given):
    """Return what runs say together, of which no verifier has to be asked."""
    asked = []
    agreed = agree(consensus, given, named("verifier", asked.append))
    assert asked == [], "the verifier was asked without need"
    return agreed


def test_what_all_runs_say(consensus):
    """what all runs say, as first given, is "unanimous", and no verifier is asked"""
    agreed = alone(consensus, tuple(runs("$88", "88.0", "88")))
    assert (agreed.answer, agreed.how) == ("$88", "unanimous")


@pytest.mark.parametrize("other", [runs(None), [ERROR], [OSError()]], ids=["None", "ERROR", "raised"])  # fmt: skip  # noqa: E501
def test_all_runs_means_all(consensus, other):
    """a run without an answer, one in ERROR, and an exception agree with no other"""
    agreed = agree(consensus, [*runs("88", "88"), *other])
    assert (agreed.answer, agreed.how) == ("88", "majority")


def test_the_verifier_chooses(consensus):
    """otherwise the answer that the verifier chooses is taken, as "verifier" """
    agreed = agree(consensus, runs("90", "90", "88"), chooses("88.0"))
    assert (agreed.answer, agreed.how) == ("88", "verifier")


def test_the_verifier_sees_the_runs(consensus):
    """the verifier is given all runs as they came, also those that failed"""
    given, seen = [*runs("90", "88", None), OSError()], []
    consensus(given, named("verifier", seen.append))
    why = f"the verifier was given {seen}, once {given} is expected"
    assert [list(each) for each in seen] == [given], why


@pytest.mark.parametrize(
    ("verify", "said"),
    [
        (chooses(None), "inconclusive"),
        (named("verifier that raises", lambda exits: 1 / 0), "ZeroDivisionError"),
        (named("verifier that hangs", lambda exits: threading.Event().wait(5)), "0.02"),
        (chooses("77"), "77"),
    ],
    ids=["None", "raises", "hangs", "another answer"],
)
@pytest.mark.parametrize("answers", [("90", "90", "88"), ("90", "88")])
def test_an_inconclusive_verifier_decides_nothing(consensus, verify, said, answers):
    """if `ask_verifier` (`within_s`) gives None, votes decide; `why` has its reason"""
    agreed = agree(consensus, runs(*answers), verify, 0.02)
    assert agreed.how == ("majority" if len(answers) == 3 else "none")
    assert said in agreed.why, f"{agreed.why!r} lacks the verifier's reason"


@pytest.mark.parametrize("answers", ["aab", "aaab.", "aaa.."])
def test_more_than_half_of_all_runs(consensus, answers):
    """without a choice, what more than half of ALL runs say is taken: "majority" """
    given = [None if each == "." else f"city {each}" for each in answers]
    agreed = agree(consensus, runs(*given))
    assert (agreed.answer, agreed.how) == ("city a", "majority")


@pytest.mark.parametrize("answers", ["ab", "aabb", "aabc", "aa..", "aab.."])
def test_half_is_not_enough(consensus, answers):
    """if no answer has more than half of all runs, it is None and "none" """
    given = [None if each == "." else f"city {each}" for each in answers]
    assert agree(consensus, runs(*given))[:2] == (None, "none")


@pytest.mark.parametrize("given", [[], runs(None), [OSError(), ERROR]])
def test_nobody_answered(consensus, given):
    """if nobody answered it is None and "none", and no verifier is asked"""
    assert alone(consensus, given)[:2] == (None, "none")


def test_how_it_was_counted_is_said(consensus):
    """`tally` is the vote of all runs, and `why` contains `str(tally)`"""
    for given in ([*runs("88", "90", None), ERROR, OSError()], runs("88", "88.0")):
        agreed = agree(consensus, given)
        assert agreed.tally == vote([answer_of(each) for each in given])
        words = str(agreed.tally)
        assert words in agreed.why, f"why is {agreed.why!r}, and lacks {words!r}"
