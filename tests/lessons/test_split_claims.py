"""The claims of an answer: which of its sentences state a fact."""

import pytest


def test_each_sentence_with_a_fact_is_a_claim(split_claims):
    """each sentence, with its citations, is a claim unless a rule below excludes it"""
    assert split_claims("It is high. It is old.") == ["It is high.", "It is old."]
    assert split_claims("Dr. Ito says it is 3.5 km. It is.") == [
        "Dr. Ito says it is 3.5 km.",
        "It is.",
    ]
    assert split_claims("富士山は高い。湖は深い。") == ["富士山は高い。", "湖は深い。"]
    assert split_claims("- Nile: 6,650 km\n- Rhine") == ["Nile: 6,650 km", "Rhine"]
    assert split_claims("High. [doc_1] Old.[2]") == ["High. [doc_1]", "Old.[2]"]


@pytest.mark.parametrize(
    "answer",
    ["Is it high?", "Is it high [doc_1]?", "Hello there!", "谢谢！", "# A heading",
     "Here are the facts:", "Sources: [doc_1], [doc_2]", "[doc_1]", "---", ""],
)  # fmt: skip
def test_what_states_no_fact_is_no_claim(split_claims, answer):
    """a sentence in which `NO_FACT` finds something is no claim, even if it cites"""
    assert split_claims(answer) == []


def test_an_opinion_is_no_claim(split_claims):
    """an opinion of taste (`OPINION` finds something) is no claim"""
    assert split_claims("I think it is pretty.") == []
    assert split_claims("I think it is a [sic] pretty hill.") == []
    assert split_claims("良い山だと思います。") == []


@pytest.mark.parametrize(
    "answer", ["I do not know.", "I do not know 3 of them.", "我不知道。"]
)
def test_who_does_not_know_claims_nothing(split_claims, answer):
    """an "I do not know" (`REFUSAL` finds something) is no claim, even with a digit"""
    assert split_claims(answer) == []


@pytest.mark.parametrize(
    "answer", ["In my view it is pretty [doc_1].", "I do not know why, they say [w3]."]
)
def test_what_cites_is_a_claim(split_claims, answer):
    """an opinion or an "I do not know" that cites a document is a claim"""
    assert split_claims(answer) == [answer]


@pytest.mark.parametrize(
    "answer",
    ["I do not know who built it, but it is in Lyon.", "I think so, but it is old.",
     "I do not know much and it is in Lyon.", "Sorry, it is in Lyon."],
)  # fmt: skip
def test_a_fact_may_follow(split_claims, answer):
    """an opinion or an "I do not know" that goes on (`TURN` finds it) is a claim"""
    assert split_claims(answer) == [answer]


def test_none_in_nothing(split_claims):
    """claims keep the answer's order; a sentence that is there twice comes twice"""
    assert split_claims("B is. Hi! A is. B is.") == ["B is.", "A is.", "B is."]
