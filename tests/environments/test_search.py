"""Search over bundled articles: three languages, honest scores, any query legal."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workbook.environments.query_terms import coverage, in_pairs, runs, snippet, words
from workbook.environments.search import LocalSearch, Term, bundled_search, idf
from workbook.environments.web_search import wiki_search
from workbook.environments.wiki import Article, wiki_tasks
from workbook.tools.calls import ToolCall
from workbook.tools.registry import ToolRegistry

ARTICLES = [
    Article("e1", "Eiffel Tower", "The Eiffel Tower is in Paris. It is 330 m high."),
    Article("e2", "Mount Fuji", "Mount Fuji, a volcano in Japan, is 3,776 m high."),
    Article("e3", "Gustave Eiffel", "An engineer from Dijon. He built bridges. "
            "The tower in Paris carries the name Eiffel."),
    Article("e4", "Café", "A café sells coffee, and NOT only coffee. See O'Reilly*."),
    Article("j1", "富士山", "富士山は日本の最高峰である。高さは3776メートル。"),
    Article("j2", "東京タワー", "東京タワーは港区にある塔。高さは333メートル。"),
    Article("c1", "长城", "长城是中国古代的防御工程。总长两万多公里。"),
    Article("c2", "光速", "光速是光在真空中的速度。"),
]  # fmt: skip


@pytest.fixture(scope="module")
def local():
    return LocalSearch(ARTICLES)


@pytest.mark.parametrize(
    ("query", "doc_id"),
    [
        ("How high is the Eiffel Tower?", "e1"),
        ("volcanoes", "e2"),
        ("cafe", "e4"),
        ("ＥＩＦＦＥＬ　ＴＯＷＥＲ", "e1"),
        ("富士山の高さは何メートルですか", "j1"),
        ("東京タワー", "j2"),
        ("タワー", "j2"),
        ("港区", "j2"),
        ("长城有多长？", "c1"),
        ("光速每秒多少公里", "c2"),
        ("塔", "j2"),
        ("城", "c1"),
        ("Tokyo 東京タワー", "j2"),
    ],
)
def test_the_right_article_comes_first(local, query, doc_id):
    """a question in any of three languages finds its article first"""
    assert local.search(query)[0].doc_id == doc_id


@pytest.mark.parametrize("query", ["塔", "港区", "光速", "山"])
def test_one_or_two_characters_are_enough(local, query):
    """a query shorter than a trigram finds what holds it, at the end of a run too"""
    expected = {a.doc_id for a in ARTICLES if query in a.title + a.text}
    assert {document.doc_id for document in local.search(query)} == expected


def test_scores_lie_between_0_and_1_and_vary(local):
    """scores of different matches differ, and none leaves 0 to 1"""
    scores = [document.score for document in local.search("Eiffel tower in Paris")]
    assert all(0 <= score <= 1 for score in scores)
    assert len(set(scores)) == len(scores) > 1


def test_half_a_match_scores_less_than_a_whole_one(local):
    """words that no article holds lower the score"""
    [whole, *_] = local.search("Eiffel")
    [half, *_] = local.search("Eiffel zebra quantum")
    assert half.score < whole.score / 2


def test_scores_can_be_compared_between_queries(local):
    """a longer query does not score higher for being longer"""
    [short, *_] = local.search("Fuji")
    [long, *_] = local.search("volcano Mount Fuji Japan")
    assert abs(short.score - long.score) < 0.25


def test_a_poor_match_stays_below_a_third(local):
    """an article that shares one word of many scores low"""
    [best, *_] = local.search("Which engineer painted the sunflowers in Arles?")
    assert best.score < 0.33


def test_the_score_is_the_formula():
    """one word in one of three equal texts: bm25 over its maximum, 1 / 2.2"""
    search = LocalSearch(
        Article(f"d{n}", "", text)
        for n, text in enumerate(["one two", "three four", "five six"])
    )
    [found] = search.search("one")
    assert found.score == round(1 / 2.2, 4)


def test_rare_words_say_more():
    """a term says more the fewer articles hold it, and never less than nothing"""
    values = [idf(100, holding) for holding in (0, 1, 10, 49, 90)]
    assert values == sorted(values, reverse=True)
    assert values[-1] > 0


def test_an_id_is_used_once():
    """two articles with the same doc_id are refused, by name"""
    twice = [Article("w1", "Paris", "a"), Article("w1", "Oslo", "b")]
    with pytest.raises(ValueError, match="doc_id 'w1'"):
        LocalSearch(twice)


def test_the_same_article_has_the_same_id_in_every_search(local):
    """a doc_id names the same article whatever was searched for"""
    titles = {a.doc_id: a.title for a in ARTICLES}
    found = [*local.search("Eiffel"), *local.search("Paris"), *local.search("高さ")]
    assert all(titles[document.doc_id] == document.title for document in found)


@pytest.mark.parametrize(
    "query",
    ['"', "AND", "NOT coffee", "a NEAR b", "O'Reilly*", "(", "title:x", "-", "^x",
     "{a}", "x;DROP TABLE words", "\x00", "\ud800", "col : *", "+", ""],
)  # fmt: skip
def test_search_syntax_is_only_text(local, query):
    """operators, quotes and brackets of the search engine are ordinary text"""
    assert isinstance(local.search(query), list)


def test_a_term_is_quoted():
    """a quote in a term is doubled, so that the term stays one phrase"""
    assert Term("words", 'a" OR b').match == '"a"" OR b"'


@given(st.text(st.characters(), max_size=80), st.integers(-2, 12))
@settings(max_examples=150, deadline=None)
def test_every_query_is_legal(query, k):
    """every string gives a list of at most k documents with scores from 0 to 1"""
    found = SHARED.search(query, k)
    assert len(found) <= max(k, 0)
    assert all(0 <= document.score <= 1 for document in found)


SHARED = LocalSearch(ARTICLES)


@pytest.mark.parametrize("query", ["", "...", "？！", "\u3000"])
def test_nothing_asked_is_nothing_found(local, query):
    """a query without words finds nothing"""
    assert local.search(query) == []


def test_the_best_k(local):
    """k documents at most, the best first"""
    everything = local.search("high 高さ", 8)
    assert [d.score for d in everything] == sorted(
        (d.score for d in everything), reverse=True
    )
    assert local.search("high 高さ", 2) == everything[:2]


def test_equal_scores_are_ordered_by_id():
    """the order does not depend on the order in which articles were added"""
    made = [Article(f"d{n}", "", "same words") for n in (3, 1, 2)]
    found = LocalSearch([*made, Article("x", "", "other")]).search("same")
    assert [document.doc_id for document in found] == ["d1", "d2", "d3"]


def test_it_answers_in_many_threads(local):
    """searches from several threads at once give what one search gives"""
    alone = local.search("Eiffel Tower")
    with ThreadPoolExecutor(8) as threads:
        found = list(threads.map(local.search, ["Eiffel Tower"] * 40))
    assert all(each == alone for each in found)


def test_stop_words_are_kept_when_there_is_nothing_else():
    """a query of nothing but stop words keeps them"""
    assert (words("The Who"), words("the tower")) == (["the", "who"], ["tower"])


def test_what_an_apostrophe_leaves_is_no_word():
    """the s of "What's" and "Fuji's" is no word of its own"""
    assert words("What's Mount Fuji’s height?") == ["mount", "fuji", "height"]


@pytest.mark.parametrize("query", ["Straße", "STRASSE", "strasse"])
def test_both_spellings_of_a_sharp_s_are_found(query):
    """ß and ss are the same letter to a search"""
    street = Article("s1", "Street", "Die Straße ist lang.")
    [found] = LocalSearch([street]).search(query)
    assert found.text == "Die Straße ist lang."


def test_kana_and_particles_separate():
    """hiragana and Chinese particles end a run; hiragana alone is kept"""
    assert runs("東京塔是什么？") == ["東京塔"]
    assert runs("とうきょう") == ["とうきょう"]


def test_the_last_character_is_indexed_alone():
    """the last character of a run can be found too"""
    assert in_pairs("东京塔 x 光") == "东京 京塔 塔 光"


def test_the_snippet_starts_at_the_best_sentence():
    """the snippet starts with the sentence that holds most of the terms"""
    text = "Paris is old. The tower is high. The end."
    assert snippet(text, ["tower", "high"]) == "The tower is high. The end."


def test_a_long_snippet_is_cut():
    """a snippet is no longer than its width, and shows that it was cut"""
    cut = snippet("word " * 100, ["word"], width=40)
    assert (len(cut) <= 40, cut[-1]) == (True, "…")


@pytest.mark.parametrize("query", ["", "zebra", "ﾀﾜｰ"])
def test_coverage_of_nothing_is_0(query):
    """a page that shares no term with the query covers none of it"""
    assert coverage(query, "Eiffel Tower", "In Paris.") == 0.0


def test_coverage_grows_with_mentions():
    """a title counts more than a text, and two mentions more than one"""
    text, twice = coverage("Fuji", "", "Fuji"), coverage("Fuji", "", "Fuji Fuji")
    assert 0 < text < twice < coverage("Fuji", "Fuji", "") < 1


def test_bundled_articles_answer_simple_questions():
    """a bundled question of one hop finds its article among the first three"""
    missed = []
    for task in (task for task in wiki_tasks() if task.hops == 1):
        found = bundled_search().search(task.text, 3)
        titles = [document.title for document in found]
        if task.titles[0] not in titles or found[0].score <= 0.4:
            missed.append((task.text, titles))
    assert missed == []


def test_as_a_tool():
    """as a tool, documents carry doc_id, title, text and score"""
    registry = ToolRegistry([wiki_search(LocalSearch(ARTICLES))])
    call = ToolCall("WikiSearch", {"query": "Eiffel Tower", "k": 1}, "call_1")
    [found] = registry.run(call).result["results"]
    assert set(found) == {"doc_id", "title", "text", "score"}
    assert found["doc_id"] == "e1"


@pytest.mark.parametrize(
    "arguments", [{"query": ""}, {"query": "x", "k": 11}, {"k": 1}]
)
def test_the_tool_keeps_its_limits(arguments):
    """an empty query or more than ten documents are refused"""
    registry = ToolRegistry([wiki_search(LocalSearch(ARTICLES))])
    observation = registry.run(ToolCall("WikiSearch", arguments, "call_1"))
    assert observation.error.kind == "invalid_arguments"
