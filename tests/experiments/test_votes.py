"""Lesson 11's tables: what votes of the recorded runs bring, and what they do not."""

import pytest

from workbook.experiments import votes
from workbook.experiments.votes import majority_at_k
from workbook.voting.consensus import consensus, vote
from workbook.voting.samples import pass_at_k


@pytest.mark.parametrize(
    ("answers", "k", "share"),
    [
        (["37655", "37655", "90", None], 3, 0.5),
        (["37655", "90"], 2, 0),
        (["37655", None, None], 3, 1),
        (["90", "90", "37655"], 1, 1 / 3),
    ],
    ids=["a draw in two", "a tie is no win", "silence is no vote", "one run"],
)
def test_the_right_answer_wins_where_others_have_fewer_votes(answers, k, share):
    """majority@k is the share of draws whose vote is right"""
    assert majority_at_k(answers, k, "aq12", vote) == pytest.approx(share)


def test_one_run_is_right_as_often_for_all_three():
    """For one run pass@k, majority@k and pass^k are the same; then they part"""
    lines = votes.at_k(vote, pass_at_k).groupby("k")[[*votes.LINES]].mean()
    assert lines.loc[1].tolist() == pytest.approx([0.37] * 3)
    assert lines.loc[5].tolist() == pytest.approx([0.6, 0.4, 0.15])


def test_agreement_is_found_for_all_sums():
    """A row a sum; not all sums on which all five runs agree are right"""
    found = votes.agreed(consensus)
    assert len(found) == len(votes.sums())
    all_say = found[found["say"] == 5]
    assert set(all_say["how"]) == {"unanimous"}
    assert (len(all_say), all_say["right"].sum()) == (5, 3)
