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
    lines = votes.curves(vote, pass_at_k)
    assert lines.loc[1].tolist() == pytest.approx([37] * 3)
    assert lines.loc[5].tolist() == pytest.approx([60, 40, 15])


def test_agreement_is_counted_over_all_sums():
    """Each sum is in one row, by how its runs agreed; not all that agree are right"""
    rows = votes.by_agreement(consensus).rows
    assert sum(int(row[1]) for row in rows) == len(votes.sums())
    assert rows[0][0] == "5 of 5, unanimous"
    assert int(rows[0][2]) < int(rows[0][1])
