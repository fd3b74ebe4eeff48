"""How good is a recall? Labelled questions, by words and by the local model's vectors.

Notes and questions were written before either way was tried on them. With -s the
figures are printed.
"""

import json

import pytest

from workbook.evaluation.statistics import (
    paired_difference,
    paired_interval,
    wilson_interval,
)
from workbook.grounding.recall import Note, RecallByMeaning, recall
from workbook.models.embeddings import embed
from workbook.paths import DATA

K = 3


def rows(name):
    lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


QUESTIONS = rows("lessons/09/memory_questions.jsonl")
RIGHT = {row["slug"]: row["text"] for row in rows("lessons/09/memory_notes.jsonl")}
NOTES = [
    Note(number, row["kind"], row["text"], float(number))
    for number, row in enumerate(rows("lessons/09/memory_notes.jsonl"))
]


def hits(way, kind=None, lang=None):
    """Return for each question to which a note belongs whether a right one is found."""
    return [
        any(RIGHT[slug] in [note.text for note in found] for slug in row["right"])
        for row, found in zip(QUESTIONS, way, strict=True)
        if row["right"] and kind in (None, row["kind"]) and lang in (None, row["lang"])
    ]


def needless(way):
    """Return for each question to which no note belongs whether one is found."""
    found = zip(QUESTIONS, way, strict=True)
    return [bool(notes) for row, notes in found if not row["right"]]


def answers(recall):
    return [recall(row["text"], NOTES, K) for row in QUESTIONS]


@pytest.fixture(scope="module")
def by_words():
    return answers(recall)


@pytest.fixture(scope="module")
def by_meaning():
    """Return what the local model finds: about ten seconds."""
    return answers(RecallByMeaning(embed))


def test_each_question_has_its_label():
    """40 questions name the notes that answer them, and ten have none"""
    assert len(NOTES) == len(RIGHT) == 60
    assert [bool(row["right"]) for row in QUESTIONS].count(True) == 40
    assert all(slug in RIGHT for row in QUESTIONS for slug in row["right"])
    assert all((row["kind"] == "none") != bool(row["right"]) for row in QUESTIONS)
    for lang in ("ja", "zh"):
        assert sum(row["lang"] == lang for row in QUESTIONS) >= 6


def test_words_find_what_is_said_in_the_same_words(by_words):
    """BM25 finds each question's own words, in three languages"""
    assert sum(hits(by_words, "words")) == 21
    for lang, least in {"en": 15, "ja": 4, "zh": 4}.items():
        assert sum(hits(by_words, lang=lang)) >= least


def test_words_fail_where_others_are_used(by_words):
    """of the 19 questions that share few words with their note, BM25 misses most"""
    assert 1 <= sum(hits(by_words, "paraphrase")) <= 4


def test_words_seldom_find_what_is_not_there(by_words):
    """to a question to which no note belongs, BM25 mostly returns none"""
    assert sum(needless(by_words)) == 2


def test_meaning_always_returns_something(by_words, by_meaning):
    """by meaning, K notes come to every question, also where none belongs"""
    report({"words": by_words, "meaning": by_meaning})
    assert {len(found) for found in by_meaning} == {K}
    assert all(needless(by_meaning))


def report(ways):
    """Print recall@3 of each way, with 95 % intervals, and against words alone."""
    first = next(iter(ways.values()))
    for name, way in ways.items():
        print(f"\n{name}")
        groups = {kind: hits(way, kind) for kind in ("words", "paraphrase")}
        groups |= {lang: hits(way, lang=lang) for lang in ("en", "ja", "zh")}
        groups |= {"all": hits(way), "needless": needless(way)}
        for group, found in groups.items():
            low, high = wilson_interval(sum(found), len(found))
            print(
                f"  {group:12}{sum(found):3} of {len(found)}  {low:.2f} to {high:.2f}"
            )
        pair = paired_difference(zip(hits(first), hits(way), strict=True))
        low, high = paired_interval(pair)
        print(f"  against words: {pair.won} won, {pair.lost} lost, p = {pair.p:.3f},")
        print(f"  difference {pair.difference:.2f} ({low:.2f} to {high:.2f})")
