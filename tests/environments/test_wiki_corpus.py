"""The articles and the questions: what search and evaluation may rely on."""

import re
from collections import Counter

import pytest

from workbook.environments.wiki import load_articles, split_sentences, wiki_tasks

ARTICLES = load_articles()
BY_TITLE = {article.title: article for article in ARTICLES}


def faults_of(article):
    """Return what is wrong with an article, in words."""
    sentences = split_sentences(article.text)
    if not 5 <= len(sentences) <= 9:
        yield f"{len(sentences)} sentences"
    for sentence in sentences:
        if len(sentence) <= 6 or not re.search(r"[.!?。！？]$", sentence):
            yield f"no whole sentence: {sentence}"
    for title in article.links:
        if title not in BY_TITLE or title == article.title:
            yield f"links to {title}"
        if title.casefold() not in article.text.casefold():
            yield f"does not name {title}"


def faults_in(task):
    """Return what is wrong with a question, in words."""
    *_, last = articles = [BY_TITLE[title] for title in task.titles]
    if len(articles) != task.hops:
        yield f"{len(articles)} articles for {task.hops} hops"
    if not task.answers or not all(answer in last.text for answer in task.answers):
        yield f"an answer does not stand in {last.title}"
    if task.hops == 2:
        if last.title not in articles[0].text or last.title not in articles[0].links:
            yield f"{articles[0].title} does not lead to {last.title}"
        if last.title.casefold() in task.text.casefold():
            yield f"the question gives {last.title} away"


def test_the_corpus_is_large_enough():
    """there are sixty articles or more, at least four in Japanese and in Chinese"""
    languages = Counter(article.lang for article in ARTICLES)
    assert len(ARTICLES) >= 60
    assert set(languages) == {"en", "ja", "zh"}
    assert min(languages.values()) >= 4


def test_ids_and_titles_are_unique():
    """an article has an id and a title that no other has"""
    assert len({article.doc_id for article in ARTICLES}) == len(ARTICLES)
    assert len({article.title.casefold() for article in ARTICLES}) == len(ARTICLES)


def test_questions_of_both_kinds():
    """there are ten one-hop questions and at least twelve two-hop ones"""
    hops = Counter(task.hops for task in wiki_tasks())
    assert hops[1] == 10
    assert hops[2] >= 12


def test_every_article_is_whole():
    """an article has five to nine sentences, and links to others that it names"""
    assert [(a.doc_id, fault) for a in ARTICLES for fault in faults_of(a)] == []


def test_every_question_can_be_answered():
    """an answer stands in the last article, and one gets there by the first"""
    assert [(t.slug, fault) for t in wiki_tasks() for fault in faults_in(t)] == []


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
