"""Which sentences of an answer state a fact, and what they cite."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.grounding.claims import find_citations, sentences, split_claims


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It is high. It is old.", ["It is high.", "It is old."]),
        ("It is high! It is old", ["It is high!", "It is old"]),
        ("富士山は高い。湖は深い。", ["富士山は高い。", "湖は深い。"]),
        ("长江很长。黄河也长！", ["长江很长。", "黄河也长！"]),
        ("It is 3.5 km in v1.2. So", ["It is 3.5 km in v1.2.", "So"]),
        ("Dr. Ito met J. S. Bach.", ["Dr. Ito met J. S. Bach."]),
        ("He left the U.S. He died.", ["He left the U.S.", "He died."]),
        ("Rivers, e.g. the Nile.", ["Rivers, e.g. the Nile."]),
        ("No. 5 is red.", ["No. 5 is red."]),
        ('He said "It is. It was." in May.', ['He said "It is. It was." in May.']),
        ("「はい。そうだ。」と言った。", ["「はい。そうだ。」と言った。"]),
        ("他说：“好。”然后走了。", ["他说：“好。”然后走了。"]),
        ("- Nile: 6,650 km\n- Rhine", ["Nile: 6,650 km", "Rhine"]),
        ("1. The Nile.\n2) The Rhine.", ["The Nile.", "The Rhine."]),
        ("a long\nsentence.\n\nNext", ["a long sentence.", "Next"]),
        ("Warsaw", ["Warsaw"]),
    ],
)
def test_an_answer_is_cut_into_its_sentences(answer, claims):
    """full stops of three languages part; abbreviations, decimals and quotes do not"""
    assert split_claims(answer) == claims


@pytest.mark.parametrize(
    "answer",
    ["It is high. [doc_1] It is old [doc_2, doc_3].", "高い。[doc_1]古い。【doc_2】",
     "High.[doc_1] Old.[2]", "- High. [doc_1]\n- Old. [doc_2]"],
)  # fmt: skip
def test_citations_stay_with_their_sentence(answer):
    """a citation behind the full stop belongs to the sentence before it"""
    assert [len(find_citations(claim)) > 0 for claim in split_claims(answer)] == [
        True
    ] * 2


@pytest.mark.parametrize(
    "answer",
    ["Is it high?", "高いですか。", "是吗？", "I think it is pretty.", "Hello there!",
     "In my view it is pretty.", "良い山だと思います。", "我觉得很美。", "谢谢！",
     "I do not know.", "I don’t know who built it.", "I'm sorry.", "分かりません。",
     "我不知道。", "Sure!", "Here are the facts:", "# A heading", "---", "", "[doc_1]",
     "Sources: [doc_1], [doc_2]", "```\nx = rows[1]. y\n```"],
)  # fmt: skip
def test_what_states_no_fact_is_no_claim(answer):
    """questions, opinions, greetings, refusals, headings and code are no claims"""
    assert split_claims(answer) == []


@pytest.mark.parametrize(
    "answer",
    ["I think it is 9,999 m high.", "In my view it is old [doc_1].", "Yes.",
     "I do not know the builder, but it is in Lyon.", "Sure, it is in Lyon.",
     "It is high, I think.", "The height: 3,776 m:", "Hi is the capital of Hawaii."],
)  # fmt: skip
def test_a_fact_is_not_hidden_by_the_words_around_it(answer):
    """a number, a citation or a "but" makes a claim of what looks like none"""
    assert split_claims(answer) == [answer]


@given(st.text(alphabet='aB1 .!?。！？"“”「」()[]\n-*`,'))
def test_no_letter_is_lost(text):
    """whatever the text, its sentences hold all its letters and digits in order"""
    kept = "".join(sentences(text))
    assert [c for c in kept if c.isalpha()] == [c for c in text if c.isalpha()]


HOSTILE = ["A is b. ", ". ", "[", "[1]", "“", '"', "(", "`", "```a", "\n", " ", "。",
           "a", "\n- ", ".[1] ", "「はい。」", "I think "]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hundred_thousand_characters_take_no_time(piece):
    """a long answer takes ten times as long as a tenth of it, not a hundred times"""
    started = time.thread_time()
    split_claims(piece * (100_000 // len(piece)))
    assert time.thread_time() - started < 1


@pytest.mark.parametrize(
    ("text", "doc_ids"),
    [
        ("It is high [doc_1].", ["doc_1"]),
        ("high [w068] [serper:9f3a] [wikipedia:ja:206]",
         ["w068", "serper:9f3a", "wikipedia:ja:206"]),
        ("high [1] [Doc 2] [doc-3] [^4] ［５］", [f"doc_{n}" for n in range(1, 6)]),
        ("high 【doc_2】 [doc_1, w3; w1、w2]", ["doc_2", "doc_1", "w3", "w1", "w2"]),
        ("twice [doc_1] [doc_2] [doc_1]", ["doc_1", "doc_2"]),
        ("高い[1]。", ["doc_1"]),
        ("a page [doc_1, p. 3]", ["doc_1"]),
        ("[sic] [emphasis added] [2019] [...] []", []),
        ("rows[1] and f(x)[2]", []),
        ("`rows [1]`\n```\n[doc_1]\n```", []),
    ],
)  # fmt: skip
def test_a_citation_is_a_doc_id_in_brackets(text, doc_ids):
    """each doc_id once, in order; no index of an array, no [sic], nothing in code"""
    assert find_citations(text) == doc_ids
