"""The audit of an answer: is there such a document, is it good, does it say so?"""

import pytest

from workbook.lessons.grounding import Document

FUJI = Document("d1", "Mount Fuji", 0.8, "Mount Fuji is 3,776 m high. It is in Japan.")
CANAL = Document("d2", "Suez Canal", 0.7, "The Suez Canal opened in 1869.")
FAINT = Document("d3", "Radium", 0.1, "Radium is a chemical element.")
FOUND = [FUJI, CANAL, FAINT]


def kinds(verdicts):
    """Return the kind of each verdict, as a text."""
    return [str(each.kind) for each in verdicts]


def test_a_claim_without_a_citation_is_uncited(audit_answer):
    """a claim that cites nothing is UNCITED, even if a document says it"""
    assert kinds(audit_answer("Mount Fuji is 3,776 m high.", FOUND)) == ["uncited"]


@pytest.mark.parametrize("cited", ["[d9]", "[d1, d9]", "[d9, d3]"])
def test_a_document_that_nobody_found_is_an_unknown_id(audit_answer, cited):
    """a claim that cites even one document outside the evidence is UNKNOWN_ID"""
    answer = f"Mount Fuji is 3,776 m high {cited}."
    assert kinds(audit_answer(answer, FOUND)) == ["unknown id"]


def test_evidence_below_the_threshold_is_weak(audit_answer):
    """it is WEAK if no document it cites is good (scores the threshold or more)"""
    answer = "Radium is a chemical element [d3]."
    assert kinds(audit_answer(answer, FOUND)) == ["weak"]
    assert kinds(audit_answer(answer, FOUND, 0.1)) == ["supported"]
    assert kinds(audit_answer(answer, FOUND, threshold=0.11)) == ["weak"]


@pytest.mark.parametrize(
    "answer",
    ["Mount Fuji is 3,767 m high [d1].", "The Suez Canal opened in 1869 [d1].",
     "Radium is a chemical element [d3, d1]."],
)  # fmt: skip
def test_what_the_document_does_not_say(audit_answer, answer):
    """it is NOT_SAID if `what_differs` finds something for its good documents"""
    [verdict] = audit_answer(answer, FOUND)
    assert verdict.kind == "not what it says"
    assert "says “" in verdict.why, "why is not what `what_differs` returned"


@pytest.mark.parametrize(
    "answer",
    ["Mount Fuji is 3,776 m high [d1].", "The Suez Canal opened in 1869 [d1, d2].",
     "Mount Fuji is 3,776 m high [d1, d3]."],
)  # fmt: skip
def test_what_a_good_document_says_is_supported(audit_answer, answer):
    """it is SUPPORTED if one good document says it, even if it cites others too"""
    assert kinds(audit_answer(answer, FOUND)) == ["supported"]


def test_each_claim_has_its_verdict(audit_answer):
    """each claim gets its Verdict: claim, kind, a tuple of doc_ids, and a reason"""
    answer = "Mount Fuji is 3,776 m high [d1]. It is in Peru [d2, d1]."
    one, two = audit_answer(answer, iter(FOUND))
    assert one[:3] == ("Mount Fuji is 3,776 m high [d1].", "supported", ("d1",))
    assert two[:3] == ("It is in Peru [d2, d1].", "not what it says", ("d2", "d1"))
    assert one.why, "the first verdict has no reason"
    assert two.why, "the second verdict has no reason"


def test_without_evidence_no_fact_passes(audit_answer):
    """without evidence no claim is supported; an answer without claims gives []"""
    assert kinds(audit_answer("Fuji is high.", [])) == ["uncited"]
    assert kinds(audit_answer("It is high [d1].", [])) == ["unknown id"]
    assert kinds(audit_answer("Hi!", [])) == []


def test_other_claims_and_citations(audit_answer):
    """`split` cuts the claims, and `cite` finds the citations"""
    found = audit_answer(
        "Lead is soft|Fuji is 3,776 m high", FOUND, split=lambda text: text.split("|"),
        cite=lambda text: ["d1"] if "Fuji" in text else [],
    )  # fmt: skip
    assert kinds(found) == ["uncited", "supported"]
