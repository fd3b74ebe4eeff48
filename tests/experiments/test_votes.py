"""Lesson 11's tables: what votes of the recorded runs bring, and what they do not."""

from itertools import combinations

import pytest

from workbook.experiments import votes
from workbook.experiments.votes import Plain, majority_at_k, pass_hat_k
from workbook.models.script import Script
from workbook.voting.consensus import consensus, vote
from workbook.voting.samples import ask_k, pass_at_k


def test_a_model_without_a_machine():
    """Chains of thought are sampled in the same way, and a trace says its seed"""

    def make(seed):
        model = Script([f"So.\nAnswer: {80 + seed // 2}"])
        return Plain("cot", model, about={"temperature": 0.7}, exemplars=[])

    runs = ask_k(make, "12 * 7?", 3)
    assert vote([each.answer for each in runs]).votes == (("81", 2), ("80", 1))
    assert {each.state for each in runs} == {"DONE"}
    started = [each.trace.of("run_started")[0] for each in runs]
    assert [(each["seed"], each["temperature"]) for each in started] == [
        (n, 0.7) for n in (1, 2, 3)
    ]


@pytest.mark.parametrize("k", range(1, 6))
def test_all_of_k_as_often_as_they_are_drawn(k):
    """pass^k is the share of draws in which all are right"""
    drawn = list(combinations([True, True, True, True, False], k))
    assert pass_hat_k(5, 4, k) == pytest.approx(sum(map(all, drawn)) / len(drawn))


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
    assert len({line[0] for line in lines.values()}) == 1
    assert lines["pass@k"][4] > lines["majority@k"][4] > lines["pass^k"][4]


def test_agreement_is_counted_over_all_sums():
    """Each sum is in one row, by how its runs agreed; not all that agree are right"""
    rows = votes.by_agreement(consensus).rows
    assert sum(int(row[1]) for row in rows) == len(votes.sums())
    assert rows[0][0] == "5 of 5, unanimous"
    assert int(rows[0][2]) < int(rows[0][1])
