"""The audit of an answer: is there such a document, is it good, does it say so?"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.grounding.evidence import (
    MOST_READ,
    Document,
    audit_answer,
    evidence_of,
    references,
    what_differs,
)
from workbook.runtime.calls import Observation, ToolError

FUJI = Document(
    "d1", "Mount Fuji", 0.8,
    "Mount Fuji is the highest mountain in Japan. It is 3,776 m high. Its last eruption"
    " began in 1707. Hokusai drew it. He was born in Edo.",
)  # fmt: skip
CANAL = Document(
    "d2", "Suez Canal", 0.7,
    "The Suez Canal opened on 17 November 1869. It has no locks. It is about 193 km"
    " long.",
)  # fmt: skip
FOUND = [FUJI, CANAL]
LARGEST = "Ganymede is the largest moon of Jupiter"
# Of each document (title, text): claims, and what the audit names in each that is not
# said; "" for a claim that is.
CLAIMS = {
    ("Mount Fuji", FUJI.text): [
        ("Fuji's last eruption began in 1707", ""),
        ("Mount Fuji is the highest mountain in Japan and 3,776 m high", ""),
        ("Mount Fuji is about 12,390 feet tall", ""),
        ("In Japan no mountain is higher than Mount Fuji", ""),
        ("Mount Fuji is 3,776 km high", "3776 km"),
        ("The last eruption of Mount Fuji began in 1770", "1770"),
        ("Hiroshige drew Mount Fuji in Edo", "Hiroshige"),
        ("Mount Fuji is the lowest mountain in Japan", "lowest"),
        ("Mount Fuji is not the highest mountain in Japan", "not"),
        ("Mount Fuji is a beloved place for hikers", "words"),
        ("Mount Fuji is 3,776 feet high", "3776 ft"),
        (f"Mount Fuji is {'very ' * 400}high", "characters"),
        ("It is so", "looked up"),
    ],
    ("Suez Canal", CANAL.text): [
        ("The canal does not have locks", ""),
        ("The Suez Canal opened on 17 November 1869 and is about 193 km long", ""),
        ("The Suez Canal did not open until 1869", ""),
        ("The Suez Canal opened on 17 December 1869", "December"),
        ("The Suez Canal has locks", "not"),
        ("3,776", "3776"),
    ],
    ("Facts", "Brazil beat Italy in 1970. Brazil was born before the war."): [
        ("In 1970 Italy beat Brazil", "Italy who beat"),
        ("Brazil was born after the war", "before"),
        ("Every player of Brazil beat Italy", "every"),
    ],
    # A limit: who does it to whom in the passive, who did it with whom, and 比.
    ("Bell", "Brazil beat Italy. Bell, who knew Gray, made it. 李白比杜甫大11岁。"): [
        ("Brazil was beaten by Italy", ""),
        ("Bell and Gray made it", ""),
        ("杜甫比李白大11岁。", ""),
    ],
    (
        "Emma Roe",
        "Emma Roe was a painter who was born in Ulm. From 1855 to 1870 she lived in"
        " exile. She held 1,093 patents. Her son Max Roe painted The Gate in 1921. He"
        " sold it.",
    ): [
        ("Roe was in exile for fifteen years", ""),
        ("Roe was in exile for sixteen years", "16 year"),
        ("Roe's exile was in the 18th century", "18 century"),
        ("Roe had more than two thousand patents", "2 thousand"),
        ("In 1855 Emma Roe began to live in exile", ""),
        ("Emma Roe was a chemist", "words"),
        ("Roe's birthplace is Ulm", ""),
        ("Max Roe lived in exile from 1855 to 1870", "no Max"),
    ],
    ("Gate", "The gate has no roof but a lock."): [
        ("The gate has no roof", ""),
        ("The gate has no lock", "not"),
    ],
    ("源氏物語", "全部で54帖からなる。作者は紫式部である。主人公には弟君がいる。"): [
        ("源氏物語は五十四帖からなる", ""),
        ("源氏物語は四十五帖からなる", "45"),
        ("源氏物語は紫式部の作", ""),
        ("主人公には兄君がいる", "弟"),
    ],
    ("東京タワー", "東京タワーの高さは333メートルである。"): [
        ("東京タワーの高さは333メートルです。", ""),
        ("東京タワーの高さは343メートルです。", "343"),
    ],
    # A sentence that says less does not support what a nearer one contradicts.
    ("Jupiter", f"{LARGEST}. Its moons Ganymede and Io are large."): [
        (LARGEST, ""),
        ("Io is the largest moon of Jupiter", "Io"),
    ],
}


@pytest.mark.parametrize(
    ("about", "claim", "named"),
    [(about, *each) for about, claims in CLAIMS.items() for each in claims],
)
def test_a_claim_is_held_against_its_document(about, claim, named):
    """other words for a fact are supported; of another fact is named what is changed"""
    title, text = about
    found = what_differs(claim, [Document("d", title, 1.0, text)])
    assert (found == "") == (named == "")
    assert named in found


@pytest.mark.parametrize("text", ["Abc of the ", "did not adopt ", "and it is 3 m "])
def test_a_megabyte_is_audited_in_a_second(text):
    """a sentence made to be slow is refused at once: nobody could check it"""
    start = time.process_time()
    [verdict] = audit_answer(text * (1_000_000 // len(text)) + "[d1].", FOUND)
    assert verdict.kind == "not what it says"
    assert time.process_time() - start < 1


@pytest.mark.parametrize("answer", ["Fuji is high.", "Fuji is 3,776 m high [d1]."])
def test_without_evidence_the_reason_says_so(answer):
    """where nothing was found the reason is that there was no search"""
    [verdict] = audit_answer(answer, [])
    assert "no search" in verdict.why


@given(st.text(max_size=200))
def test_any_answer_can_be_audited(text):
    """no answer raises; each claim gets one verdict with a reason"""
    verdicts = audit_answer(f"{text} [d1]", FOUND)
    assert all(each.why and each.kind for each in verdicts)


def seen(result, ok=True):
    error = None if ok else ToolError("timeout", "late")
    return Observation("c", ok, result, error)


def row(doc_id, score, text, **more):
    return {"doc_id": doc_id, "title": "T", "score": score, "text": text, **more}


def test_the_evidence_is_what_the_searches_gave():
    """of a document found twice both texts count, once each, and its best score"""
    first = seen({"results": [row("a", 0.2, "One."), row("b", 1, "B.")]})
    again = seen({"results": [row("a", 0.6, "Two."), row("a", 0.1, "One.")]})
    a, b = evidence_of([first, seen(None, ok=False), again])
    assert (a.doc_id, a.score, "One." in a.text, "Two." in a.text) == ("a", 0.6, 1, 1)
    assert a.text.count("One.") == 1
    assert (b.doc_id, b.score) == ("b", 1.0)


@pytest.mark.parametrize(
    "result",
    [{}, {"results": "none"}, {"results": [7, None, {}]},
     {"results": [{"doc_id": 3, "score": 1}]}, {"results": [row("a", "high", "x")]}],
)  # fmt: skip
def test_another_result_is_no_evidence(result):
    """what is not a document with an id and a score is passed over"""
    assert evidence_of([seen(result)]) == []


def test_a_score_that_is_no_number_is_the_least():
    """NaN is a score of 0"""
    [document] = evidence_of([seen({"results": [row("a", float("nan"), "x")]})])
    assert document.score == 0.0


def test_references_are_what_is_cited_and_was_found():
    """each cited document once, by id and title; an invented one is not listed

    Nor is a title with an address: it is a stranger's text.
    """
    found = [*FOUND, Document("d3", "![x](//evil.example)", 1.0, "")]
    listed = references("A [d2]. B [d1, d9]. C [d2, d3].", found)
    assert listed == "[d2] Suez Canal\n[d1] Mount Fuji\n[d3]"
    assert references("A.", FOUND) == ""


def test_of_a_long_document_a_part_is_read():
    """of a document the first characters are read"""
    long = {"results": [row("d1", 1.0, "It is 3 m. " * 9_000)]}
    assert len(evidence_of([seen(long)])[0].text) == MOST_READ
