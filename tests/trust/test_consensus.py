"""Consensus: what several runs say together, and how that was found."""

import threading
from dataclasses import replace

import pytest

from workbook.fsm.limits import Spent
from workbook.fsm.machine import Exit

ERROR = Exit("ERROR", "failed", None, Spent(), "t", "OSError: no line")


def runs(*answers):
    """Return an exit for each answer; None is one that was exhausted."""
    ends = [("DONE", "final_answer"), ("EXHAUSTED", "out_of_steps")]
    return [Exit(*ends[each is None], each, Spent(), "t") for each in answers]


def refuse(exits):
    raise AssertionError("the verifier was asked without need")


def test_what_all_runs_say(consensus):
    """what all runs say, as first given, is "unanimous"; no verifier is asked"""
    agreed = consensus(runs("$88", "88.0", "88"), refuse)
    assert (agreed.answer, agreed.how) == ("$88", "unanimous")


@pytest.mark.parametrize("other", [runs(None), [ERROR], [OSError()]], ids=["None", "ERROR", "raised"])  # fmt: skip  # noqa: E501
def test_all_runs_means_all(consensus, other):
    """a run without an answer, in ERROR, or that was raised, agrees with none"""
    agreed = consensus([*runs("88", "88"), *other])
    assert (agreed.answer, agreed.how) == ("88", "majority")


def test_the_verifier_chooses(consensus):
    """otherwise the answer that the verifier chooses is taken: "verifier" """
    agreed = consensus(runs("90", "90", "88"), lambda exits: "88.0")
    assert (agreed.answer, agreed.how) == ("88", "verifier")


def test_the_verifier_sees_the_runs(consensus):
    """the verifier is given the runs as they came, the failed ones with them"""
    given, seen = [*runs("90", "88", None), OSError()], []
    consensus(given, seen.append)
    assert seen == [given]


@pytest.mark.parametrize(
    ("verify", "said"),
    [
        (lambda exits: None, "inconclusive"),
        (lambda exits: 1 / 0, "ZeroDivisionError"),
        (lambda exits: threading.Event().wait(5), "0.02"),
        (lambda exits: "77", "77"),
        (None, "verifier"),
    ],
    ids=["None", "raises", "hangs", "another answer", "none there"],
)
@pytest.mark.parametrize("answers", [("90", "90", "88"), ("90", "88")])
def test_an_inconclusive_verifier_decides_nothing(consensus, verify, said, answers):
    """where `ask_verifier` (in `within_s`) gives None, votes decide; `why` says why"""
    agreed = consensus(runs(*answers), verify, 0.02)
    assert agreed.how == ("majority" if len(answers) == 3 else "none")
    assert said in agreed.why


@pytest.mark.parametrize("answers", ["aab", "aaab.", "aaa.."])
def test_more_than_half_of_all_runs(consensus, answers):
    """without a verifier's choice, the answer of more than half of ALL runs is taken"""
    given = [None if each == "." else f"city {each}" for each in answers]
    agreed = consensus(runs(*given))
    assert (agreed.answer, agreed.how) == ("city a", "majority")


@pytest.mark.parametrize("answers", ["ab", "aabb", "aabc", "aa..", "aab.."])
def test_half_is_not_enough(consensus, answers):
    """half of all runs, or less, is no answer: None, and "none" """
    given = [None if each == "." else f"city {each}" for each in answers]
    assert consensus(runs(*given))[:2] == (None, "none")


@pytest.mark.parametrize("given", [[], runs(None), [OSError(), ERROR]])
def test_nobody_answered(consensus, given):
    """where nobody answered it is None and "none", and no verifier is asked"""
    assert consensus(given, refuse)[:2] == (None, "none")


def test_how_it_was_counted_is_said(consensus):
    """`tally` is the vote of all runs, and `why` says how it was counted"""
    agreed = consensus([*runs("88", "90", None), replace(ERROR), OSError()])
    assert agreed.tally == ((("88", 1), ("90", 1)), 1, 2, True)
    assert "tie" in agreed.why
    assert "88" in agreed.why
