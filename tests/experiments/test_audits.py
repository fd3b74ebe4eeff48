"""What lesson 09 and its lab measure: errors of the audit, and what notes bring."""

import math
from collections import Counter

import pytest

from workbook.experiments import audits, recalls
from workbook.grounding.calibration import Cost
from workbook.grounding.evidence import Support, Verdict, audit_answer
from workbook.grounding.recall import recall
from workbook.runtime.script import Script
from workbook.stage import play

HELD_OUT = audits.labelled(audit_answer)


def test_the_set_is_large_enough():
    """At least 60 supported claims, half paraphrased, and 60 others of six kinds."""
    labels = Counter(row["label"] for row in HELD_OUT)
    forms = Counter(row["form"] for row in HELD_OUT if row["label"] == "supported")
    assert labels["supported"] >= 60
    assert forms["paraphrased"] == forms["close"]
    assert len(labels) == 7
    assert labels.total() - labels["supported"] >= 60


def test_most_of_what_is_wrong_is_refused_and_little_of_what_is_right():
    """Of the lesson's claims: so many of the wrong, so few of the right."""
    share = {row["rate"]: row["share"][1] for row in audits.rates(HELD_OUT)}
    assert share["recall"] >= 0.8
    assert round(share["false refusal"], 2) <= 0.1


@pytest.mark.parametrize(
    ("begins", "out"), [("Austen did not live", True), ("In Les Misérables", False)]
)
def test_a_word_matcher_errs_where_the_lesson_says_so(begins, out):
    """A true claim in other words is refused, swapped roles are accepted."""
    [row] = [row for row in HELD_OUT if row["claim"].startswith(begins)]
    assert row["refused"] is out
    assert (row["is"] == "supported") is out


def test_the_rates_are_shares_of_their_own_kind():
    """Of three wrong claims one is missed, of two right ones one is refused."""
    rows = [{"is": "unsupported", "refused": out} for out in (True, True, False)]
    rows += [{"is": "supported", "refused": out} for out in (True, False)]
    found = audits.rates(rows)
    names = ["recall", "false acceptance", "false refusal", "precision"]
    assert [row["rate"] for row in found] == names
    assert [row["of"] for row in found] == [3, 3, 2, 3]
    assert [row["share"][1] for row in found] == [2 / 3, 1 / 3, 1 / 2, 2 / 3]
    found = audits.rates([{"is": "unsupported", "refused": False}])
    assert [row["rate"] for row in found] == names[:2]  # no refusal, no precision


def test_a_claim_is_refused_unless_it_is_supported():
    """One verdict that is not SUPPORTED refuses a claim; no claim, no refusal."""
    audited = [[Verdict("", Support(kind), (), "")] for kind in ("weak", "supported")]
    for verdicts, out in zip([*audited, []], [True, False, False], strict=True):
        rows = audits.labelled(lambda answer, found: verdicts)  # noqa: B023
        assert rows[0]["refused"] is out


def test_half_is_a_bad_threshold_here():
    """Of 27 best documents 18 hold the answer, and 8 of these score 0.5 or more."""
    found = audits.best_documents()
    right = found[found["is right"]]
    assert (len(found), len(right), sum(right["score"] >= 0.5)) == (27, 18, 8)


def test_what_a_threshold_costs_is_told_and_drawn(capsys):
    """Between two scores a threshold costs what the next score does."""
    costs = [Cost(0.2, 0.0, 1.0), Cost(0.6, 0.5, 0.25), Cost(math.inf, 1.0, 0.0)]
    [axes] = audits.errors_at(costs, 0.1, 0.5).axes
    told = [text.get_text() for text in axes.get_legend().get_texts()]
    assert told == ["right ones refused", "wrong ones accepted", "chosen: 0.5"]
    assert capsys.readouterr().out == (
        "0.1: 0% of the right documents refused, 100% of the wrong ones accepted\n"
        "0.5: 50% of the right documents refused, 25% of the wrong ones accepted\n"
    )


def test_a_model_that_insists_is_told_why():
    """A row for each answer of a run, with what the audit says of it; then the end."""
    lie = "Mount Fuji is 3,767 m high [w068]."
    model = audits.insisting("height of Mount Fuji", lie)
    rows = audits.attempts(play("right_id_wrong_number", "grounded", model))
    assert [row["the model answers"] for row in rows] == [lie] * 3
    says = [row["the audit"].partition(" · ") for row in rows]
    assert [verdict for verdict, _, _ in says] == ["unsupported"] * 3
    assert all("3,776 m" in why for _, _, why in says)
    assert ["ends" in row for row in rows] == [False, False, True]
    assert rows[-1]["ends"].end["state"] == "REFUSED"


def test_answers_of_a_model_are_audited():
    """Of each answer: whether it cites, and whether its document says so."""
    model = Script(["Marie Curie was born in Warsaw [w001].", "In 1660."])
    rows = audits.answers(model, "", audit_answer, 2)
    assert [row["answer"] for row in rows][1] == "In 1660."
    assert [row["cites"] for row in rows] == [True, False]
    assert [row["supported"] for row in rows] == [True, False]
    shares = audits.counted(rows)
    assert [share for _, share, _ in shares.values()] == [0.5, 0.5]


def test_a_note_that_belongs_is_met_and_nothing_is_right_where_none_does():
    """What brings all notes meets each question, and is wrong where none belongs."""
    everything = recalls.found_by(lambda question, notes, k: list(notes))
    ways = {"all": everything, "no": recalls.found_by(lambda question, notes, k: [])}
    table = {row["kind"]: row for row in recalls.compared(ways)}
    assert (table["none"]["questions"], table["none"]["all"][1]) == (10, 1)
    assert (table["paraphrase"]["questions"], table["paraphrase"]["no"][1]) == (19, 0)
    assert recalls.right(ways) == {"all": 40, "no": 10}
    assert 0 < recalls.size(["a train"]) < recalls.size(["a train", "another"])


@pytest.mark.parametrize(
    ("told", "height"), [([], "3,776 m"), (["Please say each height in feet."], "feet")]
)
def test_a_run_goes_by_what_it_is_told(told, height):
    """A note is observed before the first turn, and changes the answer."""
    trace = recalls.fuji_run(told, {"recall": recall})
    assert height in trace.end["answer"]
    assert len(trace.of("observation")) == 1 + len(told)
