"""The audit of an answer: is there such a document, is it good, does it say so?"""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.grounding.evidence import (
    MOST_READ,
    Document,
    Support,
    audit_answer,
    evidence_of,
    references,
    what_differs,
)
from workbook.tools.calls import Observation, ToolError

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
FAINT = Document("d3", "Radium", 0.1, "Radium is a chemical element.")
TURM = Document("d4", "東京タワー", 0.9, "東京タワーの高さは333メートルである。")
FOUND = [FUJI, CANAL, FAINT, TURM]


def kinds(answer, evidence=FOUND, **options):
    return [str(each.kind) for each in audit_answer(answer, evidence, **options)]


@pytest.mark.parametrize(
    "claim",
    [
        "Mount Fuji is 3776 metres high",
        "Fuji's last eruption began in 1707",
        "Mount Fuji is the highest mountain in Japan and 3,776 m high",
        "The Suez Canal has no locks",
        "The canal does not have locks",
        "The Suez Canal opened on 17 November 1869 and is about 193 km long",
        "Mount Fuji is about 12,390 feet tall",
        "Mount Fuji is nearly 3.8 km high",
        "The Suez Canal did not open until 1869",
        "In Japan no mountain is higher than Mount Fuji",
    ],
)
def test_what_the_document_says_is_supported(claim):
    """other words for the same fact are supported, and two facts joined by "and" """
    assert what_differs(claim, [FUJI, CANAL]) == ""


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        ("Mount Fuji is 3,776 km high", "3776 km"),
        ("The last eruption of Mount Fuji began in 1770", "1770"),
        ("The Suez Canal opened on 17 December 1869", "December"),
        ("Hiroshige drew Mount Fuji in Edo", "Hiroshige"),
        ("Mount Fuji is the lowest mountain in Japan", "lowest"),
        ("The Suez Canal has locks", "not"),
        ("Mount Fuji is not the highest mountain in Japan", "not"),
        ("Mount Fuji is a beloved place for hikers", "words"),
        ("Mount Fuji is 3,776 feet high", "3776 ft"),
        ("The Suez Canal is about 193 miles long", "193 mile"),
        (f"Mount Fuji is {'very ' * 400}high", "characters"),
        ("It is so", "looked up"),
        ("3,776", "3776"),
    ],
)
def test_what_the_document_does_not_say_is_named(claim, named):
    """a changed number, unit, date, name or word, or a "not": the reason names it"""
    documents = [CANAL] if claim == "3,776" else [FUJI, CANAL]
    assert named in what_differs(claim, documents)


@pytest.mark.parametrize(
    ("claim", "named"),
    [
        ("In 1970 Italy beat Brazil", "Italy who beat"),
        ("Brazil was born after the war", "before"),
        ("Every player of Brazil beat Italy", "every"),
    ],
)
def test_who_does_it_and_how_much_of_it_is_compared(claim, named):
    """another one who does it, an opposite and an "every" are refused"""
    text = "Brazil beat Italy in 1970. Brazil was born before the war."
    assert named in what_differs(claim, [Document("d8", "Facts", 1.0, text)])


@pytest.mark.parametrize(
    "claim",
    [
        "Brazil was beaten by Italy in 1970",
        "Bell and Gray invented it",
        "杜甫比李白大11岁。",
    ],
)
def test_what_only_grammar_tells_is_accepted(claim):
    """a limit: who does it to whom in the passive, who did it with whom, and 比"""
    text = "Brazil beat Italy in 1970. Bell, who knew Gray, invented it."
    text += " 李白比杜甫大11岁。"
    assert what_differs(claim, [Document("d9", "T", 1.0, text)]) == ""


BRIDGE = Document(
    "d10", "Emma Roe", 1.0,
    "Emma Roe was a painter who was born in Ulm. From 1855 to 1870 she lived in exile."
    " She held 1,093 patents. Her son Max Roe painted The Gate in 1921. He sold it.",
)  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("Roe was in exile for fifteen years", True),
        ("Roe was in exile for sixteen years", False),
        ("Roe's exile was in the 19th century", True),
        ("Roe's exile was in the 18th century", False),
        ("Roe had more than two thousand patents", False),
        ("In 1855 Emma Roe began to live in exile", True),
        ("Emma Roe was a chemist", False),
        ("Roe's birthplace is Ulm", True),
        ("Max Roe lived in exile from 1855 to 1870", False),
    ],
)
def test_numbers_and_names_may_be_said_in_another_way(claim, is_said):
    """spans of years, centuries; a beginning, a trade, who "she" is"""
    assert (what_differs(claim, [BRIDGE]) == "") == is_said


