"""Which sentences of an answer state a fact, and what they cite."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workbook.grounding.claims import sentences, split_claims


@pytest.mark.parametrize(
    ("answer", "claims"),
    [
        ("It is high! It is old", ["It is high!", "It is old"]),
        ("长江很长。黄河也长！", ["长江很长。", "黄河也长！"]),
        ("It is 3.5 km in v1.2. So", ["It is 3.5 km in v1.2.", "So"]),
        ("He met J. S. Bach.", ["He met J. S. Bach."]),
        ("He left the U.S. He died.", ["He left the U.S.", "He died."]),
        ("Rivers, e.g. the Nile.", ["Rivers, e.g. the Nile."]),
        ("No. 5 is red.", ["No. 5 is red."]),
        ('He said "It is. It was." in May.', ['He said "It is. It was." in May.']),
        ("「はい。そうだ。」と言った。", ["「はい。そうだ。」と言った。"]),
        ("他说：“好。”然后走了。", ["他说：“好。”然后走了。"]),
        ("1. The Nile.\n2) The Rhine.", ["The Nile.", "The Rhine."]),
        ("a long\nsentence.\n\nNext", ["a long sentence.", "Next"]),
        ("High. [1] Old [2, 3].", ["High. [1]", "Old [2, 3]."]),
        ("高い。[doc_1]古い。【doc_2】", ["高い。[doc_1]", "古い。【doc_2】"]),
        ("- High. [1]\n- Old. [2]", ["High. [1]", "Old. [2]"]),
    ],
)
def test_an_answer_is_cut_into_its_sentences(answer, claims):
    """full stops of three languages part; abbreviations, decimals and quotes do not"""
    assert split_claims(answer) == claims


@pytest.mark.parametrize(
    "answer",
    ["高いですか。", "是吗？", "我觉得很美。", "I don’t know who built it.",
     "I'm sorry.", "分かりません。", "Sure!", "```\nx = rows[1]. y\n```",
     "## 2. Height of Fuji", "### 概要", "The following is known:",
     "Which tower do you mean?", "Did you know who built it?",
     "Is it high, or is it old?", "いつ生まれましたか。", "I find it really charming.",
     "I think you should visit it.", "我觉得这本书很有趣。",
     "I'm sorry, but I do not know.", "I do not know who built it and when it opened.",
     "I could not find the name, date, or place.", "The documents do not say it.",
     "I cannot answer, because the search did not find anything.",
     "申し訳ありませんが、分かりません。", "抱歉，我不知道。"],
)  # fmt: skip
def test_what_states_no_fact_is_no_claim(answer):
    """questions, opinions, greetings, refusals, headings and code are no claims"""
    assert split_claims(answer) == []


HIDDEN = [
    "I think it is 9,999 m high.", "Yes.", "It is high, I think.",
    "The height: 3,776 m:", "Hi is the capital of Hawaii.",
]  # fmt: skip
HEADINGS = [
    "## The tower is 500 m high", "# Eiffel built it in Lyon",
    "## Oslo: 900,000 people", "The tower is in Lyon:", "## 东京塔位于大阪",
]  # fmt: skip
QUESTIONS = [
    "Did you know that it is 500 m high?", "Did you know the tower is in Lyon?",
    "Isn't it so that it is in Lyon?", "It is in Lyon, isn't it?", "It is in Lyon?",
    "Who does not know that it is in Lyon?", "Is the tower not in Lyon?",
    "Can you believe that Bob built it?", "Why is it 500 m high?",
    "東京タワーは大阪にありますよね？", "東京タワーが大阪にあることをご存じですか？",
    "你知道吗，东京塔位于大阪？", "难道东京塔不是位于大阪吗？",
]  # fmt: skip
OPINIONS = [
    "In my opinion, it is in Lyon.", "I think the tower was built by Bob.",
    "I think that Bob built it, a beautiful tower.",
    "I feel it is a fine sight of Lyon.",
    "東京タワーは大阪にあると思います。", "我认为东京塔位于大阪。",
]  # fmt: skip
REFUSALS = [
    "I cannot deny that it is in Lyon.", "I know nothing except that it is in Lyon.",
    "詳しくは分かりませんが、大阪にあります。", "我不知道很多，东京塔位于大阪。",
]  # fmt: skip
TURNS = [", and", " and", ",", ";", ":", " –", " (", " because"]
HEDGES = ["I do not know much", "I'm sorry", "I cannot say who drew it", "Sorry"]
REFUSALS += [
    f"{hedge}{turn} the tower is in Lyon" for hedge in HEDGES for turn in TURNS
]


@pytest.mark.parametrize("answer", HIDDEN + HEADINGS + QUESTIONS + OPINIONS + REFUSALS)
def test_a_fact_is_not_hidden_by_the_words_around_it(answer):
    """a verb, a number or a name makes a claim of what looks like none

    Of a heading, of a question that says "that …" or ", isn't it", of an opinion that
    is not one of taste, and of a refusal, whatever joins the fact to it.
    """
    assert split_claims(answer) == [answer]


@given(st.text(alphabet='aB1 .!?。！？"“”「」()[]\n-*`,'))
def test_no_letter_is_lost(text):
    """whatever the text, its sentences hold all its letters and digits in order"""
    kept = "".join(sentences(text))
    assert [c for c in kept if c.isalpha()] == [c for c in text if c.isalpha()]


@pytest.mark.parametrize(
    "piece",
    ["A is b. ", ". ", "[", "[1]", "“", '"', "(", "`", "```a", "\n", " ", "。", "a",
     "\n- ", ".[1] ", "「はい。」", "I think ", "I do not know, "],
)  # fmt: skip
def test_a_hundred_thousand_characters_take_no_time(piece):
    """a long answer takes ten times as long as a tenth of it, not a hundred times"""
    started = time.thread_time()
    split_claims(piece * (100_000 // len(piece)))
    assert time.thread_time() - started < 1
