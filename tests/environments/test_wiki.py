"""The encyclopedia: search, lookup, finish, its articles and its questions."""

import re
from collections import Counter

import pytest

from workbook.environments.wiki import (
    WikiWorld,
    load_articles,
    split_sentences,
    wiki_tasks,
)

ARTICLES = load_articles()
BY_TITLE = {article.title: article for article in ARTICLES}
TASK = wiki_tasks()[0]  # Marie Curie was born in Warsaw


@pytest.fixture
def wiki():
    """An encyclopedia with a question asked."""
    world = WikiWorld()
    world.reset(TASK)
    return world


def say(world, *actions):
    """Take actions and return the last observation."""
    return [world.step(action).text for action in actions][-1]


@pytest.mark.parametrize("task", wiki_tasks(), ids=lambda t: t.slug)
def test_the_expert_finds_every_answer(task):
    """the expert sees an answer before it says it; each accepted one earns it all"""
    world = WikiWorld()
    assert task.text in world.reset(task)
    results = [world.step(action) for action in task.expert]
    seen = " ".join(result.text for result in results[:-1])
    assert any(answer in seen for answer in task.answers)
    assert not any(result.done for result in results[:-1])
    assert (results[-1].reward, results[-1].done) == (1.0, True)
    for answer in task.answers:
        world.reset(task)
        assert world.step(f"Finish[{answer}]").reward == 1.0


@pytest.mark.parametrize(
    "name", ["[eiffel tower]", "[ Eiffel  Tower ]", "[Ｅｉｆｆｅｌ Tower]"]
)
def test_search_gives_the_first_five_sentences(wiki, name):
    """the first five sentences; case, width and spacing of a title do not matter"""
    sentences = split_sentences(BY_TITLE["Eiffel Tower"].text)
    assert say(wiki, f"  SEARCH{name}\n") == " ".join(sentences[:5])
    found = say(wiki, "search[长江]")  # without a gap between sentences
    assert found.startswith("长江是中国最长的河流。它")


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("the Eifel tower", "Eiffel Tower"),
        ("Beethoven", "Ludwig van Beethoven"),
        ("how far away from the Earth is the Moon in km", "Moon"),
        ("诗人李白", "李白"),
    ],
)
def test_a_title_that_is_not_there(wiki, wrong, meant):
    """an unknown title is answered with five similar titles, the best first"""
    text = say(wiki, f"search[{wrong}]")
    head, _, titles = text.partition("Similar titles: ")
    assert head == f"Could not find [{wrong}]. "
    assert titles.startswith(f"{meant}; ")
    assert len(titles.removesuffix(".").split("; ")) == 5


def test_lookup_walks_the_whole_article(wiki):
    """each lookup gives the next match of the article; another one begins anew"""
    said = say(wiki, "search[Mona Lisa]", "lookup[peruggia]")  # its sixth sentence
    assert said == "(Result 1 / 1) Vincenzo Peruggia stole it on 21 August 1911."
    assert say(wiki, "lookup[peruggia]") == "No more results."
    assert say(wiki, "search[Danube]", "lookup[river]").startswith("(Result 1 / 2)")
    assert say(wiki, "lookup[river]").startswith("(Result 2 / 2)")
    assert say(wiki, "lookup[Vienna]").startswith("(Result 1 / 1)")
    assert say(wiki, "lookup[river]").startswith("(Result 1 / 2)")


def test_another_lookup_may_walk():
    """a lookup of one's own is given sentences, keyword and position"""
    world = WikiWorld(lookup=lambda *given: (f"{len(given[0])}, {given[1:]}", 7))
    world.reset(TASK)
    seen = say(world, "search[Danube]", "lookup[river]")
    assert seen.endswith(", ('river', 0)")
    assert say(world, "lookup[river]").endswith(", ('river', 7)")


def test_lookup_needs_an_open_article(wiki):
    """lookup without an open article says what to do first"""
    for before in ("think: of it", "search[xx]"):
        assert "search[entity]" in say(wiki, before, "lookup[river]")


@pytest.mark.parametrize(("answer", "reward"), [("warsaw.", 1), ("Warsaw, Poland", 0)])
def test_finish_compares_exactly(wiki, answer, reward):
    """finish ends the run; only the same answer, once normalised, is rewarded"""
    result = wiki.step(f"finish[{answer}]")
    assert (result.reward, result.done) == (reward, True)


def test_the_corpus_is_large_enough():
    """sixty articles in three languages, each with an id and a title of its own"""
    languages = Counter(article.lang for article in ARTICLES)
    assert set(languages) == {"en", "ja", "zh"}
    assert (len(ARTICLES) >= 60, min(languages.values()) >= 4) == (True, True)
    assert len({article.doc_id for article in ARTICLES}) == len(ARTICLES)
    assert len({article.title.casefold() for article in ARTICLES}) == len(ARTICLES)
    hops = Counter(task.hops for task in wiki_tasks())
    assert (hops[1], hops[2] >= 12) == (10, True)


def test_every_article_is_whole():
    """an article has five to nine sentences, and links to others that it names"""
    for article in ARTICLES:
        sentences, name = split_sentences(article.text), article.doc_id
        assert 5 <= len(sentences) <= 9, name
        ends = [len(s) > 6 and re.search(r"[.!?。！？]$", s) for s in sentences]
        assert all(ends), name
        assert set(article.links) <= BY_TITLE.keys() - {article.title}, name
        text = article.text.casefold()
        assert [t for t in article.links if t.casefold() not in text] == [], name


def test_every_question_can_be_answered():
    """each answer stands in the last article, and one gets there by the first"""
    for task in wiki_tasks():
        *before, last = articles = [BY_TITLE[title] for title in task.titles]
        assert len(articles) == task.hops, task.slug
        assert task.answers, task.slug
        assert all(answer in last.text for answer in task.answers), task.slug
        for first in before:
            assert last.title in first.text, task.slug
            assert last.title in first.links, task.slug
            assert last.title.casefold() not in task.text.casefold(), task.slug


def test_sentences_end_where_they_end():
    """a sentence ends at its mark; the point in 3.5 is none"""
    assert split_sentences("") == ()
    text = "It is 3.5 km. It is old. 富士山は高い。美しい！no end"
    assert split_sentences(text) == (
        *("It is 3.5 km.", "It is old.", "富士山は高い。", "美しい！", "no end"),
    )
