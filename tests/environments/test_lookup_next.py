"""What `lookup_next` must do: walk through the sentences that hold a string."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

NILE = (
    "The Nile is a river in Africa.",
    "It is about 6,650 km long.",
    "The White Nile leaves Lake Victoria.",
    "Cairo lies on its banks.",
    "The Blue Nile comes from Lake Tana.",
)
JAPANESE = (
    "富士山は日本の山である。",
    "標高は3,776メートルである。",
    "日本で最も高い。",
)


def test_the_first_lookup_shows_the_first_match(lookup_next):
    """the first lookup shows the first match, counted from 1, and moves on by one"""
    assert lookup_next(NILE, "Lake", 0) == (
        "(Result 1 / 2) The White Nile leaves Lake Victoria.",
        1,
    )


def test_the_next_lookup_shows_the_next_match(lookup_next):
    """the position counts matches shown, not sentences passed"""
    assert lookup_next(NILE, "Lake", 1) == (
        "(Result 2 / 2) The Blue Nile comes from Lake Tana.",
        2,
    )


@pytest.mark.parametrize("position", [3, 4])
def test_there_is_an_end(lookup_next, position):
    """after the last match there are no more results, and the position stays"""
    assert lookup_next(NILE, "Nile", position) == ("No more results.", position)


@pytest.mark.parametrize(("sentences", "keyword"), [(NILE, "Amazon"), ((), "Nile")])
def test_nothing_found_is_an_end_too(lookup_next, sentences, keyword):
    """a keyword that is in no sentence has no results either"""
    assert lookup_next(sentences, keyword, 0) == ("No more results.", 0)


@pytest.mark.parametrize("keyword", ["nile", "NILE", " Nile "])
def test_case_and_blanks_do_not_matter(lookup_next, keyword):
    """capital letters, and spaces around the keyword, make no difference"""
    assert lookup_next(NILE, keyword, 0) == (
        "(Result 1 / 3) The Nile is a river in Africa.",
        1,
    )


@pytest.mark.parametrize("keyword", ["", "  "])
def test_a_blank_keyword_matches_nothing(lookup_next, keyword):
    """a blank keyword matches nothing"""
    assert lookup_next(NILE, keyword, 0) == ("No more results.", 0)


@pytest.mark.parametrize(
    ("sentences", "keyword", "found"),
    [
        (JAPANESE[1:], "日本", "日本で最も高い。"),
        (["a (b", "a.c", "abc"], "a.c", "a.c"),
        (["a (b", "a.c", "abc"], "(b", "a (b"),
    ],
    ids=["no blanks between words", "a dot", "a bracket"],
)
def test_the_keyword_is_text_and_no_pattern(lookup_next, sentences, keyword, found):
    """the keyword is plain text, not a pattern, and may be part of a word"""
    assert lookup_next(sentences, keyword, 0) == (f"(Result 1 / 1) {found}", 1)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.text("xyZ ", min_size=1, max_size=6), max_size=6))
def test_walking_shows_every_match_once(lookup_next, sentences):
    """lookups from 0 until the position stays show every match once, in order"""
    expected = [s for s in sentences if "x" in s]
    for position, sentence in enumerate(expected):
        text = f"(Result {position + 1} / {len(expected)}) {sentence}"
        assert lookup_next(sentences, "X", position) == (text, position + 1)
    end = len(expected)
    assert lookup_next(sentences, "X", end) == ("No more results.", end)
