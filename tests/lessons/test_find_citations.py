"""What a text cites."""

import pytest


def test_a_citation_is_a_doc_id_in_brackets(find_citations):
    """what `BRACKETS` finds is returned if the whole of it matches `DOC_ID`"""
    assert find_citations("It is high [doc_1].") == ["doc_1"]
    assert find_citations("high [w068] [serper:9f3a] [wikipedia:ja:206]") == [
        "w068",
        "serper:9f3a",
        "wikipedia:ja:206",
    ]
    assert find_citations("高い【w068】。") == ["w068"]
    assert find_citations("[^w4] ［w5］") == ["w4", "w5"]
    assert find_citations("[2019]") == []


def test_each_once_in_the_order_of_their_mention(find_citations):
    """each doc_id is returned once, in the order of first mention"""
    assert find_citations("A [w3] [w1]. B [w2] [w3].") == ["w3", "w1", "w2"]
    assert find_citations("[doc_3] and [3]") == ["doc_3"]


@pytest.mark.parametrize("text", ["[w3, w1; w2]", "[w3,w1 ;w2 ]"])
def test_several_in_one_pair_of_brackets(find_citations, text):
    """one pair of brackets may hold several, separated by commas or semicolons"""
    assert find_citations(text) == ["w3", "w1", "w2"]


@pytest.mark.parametrize("text", ["[3]", "[Doc 3]", "[doc-3]"])
def test_a_number_is_the_document_of_that_number(find_citations, text):
    """`[3]` and `[Doc 3]`, where the match has a `number`, are returned as doc_3"""
    assert find_citations(text) == ["doc_3"]


def test_other_words_are_no_citation(find_citations):
    """other words in brackets are ignored, also beside a doc_id"""
    assert find_citations("[sic] [emphasis added] [...] []") == []
    assert find_citations("a page [w3, p. 7]") == ["w3"]


@pytest.mark.parametrize(
    "text", ["`rows [1]`", "```\n[doc_1]\n```", "rows[1] and f(x)[2]"]
)
def test_code_cites_nothing(find_citations, text):
    """code (`CODE` finds it) cites nothing"""
    assert find_citations(text) == []
    assert find_citations(f"{text} [w3]") == ["w3"]
