"""The articles and the questions: what search and evaluation may rely on."""

import re

import pytest

from workbook.props.wiki import load_articles, split_sentences, wiki_tasks

ARTICLES = load_articles()
BY_TITLE = {article.title: article for article in ARTICLES}
EACH_ARTICLE = pytest.mark.parametrize("article", ARTICLES, ids=lambda a: a.doc_id)
EACH_TASK = pytest.mark.parametrize("task", wiki_tasks(), ids=lambda t: t.slug)
TWO_HOPS = pytest.mark.parametrize(
    "task", [t for t in wiki_tasks() if t.hops == 2], ids=lambda t: t.slug
)


def test_the_corpus_is_large_enough():
    """there are sixty articles or more, at least four in Japanese and in Chinese"""
    languages = [article.lang for article in ARTICLES]
    assert len(ARTICLES) >= 60
    assert languages.count("ja") >= 4
    assert languages.count("zh") >= 4
    assert set(languages) == {"en", "ja", "zh"}


def test_ids_and_titles_are_unique():
    """an article has an id and a title that no other has"""
    assert len({article.doc_id for article in ARTICLES}) == len(ARTICLES)
    assert len({article.title.casefold() for article in ARTICLES}) == len(ARTICLES)


@EACH_ARTICLE
def test_an_article_has_five_to_nine_sentences(article):
    """an article has five to nine whole sentences"""
    sentences = split_sentences(article.text)
    assert 5 <= len(sentences) <= 9
    assert all(re.search(r"[.!?。！？]$", sentence) for sentence in sentences)
    assert all(len(sentence) > 6 for sentence in sentences)


@EACH_ARTICLE
def test_links_lead_to_articles_that_the_text_names(article):
    """a link leads to another article, and the text names it"""
    for title in article.links:
        assert title in BY_TITLE
        assert title != article.title
        assert title.casefold() in article.text.casefold()


def test_questions_of_both_kinds():
    """there are ten one-hop questions and at least twelve two-hop ones"""
    hops = [task.hops for task in wiki_tasks()]
    assert hops.count(1) == 10
    assert hops.count(2) >= 12
    assert all(len(task.titles) == task.hops for task in wiki_tasks())


@EACH_TASK
def test_the_answer_stands_in_the_article(task):
    """each accepted answer stands in the last article that the question needs"""
    text = BY_TITLE[task.titles[-1]].text
    assert task.answers
    assert all(answer in text for answer in task.answers)


@TWO_HOPS
def test_the_second_article_is_named_by_the_first(task):
    """one gets from the first article to the second by its text"""
    first, second = BY_TITLE[task.titles[0]], BY_TITLE[task.titles[1]]
    assert second.title in first.text
    assert second.title in first.links


@TWO_HOPS
def test_a_two_hop_question_does_not_name_the_second_article(task):
    """a two-hop question does not give the second article away"""
    assert task.titles[1].casefold() not in task.text.casefold()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ()),
        ("It is 3.5 km long. It is old.", ("It is 3.5 km long.", "It is old.")),
        ("富士山は高い。美しい！", ("富士山は高い。", "美しい！")),
        ("no end", ("no end",)),
    ],
)
def test_sentences_end_where_they_end(text, expected):
    """a sentence ends at its mark; the point in 3.5 is none"""
    assert split_sentences(text) == expected