def test_what_is_denied_is_compared_word_by_word():
    """a sentence that denies one thing does not deny the other thing in it"""
    gate = Document("d5", "Gate", 1.0, "The gate has no roof but a lock.")
    assert what_differs("The gate has no roof", [gate]) == ""
    assert "not" in what_differs("The gate has no lock", [gate])


def test_japanese_is_compared_by_pairs_of_characters():
    """a changed number in a Japanese sentence is found, with its unit"""
    assert kinds("東京タワーの高さは333メートルです。[d4]") == ["supported"]
    assert kinds("東京タワーの高さは343メートルです。[d4]") == ["not what it says"]


GENJI = Document(
    "d6",
    "源氏物語",
    1.0,
    "全部で54帖からなる。作者は紫式部である。主人公には弟君がいる。",
)


@pytest.mark.parametrize(
    ("claim", "is_said"),
    [
        ("源氏物語は五十四帖からなる", True),
        ("源氏物語は四十五帖からなる", False),
        ("源氏物語は紫式部の作", True),
        ("主人公には兄君がいる", False),
    ],
)
def test_numbers_and_opposites_may_be_characters(claim, is_said):
    """五十四 is 54, and an older brother is no younger one"""
    assert (what_differs(claim, [GENJI]) == "") == is_said


def test_the_nearest_sentence_decides():
    """a sentence that says less does not support what a nearer one contradicts"""
    text = (
        "Ganymede is the largest moon of Jupiter. Its moons Ganymede and Io are large."
    )
    moons = Document("d7", "Jupiter", 1.0, text)
    assert what_differs("Ganymede is the largest moon of Jupiter", [moons]) == ""
    assert "Io" in what_differs("Io is the largest moon of Jupiter", [moons])


@pytest.mark.parametrize("text", ["Abc of the ", "did not adopt ", "and it is 3 m "])
def test_a_megabyte_is_audited_in_a_second(text):
    """a sentence made to be slow is refused at once: nobody could check it"""
    start = time.process_time()
    [verdict] = audit_answer(text * (1_000_000 // len(text)) + "[d1].", FOUND)
    assert verdict.kind == "not what it says"
    assert time.process_time() - start < 1


@pytest.mark.parametrize("answer", ["Fuji is high.", "Fuji is 3,776 m high [d1]."])
def test_without_evidence_no_fact_passes(answer):
    """where nothing was found no claim is supported, and the reason says why"""
    [verdict] = audit_answer(answer, [])
    assert verdict.kind != "supported"
    assert "no search" in verdict.why


@pytest.mark.parametrize("answer", ["", "I do not know.", "分かりません。", "Hello!"])
def test_who_states_nothing_needs_nothing(answer):
    """an answer without a fact has no verdicts"""
    assert audit_answer(answer, []) == []


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
    [{}, {"result": "88"}, {"results": "none"}, {"results": [7, None, {}]},
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
    """each cited document once, by id and title; an invented one is not listed"""
    listed = references("A [d2]. B [d1, d9]. C [d2].", FOUND)
    assert listed == "[d2] Suez Canal\n[d1] Mount Fuji"
    assert references("A.", FOUND) == ""


def test_a_long_answer_is_not_read():
    """a megabyte is one unsupported claim, and of a document a part is read"""
    [verdict] = audit_answer("It is 3,776 m high [d1]. " * 40_000, FOUND)
    assert verdict.kind == Support.NOT_SAID
    assert "1,000,000" in verdict.why
    rows = [{"doc_id": "d1", "title": "", "score": 1.0, "text": "It is 3 m. " * 90_000}]
    [document] = evidence_of([Observation("", True, {"results": rows}, None)])
    assert len(document.text) == MOST_READ
