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
    """the expert sees each answer before it says it, and earns the full reward"""
    world = WikiWorld()
    assert task.text in world.reset(task)
    results = [world.step(action) for action in task.expert]
    seen = " ".join(result.text for result in results[:-1])
    assert any(answer in seen for answer in task.answers)
    assert not any(result.done for result in results[:-1])
    assert (results[-1].reward, results[-1].done) == (1.0, True)


def test_search_gives_the_first_five_sentences(wiki):
    """search gives the first five sentences of the article, and no more"""
    article = next(a for a in load_articles() if a.title == "Eiffel Tower")
    sentences = split_sentences(article.text)
    text = say(wiki, "search[Eiffel Tower]")
    assert text == " ".join(sentences[:5])
    assert sentences[5] not in text


@pytest.mark.parametrize(
    "action",
    [
        "Search[eiffel tower]",
        "SEARCH[ Eiffel  Tower ]",
        "  search[Ｅｉｆｆｅｌ Tower]\n",
    ],
)
def test_case_blanks_and_width_do_not_matter(wiki, action):
    """the verb and the title are found in any case, width and spacing"""
    assert say(wiki, action).startswith("The Eiffel Tower is an iron tower")


@pytest.mark.parametrize(
    ("title", "start"),
    [
        ("富士山", "富士山は日本で最も高い山である。標高"),
        ("长江", "长江是中国最长的河流。它"),
    ],
)
def test_japanese_and_chinese_titles(wiki, title, start):
    """titles in Japanese and Chinese are found, and sentences follow without a gap"""
    assert say(wiki, f"search[{title}]").startswith(start)


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [
        ("the Eifel tower", "Eiffel Tower"),
        ("Beethoven", "Ludwig van Beethoven"),
        ("Marie Curie's birthplace", "Marie Curie"),
        ("how far away from the Earth is the Moon in km", "Moon"),
        ("新幹線", "東海道新幹線"),
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
    """lookup also finds what stands after the fifth sentence"""
    text = say(wiki, "search[Mona Lisa]", "lookup[peruggia]")
    assert text == "(Result 1 / 1) Vincenzo Peruggia stole it on 21 August 1911."
    assert say(wiki, "lookup[peruggia]") == "No more results."


def test_lookup_goes_on_where_it_was(wiki):
    """the same lookup again gives the next match; another one begins anew"""
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
    assert "search[entity]" in say(wiki, "lookup[river]")
    assert "search[entity]" in say(
        wiki, "search[Danube]", "search[xx]", "lookup[river]"
    )


@pytest.mark.parametrize(
    ("answer", "reward"),
    [("Warsaw", 1.0), ("warsaw.", 1.0), ("Warsaw, Poland", 0.0), ("", 0.0)],
)
def test_finish_compares_exactly(wiki, answer, reward):
    """finish ends the run; only the same answer, once normalised, is rewarded"""
    result = wiki.step(f"finish[{answer}]")
    assert (result.reward, result.done) == (reward, True)


def test_finish_takes_the_best_of_several_answers():
    """any of the accepted answers will do"""
    task = next(task for task in wiki_tasks() if len(task.answers) > 1)
    for answer in task.answers:
        world = WikiWorld()
        world.reset(task)
        assert world.step(f"Finish[{answer}]").reward == 1.0


# the articles and the questions


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
