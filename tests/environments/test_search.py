"""Search over bundled articles: three languages, honest scores, any query legal."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.search import (
    LocalSearch,
    bundled_search,
    idf,
    pieces,
    snippet,
    wiki_search,
    words,
)
from workbook.environments.wiki import Article, wiki_tasks
from workbook.runtime.calls import ToolCall
from workbook.runtime.tools import ToolRegistry

ARTICLES = [
    Article("e1", "Eiffel Tower", "The Eiffel Tower is in Paris. It is 330 m high."),
    Article("e2", "Mount Fuji", "Mount Fuji, a volcano in Japan, is 3,776 m high."),
    Article("e3", "Gustave Eiffel", "An engineer from Dijon. He built bridges. "
            "The tower in Paris carries the name Eiffel."),
    Article("e4", "Café", "A café sells coffee, and NOT only coffee. See O'Reilly*."),
    Article("e5", "Street", "Die Straße ist lang."),
    Article("j1", "富士山", "富士山は日本の最高峰である。高さは3776メートル。"),
    Article("j2", "東京タワー", "東京タワーは港区にある塔。高さは333メートル。"),
    Article("c1", "长城", "长城是中国古代的防御工程。总长两万多公里。"),
    Article("c2", "光速", "光速是光在真空中的速度。"),
]  # fmt: skip
LOCAL = LocalSearch(ARTICLES)


@pytest.mark.parametrize(
    ("query", "doc_id"),
    [
        ("How high is the Eiffel Tower?", "e1"),
        ("volcanoes", "e2"),
        ("cafe", "e4"),
        ("STRASSE", "e5"),
        ("ＥＩＦＦＥＬ　ＴＯＷＥＲ", "e1"),
        ("富士山の高さは何メートルですか", "j1"),
        ("Tokyo 東京タワー", "j2"),
        ("长城有多长？", "c1"),
        ("光速每秒多少公里", "c2"),
    ],
)
def test_the_right_article_comes_first(query, doc_id):
    """a question in any of three languages finds its article first"""
    assert LOCAL.search(query)[0].doc_id == doc_id


@pytest.mark.parametrize("query", ["塔", "港区", "光速", "山"])
def test_one_or_two_characters_are_enough(query):
    """a query of one or two characters finds what holds it, and nothing else"""
    expected = {a.doc_id for a in ARTICLES if query in a.title + a.text}
    assert {document.doc_id for document in LOCAL.search(query)} == expected


def test_scores_can_be_compared_between_queries():
    """a longer query does not score higher; a word that nobody has lowers the score"""
    short, long, half = (
        LOCAL.search(query)[0].score
        for query in ("Fuji", "volcano Mount Fuji Japan", "Fuji zebra quantum")
    )
    assert abs(short - long) < 0.25
    assert half < short / 2
    scores = [document.score for document in LOCAL.search("Eiffel tower in Paris")]
    assert sorted(set(scores), reverse=True) == scores


@pytest.mark.parametrize("texts", ["one two,three four,five six", "一二,三四,五"])
def test_the_score_is_the_formula(texts):
    """one term, once, in one of three equal texts: bm25 over its maximum, 1 / 2.2"""
    made = [Article(f"d{n}", "", text) for n, text in enumerate(texts.split(","))]
    [found] = LocalSearch(made).search(texts[:3].strip(",三"))
    assert found.score == round(1 / 2.2, 4)


def test_rare_words_say_more():
    """a term says more the fewer articles hold it, and never less than nothing"""
    values = [idf(100, holding) for holding in (0, 1, 10, 49, 90)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


@given(st.text(st.characters(), max_size=80), st.integers(-2, 12))
@settings(max_examples=150, deadline=None)
def test_every_query_is_legal(query, k):
    """every string gives a list of at most k documents with scores from 0 to 1"""
    found = LOCAL.search(query, k)
    assert len(found) <= max(k, 0)
    assert all(0 <= document.score <= 1 for document in found)


@pytest.mark.parametrize("query", ["", "...", "？！", "\u3000", '"', "(", "\x00"])
def test_nothing_asked_is_nothing_found(query):
    """a query without words finds nothing, and none of it is syntax of the index"""
    assert LOCAL.search(query) == []
    found = LOCAL.search(f"coffee {query} NOT AND NEAR title:x*")
    assert found[0].doc_id == "e4"


def test_the_best_k_in_order():
    """the best first, equal ones by their id; fewer are the first of more"""
    everything = LOCAL.search("high 高さ", 8)
    assert LOCAL.search("high 高さ", 2) == everything[:2]
    made = [Article(f"d{n}", "", "same words") for n in (3, 1, 2)]
    found = LocalSearch([*made, Article("x", "", "other")]).search("same")
    assert [document.doc_id for document in found] == ["d1", "d2", "d3"]


def test_it_answers_in_many_threads():
    """searches from several threads at once give what one search gives"""
    alone = LOCAL.search("Eiffel Tower")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(LOCAL.search, ["Eiffel Tower"] * 40))
    assert all(each == alone for each in found)


def test_what_is_looked_up():
    """stop words and particles only where nothing else is; characters in pairs"""
    assert (words("The Who"), words("the tower")) == (["the", "who"], ["tower"])
    assert words("What's Mount Fuji’s height?") == ["mount", "fuji", "height"]
    assert pieces("東京塔是什么？ x 光") == ["東京", "京塔", "光"]
    assert pieces("とう") == ["とう"]


def test_the_snippet_starts_at_the_best_sentence():
    """the snippet starts with the sentence that holds most of the terms, and is cut"""
    text = "Paris is old. The tower is high. The end."
    assert snippet(text, ["tower", "high"]) == "The tower is high. The end."
    cut = snippet("word " * 100, ["word"], width=40)
    assert (len(cut) <= 40, cut[-1]) == (True, "…")


def test_bundled_articles_answer_simple_questions():
    """a bundled question of one hop finds its article among the first three"""
    for task in (task for task in wiki_tasks() if task.hops == 1):
        found = bundled_search().search(task.text, 3)
        assert task.titles[0] in [document.title for document in found]
        assert found[0].score > 0.4


def test_as_a_tool():
    """as a tool, documents carry doc_id, title, text and score; limits are kept"""
    registry = ToolRegistry([wiki_search()])
    call = ToolCall("WikiSearch", {"query": "Eiffel Tower", "k": 1}, "call_1")
    [found] = registry.run(call).result["results"]
    assert set(found) == {"doc_id", "title", "text", "score"}
    for wrong in ({"query": ""}, {"query": "x", "k": 11}, {"k": 1}):
        error = registry.run(ToolCall("WikiSearch", wrong, "call_1")).error
        assert error.kind == "invalid_arguments"
