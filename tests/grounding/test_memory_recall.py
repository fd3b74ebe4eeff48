"""How good is a recall? Labelled questions, by words and by the local model's vectors.

Notes and questions were written before either way was tried on them. What both find,
with intervals, is a table of lab 09.
"""

import json
from collections import Counter

import pytest

from workbook.evaluation.recalls import found_by, found_by_meaning
from workbook.grounding.recall import recall
from workbook.paths import DATA


def rows(name):
    path = DATA / f"lessons/09/memory_{name}.jsonl"
    return [json.loads(line) for line in path.open(encoding="utf-8")]


QUESTIONS, SLUGS = rows("questions"), {row["slug"] for row in rows("notes")}


def test_each_question_has_its_label():
    """40 questions name the notes that answer them, and ten have none"""
    assert len(rows("notes")) == len(SLUGS) == 60
    assert [bool(row["right"]) for row in QUESTIONS].count(True) == 40
    assert all(slug in SLUGS for row in QUESTIONS for slug in row["right"])
    assert all((row["kind"] == "none") != bool(row["right"]) for row in QUESTIONS)


@pytest.fixture(scope="module")
def met():
    """Return how many questions of each kind and language BM25 finds a note for.

    The right one; where none belongs to the question, any.
    """
    counted = Counter()
    for row, found in zip(QUESTIONS, found_by(recall), strict=True):
        is_met = bool({*row["right"]} & {*found}) if row["right"] else bool(found)
        of = [row["kind"], row["lang"]] if row["right"] else ["none"]
        counted.update(of if is_met else [])
    return counted


def test_words_find_what_is_said_in_the_same_words(met):
    """BM25 finds each question's own words, in three languages"""
    assert met["words"] == 21
    assert met["en"] >= 15
    assert min(met["ja"], met["zh"]) >= 4


def test_words_fail_where_others_are_used(met):
    """few of 19 paraphrases are found, and seldom a note where none belongs"""
    assert 1 <= met["paraphrase"] <= 4
    assert met["none"] == 2


def test_meaning_always_returns_something():
    """by meaning three notes come to every question, also where none belongs"""
    assert {len(found) for found in found_by_meaning()} == {3}
