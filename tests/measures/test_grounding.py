"""What lesson 09 and its lab measure: how good the audit is, and what notes do."""

import pytest

from workbook.lessons.evaluation import interval
from workbook.lessons.grounding import audit_answer
from workbook.lessons.memory import recall
from workbook.measures import grounding as measured
from workbook.runtime.script import Script
from workbook.stage import play


# Supported and unsupported claims, by set: how many there are, how many are refused.
@pytest.mark.parametrize(
    ("name", "supported", "unsupported"),
    [
        ("claims_audit", (332, 45), (337, 304)),  # the matcher was written on these
        ("held_out", (72, 7), (72, 58)),
        ("blind", (59, 3), (56, 48)),
    ],
)
def test_most_unsupported_claims_are_refused_and_few_others(
    name, supported, unsupported
):
    """the figures that lesson 09 quotes; `-s` prints them by kind"""
    rows = list(measured.labelled(audit_answer, name))
    for row in rows:
        row["is"] = "supported" if row["label"] == "supported" else "unsupported"
    refused = {"supported": supported, "unsupported": unsupported}
    for row in measured.shares(rows, "refused", "label"):
        print(f"{name:13}{row['label']:18} {row['of']:3}", end=" ")
        print(*(f"{share:.1%}" for share in row["refused"]))
    for row in measured.shares(rows, "refused", "is"):
        of, most = refused[row["is"]]
        assert (row["of"], round(row["refused"][1] * of)) == (of, most)


def test_answers_of_a_model_are_audited():
    """of each answer: whether it cites, and whether its document says so"""
    model = Script(["Marie Curie was born in Warsaw [w001].", "In 1660."])
    rows = list(measured.answers(model, "", audit_answer, 2))
    assert [row["answer"] for row in rows][1] == "In 1660."
    assert [(row["cites"], row["supported"]) for row in rows] == [(1, 1), (0, 0)]
    assert next(measured.shares(rows, "cites")) == {"of": 2, "cites": interval([1, 0])}


def test_a_model_that_insists_reads_why():
    """a row for each answer of a run, with its audit; the last one has the end"""
    lie = "Mount Fuji is 3,767 m high [w068]."
    model = measured.insisting("height of Mount Fuji", lie)
    rows = measured.attempts(play("right_id_wrong_number", "grounded", model))
    assert [row["the model answers"] for row in rows] == [lie] * 3
    assert all(row["the audit"].startswith("unsupported") for row in rows)
    assert rows[-1]["ends"].end["state"] == "REFUSED"


@pytest.mark.parametrize(
    ("notes", "height"), [([], "3,776 m"), (["Say each height in feet."], "feet")]
)
def test_a_run_goes_by_the_notes_that_it_reads(notes, height):
    """a note is observed before the first turn, and changes the answer"""
    trace = measured.fuji_run(notes, {"recall": recall})
    assert height in trace.end["answer"]
    assert len(trace.of("observation")) == 1 + len(notes)
