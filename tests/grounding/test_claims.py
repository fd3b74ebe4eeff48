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
     "Sources: [doc_1], [doc_2]", "```\nx = rows[1]. y\n```", "## 2. Height of Fuji",
     "### 概要", "The following is known:", "Which tower do you mean?",
     "Did you know who built it?", "Is it high, or is it old?", "いつ生まれましたか。",
     "I find it really charming.", "I think you should visit it.",
     "我觉得这本书很有趣。",
     "I'm sorry, but I do not know.", "I do not know who built it and when it opened.",
     "I could not find the name, date, or place.", "The documents do not say it.",
     "I cannot answer, because the search did not find anything.",
     "申し訳ありませんが、分かりません。", "抱歉，我不知道。"],
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


@pytest.mark.parametrize(
    "answer",
    ["## The tower is 500 m high", "# Eiffel built it in Lyon",
     "## Oslo: 900,000 people", "## Paris was founded by Romans",
     "The tower is in Lyon:", "## 东京塔位于大阪"],
)  # fmt: skip
def test_a_heading_that_states_something_is_a_claim(answer):
    """a verb or a number makes a claim of a heading, and of a line with a colon"""
    assert split_claims(answer) == [answer]


@pytest.mark.parametrize(
    "answer",
    ["Did you know that it is 500 m high?", "Did you know the tower is in Lyon?",
     "Isn't it so that it is in Lyon?", "It is in Lyon, isn't it?", "It is in Lyon?",
     "Who does not know that it is in Lyon?", "Is the tower not in Lyon?",
     "Can you believe that Bob built it?", "Why is it 500 m high?",
     "東京タワーは大阪にありますよね？", "東京タワーが大阪にあることをご存じですか？",
     "你知道吗，东京塔位于大阪？", "难道东京塔不是位于大阪吗？"],
)  # fmt: skip
def test_a_question_that_states_something_is_a_claim(answer):
    """only a question that begins as one and has no "that …" or ", isn't it" asks"""
    assert split_claims(answer) == [answer]


@pytest.mark.parametrize(
    "answer",
    ["In my opinion, it is in Lyon.", "I think the tower was built by Bob.",
     "I think that Bob built it, a beautiful tower.",
     "I feel it is a fine sight of Lyon.",
     "東京タワーは大阪にあると思います。", "我认为东京塔位于大阪。"],
)  # fmt: skip
def test_an_opinion_that_states_something_is_a_claim(answer):
    """an opinion is one of taste, with no name behind it: "I think it is pretty" """
    assert split_claims(answer) == [answer]


@pytest.mark.parametrize(
    "turn", [", and", " and", ",", ";", ":", " –", " (", " because"]
)
@pytest.mark.parametrize(
    "hedge", ["I do not know much", "I'm sorry", "I cannot say who drew it", "Sorry"]
)
def test_a_refusal_that_goes_on_with_a_fact_is_a_claim(hedge, turn):
    """whatever joins them, a sentence with a verb behind a hedge is a claim"""
    assert split_claims(f"{hedge}{turn} the tower is in Lyon")


@pytest.mark.parametrize(
    "answer",
    ["I cannot deny that it is in Lyon.", "I know nothing except that it is in Lyon.",
     "詳しくは分かりませんが、大阪にあります。", "我不知道很多，东京塔位于大阪。"],
)  # fmt: skip
def test_no_other_hedge_hides_a_fact(answer):
    """nor do "I cannot deny that", "except that", and their like in other languages"""
    assert split_claims(answer) == [answer]


@given(st.text(alphabet='aB1 .!?。！？"“”「」()[]\n-*`,'))
def test_no_letter_is_lost(text):
    """whatever the text, its sentences hold all its letters and digits in order"""
    kept = "".join(sentences(text))
    assert [c for c in kept if c.isalpha()] == [c for c in text if c.isalpha()]


HOSTILE = ["A is b. ", ". ", "[", "[1]", "“", '"', "(", "`", "```a", "\n", " ", "。",
           "a", "\n- ", ".[1] ", "「はい。」", "I think ",
           "I do not know, "]  # fmt: skip


@pytest.mark.parametrize("piece", HOSTILE)
def test_a_hundred_thousand_characters_take_no_time(piece):
    """a long answer takes ten times as long as a tenth of it, not a hundred times"""
    started = time.thread_time()
    split_claims(piece * (100_000 // len(piece)))
    assert time.thread_time() - started < 1
